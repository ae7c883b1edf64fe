import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import {
  CLIENT_ID_HEADER,
  type EndpointErrors,
  REQUEST_ID_HEADER,
  type RequestActor,
  SERVER_VERSION_HEADER,
  type UnauthorizedError,
  type ValidationError
} from "@harness/protocol"
import { Clock, Context, Effect, Either, identity, Option } from "effect"
import { Admitted, allows } from "../auth/Authorization.ts"
import { type TokenActor, Tokens } from "../auth/Tokens.ts"
import { Settings } from "../config/Config.ts"
import { withBody } from "./body.ts"
import { Draining } from "./Draining.ts"
import { errorResponse, failureResponse, RequestId } from "./errors.ts"
import { countRequest } from "./metrics.ts"
import { hostCheck, hostRefused, originCheck, originHeaders, originRefused, preflightHeaders } from "./origin.ts"
import * as refused from "./refusals.ts"
import { requestIds, sentRequestId } from "./requestId.ts"
import { type Found, routeTable, SEGMENT_MAX } from "./routes.ts"
import { ServerInfo } from "./ServerInfo.ts"

/**
 * Paths served beside the API: the console's files, voice, other protocols' faces. `path` is exact, or ends in `/*`; a
 * segment `:name` stands for any.
 * `open`: asks for no token (a secret of its own, or nothing to hide). `raw`: the edge leaves the body alone.
 */
export interface BesidePath {
  readonly path: string
  readonly open: boolean
  readonly raw?: boolean
}

/** The paths beside the API; none unless provided. Their routes are added to `HttpApiBuilder.Router`. */
export class BesideApi extends Context.Reference<BesideApi>()("@harness/server/BesideApi", {
  defaultValue: (): ReadonlyArray<BesidePath> => []
}) {}

/** Where a request goes. */
interface Target {
  readonly found: Found | undefined
  readonly beside: BesidePath | undefined
}

/** A line for each answer, without the query: what does not belong there might be in it. */
const logAnswer = (request: HttpServerRequest.HttpServerRequest, status: number, requestId: string) =>
  Effect.annotateLogs(Effect.logDebug(`${request.method} ${request.url.split("?", 1)[0]} ${status}`), { requestId })

