import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpApiError from "@effect/platform/HttpApiError"
import * as HttpServerError from "@effect/platform/HttpServerError"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as SqlError from "@effect/sql/SqlError"
import {
  EndpointErrors,
  InternalServerError,
  invalidRequest,
  NotFoundError,
  statusOf,
  UnavailableError
} from "@harness/protocol"
import { Cause, Context, Effect, Option, Schema } from "effect"

/** The name of the request at hand, on its answer, its errors and its log lines. */
export class RequestId extends Context.Tag("@harness/server/RequestId")<RequestId, string>() {}

/** The body of an error as it is sent. */
export const errorBody = (error: EndpointErrors, requestId: string) => ({
  _tag: error._tag,
  code: error.code,
  message: error.message,
  retryable: error.retryable,
  requestId,
  ...(error.details === undefined ? {} : { details: error.details })
})

const retryAfterSeconds: Record<string, string> = { "storage.full": "30", shutting_down: "2" }

/** Headers an error brings along: how to authenticate, when to come back. */
export const errorHeaders = (error: EndpointErrors): Record<string, string> => {
  switch (error._tag) {
    case "UnauthorizedError":
      return { "www-authenticate": "Bearer" }
    case "UnavailableError":
      return { "retry-after": retryAfterSeconds[error.code] ?? "1" }
    default:
      return {}
  }
}

/** The answer an error makes. */
export const errorResponse = (error: EndpointErrors, requestId: string, headers: Record<string, string> = {}) =>
  HttpServerResponse.unsafeJson(errorBody(error, requestId), {
    status: statusOf(error),
    headers: { ...errorHeaders(error), ...headers }
  })

const isWireError = Schema.is(EndpointErrors)

const sqliteCode = (error: unknown): string | undefined => {
  let cause: unknown = error
  for (let depth = 0; depth < 4 && typeof cause === "object" && cause !== null; depth++) {
    if ("code" in cause && typeof cause.code === "string" && cause.code.startsWith("SQLITE_")) return cause.code
    cause = "cause" in cause ? cause.cause : undefined
  }
  return undefined
}

/** A storage failure that passes by itself or with room on the disk; undefined for every other. */
const unavailable = (failure: unknown): UnavailableError | undefined => {
  if (!(failure instanceof SqlError.SqlError) && sqliteCode(failure) === undefined) return undefined
  const code = sqliteCode(failure) ?? ""
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) {
    return new UnavailableError({ code: "storage.busy", message: "the database is busy; try again", retryable: true })
  }
  if (code.startsWith("SQLITE_FULL")) {
    return new UnavailableError({ code: "storage.full", message: "the disk is full", retryable: true })
  }
  return undefined
}

const internal = () => new InternalServerError({ code: "internal", message: "something went wrong on our side" })

/** What a failure or defect is on the wire, and whether it is ours to log. */
const wireError = (failure: unknown): { readonly error: EndpointErrors; readonly ours: boolean } => {
  if (isWireError(failure)) return { error: failure, ours: failure._tag === "InternalServerError" }
  if (failure instanceof HttpApiError.HttpApiDecodeError) return { error: invalidRequest(failure), ours: false }
  if (failure instanceof HttpServerError.RouteNotFound) {
    return { error: new NotFoundError({ code: "route.not_found", message: "there is no such route" }), ours: false }
  }
  return { error: unavailable(failure) ?? internal(), ours: true }
}

const clientLeft = (cause: Cause.Cause<unknown>) =>
  [...Cause.interruptors(cause)].some((id) => id === HttpServerError.clientAbortFiberId)

/** The answer to a request that failed, in the one form every error has. Ours are logged, under the request's id. */
export const failureResponse = <E>(
  cause: Cause.Cause<E>,
  requestId: string
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  if (Cause.isInterruptedOnly(cause) && clientLeft(cause)) {
    return Effect.failCause(Cause.interrupt(HttpServerError.clientAbortFiberId))
  }
  const { error, ours } = wireError(Cause.squash(cause))
  const answer = errorResponse(error, requestId)
  return ours
    ? Effect.as(Effect.annotateLogs(Effect.logError("Request failed", cause), { requestId, code: error.code }), answer)
    : Effect.succeed(answer)
}

/**
 * Answers every failure inside the API, where it still has its type: left to HttpApiBuilder, a decode error would
 * quote the rejected value, and no error would name its request.
 */
export const ApiErrors = HttpApiBuilder.middleware((app) =>
  Effect.catchAllCause(app, (cause) =>
    Effect.flatMap(Effect.context<never>(), (context) =>
      failureResponse(
        cause,
        Option.getOrElse(Context.getOption(context, RequestId), () => "")
      )
    )
  )
)
