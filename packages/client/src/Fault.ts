import * as HttpClientError from "@effect/platform/HttpClientError"
import { EndpointErrors, schemaIssues } from "@harness/protocol"
import { DateTime, Duration, Effect, Either, Option, ParseResult, Schema } from "effect"
import { type ClientError, Disconnected, ProtocolMismatch } from "./errors.ts"

/** How one attempt failed: what the caller would be told, and when the server wants to be asked again. */
export class Fault {
  readonly _tag = "Fault"
  readonly error: ClientError
  readonly retryAfter: Duration.Duration

  constructor(error: ClientError, retryAfter: Duration.Duration = Duration.zero) {
    this.error = error
    this.retryAfter = retryAfter
  }
}

// Names that Node gives to failures from before the first byte of a request was sent. Browsers give none.
const neverSent = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT"
])

const codeOf = (error: unknown): string | undefined =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : typeof error === "object" && error !== null && "cause" in error
      ? codeOf(error.cause)
      : undefined

/** What a rejected fetch means. */
export const unreachable = (cause: unknown): Disconnected => {
  const code = codeOf(cause)
  return new Disconnected({
    reason: "unreachable",
    message: `the server could not be reached${code === undefined ? "" : ` (${code})`}`,
    mayHaveBeenAccepted: code === undefined || !neverSent.has(code),
    cause
  })
}

/** What a body that broke off means. */
export const cut = (cause: unknown): Disconnected =>
  new Disconnected({ reason: "cut", message: "the connection was cut", mayHaveBeenAccepted: true, cause })

/** What too long a silence means. */
export const silent = (within: Duration.Duration): Disconnected =>
  new Disconnected({
    reason: "silent",
    message: `nothing came from the server for ${Duration.format(within)}`,
    mayHaveBeenAccepted: true
  })

const isWireError = Schema.is(EndpointErrors)
const decodeWireError = Schema.decodeUnknownEither(Schema.parseJson(EndpointErrors))

const retryAfterOf = (header: string | undefined): Effect.Effect<Duration.Duration> => {
  if (header === undefined) return Effect.succeed(Duration.zero)
  if (/^\d{1,9}$/.test(header)) return Effect.succeed(Duration.seconds(Number(header)))
  return Option.match(DateTime.make(header), {
    onNone: () => Effect.succeed(Duration.zero),
    onSome: (at) =>
      Effect.map(DateTime.now, (now) => Duration.millis(Math.max(0, DateTime.toEpochMillis(at) - now.epochMillis)))
  })
}

/** What an answer that is no success means, from its status and body. */
export const refusal = (status: number, body: string, retryAfter: string | undefined): Effect.Effect<Fault> =>
  Effect.map(retryAfterOf(retryAfter), (after) => {
    const decoded = decodeWireError(body)
    if (Either.isRight(decoded)) return new Fault(decoded.right, after)
    if (status === 429 || (status >= 502 && status <= 504)) {
      const message = `status ${status} from something before the server`
      return new Fault(new Disconnected({ reason: "gateway", message, mayHaveBeenAccepted: true }), after)
    }
    return new Fault(new ProtocolMismatch({ status, message: `status ${status} without an error of this protocol` }))
  })

/** What any failure of a call means. */
export const toFault = (failure: unknown): Fault => {
  if (failure instanceof Fault) return failure
  if (failure instanceof Disconnected || failure instanceof ProtocolMismatch || isWireError(failure)) {
    return new Fault(failure)
  }
  if (failure instanceof HttpClientError.RequestError) return new Fault(unreachable(failure.cause))
  if (failure instanceof HttpClientError.ResponseError) {
    // The status fits none of the endpoint's answers; what broke off has a cause.
    return failure.cause === undefined
      ? new Fault(
          new ProtocolMismatch({
            status: failure.response.status,
            message: `unexpected status ${failure.response.status}`
          })
        )
      : new Fault(cut(failure.cause))
  }
  if (ParseResult.isParseError(failure)) {
    const issues = schemaIssues(failure)
    const [first] = issues
    const message = `the answer is not of this protocol${first === undefined ? "" : `: ${first.path} ${first.reason}`}`
    return new Fault(new ProtocolMismatch({ message, issues }))
  }
  return new Fault(new ProtocolMismatch({ message: "the answer could not be understood" }))
}