const bearerForm = /^Bearer +(\S+)$/i
const clientIdForm = /^[\x21-\x7e]{1,128}$/
const absoluteForm = /^https?:\/\/([^/?#]*)(.*)$/i
const delimiters = /[;#]/

/** The paths that a path beside the API stands for. */
const besideForm = (path: string): RegExp => {
  const escaped = path.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&")
  return new RegExp(`^${escaped.replaceAll(/:[a-z]+/g, "[^/]+").replace(/\*$/, ".*")}$`)
}

const hasBody = (method: string) => method !== "GET" && method !== "HEAD" && method !== "OPTIONS"

/**
 * The one function around the whole API. Every answer passes it: headers, errors and streams alike. In order:
 * Host, Origin (and preflight), shutting down, token, path, method, scope and server, body; then the app runs.
 */
export const makeEdge = Effect.gen(function* () {
  const settings = yield* Settings
  const tokens = yield* Tokens
  const draining = yield* Draining
  const info = yield* ServerInfo
  const beside = yield* BesideApi
  const find = routeTable((yield* HttpApi.Api).api)
  const isHost = hostCheck(settings)
  const isOrigin = originCheck(settings)
  const mint = requestIds()
  const always = {
    [SERVER_VERSION_HEADER]: info.version,
    "access-control-expose-headers": `Ze-Harness-Version, ${REQUEST_ID_HEADER}`
  }

  const isChatty = settings.logLevel === "debug" || settings.logLevel === "trace"

  const besides = beside.map((one) => ({ one, form: besideForm(one.path) }))
  const besideOf = (path: string) => besides.find(({ form }) => form.test(path))?.one

  /** The router decodes a path, ends it at `;` and `#`, and overlooks what is very long: we do the same, or refuse. */
  const target = (url: string): Either.Either<Target, ValidationError> => {
    const query = url.indexOf("?")
    const path = query === -1 ? url : url.slice(0, query)
    if (delimiters.test(path)) return Either.left(refused.badPath)
    const raw = path.slice(1).split("/")
    const decoded = path.includes("%")
      ? Either.try({ try: () => raw.map(decodeURIComponent), catch: () => refused.badPath })
      : Either.right(raw)
    return Either.flatMap(decoded, (segments) => {
      if (path.length > SEGMENT_MAX && segments.some((segment) => segment.length > SEGMENT_MAX))
        return Either.left(refused.longId)
      const found = find(segments)
      return Either.right({ found, beside: found === undefined ? besideOf(path) : undefined })
    })
  }

  const isOpen = (at: Target, method: string): boolean =>
    at.found?.place.routes.get(method)?.open ?? at.beside?.open ?? false

  /** What keeps a known actor (or nobody, where the route is open) from this route. */
  const refusal = (at: Target, method: string, actor: TokenActor | undefined): EndpointErrors | undefined => {
    if (at.beside !== undefined) return undefined
    if (at.found === undefined) return refused.noRoute
    const route = at.found.place.routes.get(method)
    if (route === undefined) return refused.noMethod(at.found.place.allow)
    if (actor === undefined) return undefined
    if (!allows(actor.scopes, route.scope)) return refused.needsScope(route.scope)
    if (actor.servers === undefined || route.reach === "open") return undefined
    return route.reach === "server" && actor.servers.some((name) => name === at.found?.server)
      ? undefined
      : refused.otherServer
  }

  const authenticate = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<TokenActor, UnauthorizedError> => {
    const bearer = bearerForm.exec(request.headers["authorization"] ?? "")?.[1]
    if (bearer === undefined) return Effect.fail(refused.missing)
    return Effect.flatMap(
      tokens.find(bearer),
      Option.match({ onNone: () => Effect.fail(refused.unknown), onSome: Effect.succeed })
    )
  }

  const requestActor = (actor: TokenActor, headers: Record<string, string | undefined>): RequestActor => {
    const clientId = headers[CLIENT_ID_HEADER]
    return clientId !== undefined && clientIdForm.test(clientId) ? { ...actor, clientId } : actor
  }

  return <E, R>(app: HttpApp.Default<E, R>): HttpApp.Default<never, R> => {
    const run = (
      request: HttpServerRequest.HttpServerRequest,
      requestId: string,
      at: Target,
      actor: TokenActor | undefined
    ) => {
      const { method } = request
      const no = refusal(at, method, actor)
      if (no !== undefined) {
        const allow = no.code === "method.not_allowed" ? { allow: at.found?.place.allow ?? "" } : {}
        return Effect.succeed(errorResponse(no, requestId, allow))
      }
      const context = Context.make(RequestId, requestId)
      const known =
        actor === undefined
          ? context
          : Context.add(context, Admitted, {
              actor: requestActor(actor, request.headers),
              template: at.found?.place.template
            })
      const handle = (request: HttpServerRequest.HttpServerRequest) =>
        Effect.mapInputContext(app, (outer: Context.Context<R | HttpServerRequest.HttpServerRequest>) =>
          Context.merge(outer, Context.add(known, HttpServerRequest.HttpServerRequest, request))
        )
      if (!hasBody(method) || at.beside?.raw === true) return handle(request)
      const takesBody = at.found?.place.routes.get(method)?.takesBody ?? true
      return Effect.matchEffect(Effect.interruptible(withBody(request, takesBody)), {
        onFailure: (error) =>
          Effect.succeed(
            error._tag === "ConnectionSpent"
              ? errorResponse(error.error, requestId, { connection: "close" })
              : errorResponse(error, requestId)
          ),
        onSuccess: handle
      })
    }

    const answer = (request: HttpServerRequest.HttpServerRequest, requestId: string) => {
      const refuse = (error: EndpointErrors, headers?: Record<string, string>) =>
        Effect.succeed(errorResponse(error, requestId, headers))
      const { host, origin } = request.headers
      const absolute = request.url.startsWith("/") ? undefined : absoluteForm.exec(request.url)
      if (!isHost(host) || (absolute && !isHost(absolute[1]))) return refuse(hostRefused)
      if (origin !== undefined) {
        if (!isOrigin(origin, host ?? "")) return refuse(originRefused)
        if (request.method === "OPTIONS") {
          return Effect.succeed(HttpServerResponse.empty({ status: 204, headers: preflightHeaders }))
        }
      }
      if (draining.isDraining()) return refuse(refused.shuttingDown, { connection: "close" })
      const at = target(absolute ? absolute[2] || "/" : request.url)
      const here = absolute ? request.modify({ url: absolute[2] || "/" }) : request
      const go = (actor: TokenActor | undefined) =>
        Either.isLeft(at) ? refuse(at.left) : run(here, requestId, at.right, actor)
      if (Either.isRight(at) && isOpen(at.right, request.method)) return go(undefined)
      return Effect.matchEffect(authenticate(request), { onFailure: refuse, onSuccess: go })
    }

    return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      Effect.flatMap(Clock.currentTimeMillis, (startedAt) => {
        const requestId = sentRequestId(request.headers[REQUEST_ID_HEADER]) ?? mint(startedAt)
        const { origin, host } = request.headers
        const cors = origin !== undefined && isOrigin(origin, host ?? "") ? originHeaders(origin) : undefined
        return answer(request, requestId).pipe(
          Effect.catchAllCause((cause) => failureResponse(cause, requestId)),
          Effect.tap((response) => countRequest(response.status, startedAt)),
          isChatty ? Effect.tap((response) => logAnswer(request, response.status, requestId)) : identity,
          Effect.map((response) =>
            HttpServerResponse.setHeaders(response, { ...always, [REQUEST_ID_HEADER]: requestId, ...cors })
          )
        )
      })
    )
  }
})
