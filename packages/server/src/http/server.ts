import type * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServer from "@effect/platform/HttpServer"
import type * as HttpServerError from "@effect/platform/HttpServerError"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Clock, Data, Effect, Layer } from "effect"
import type { Tokens } from "../auth/Tokens.ts"
import { Settings } from "../config/Config.ts"
import { Draining } from "./Draining.ts"
import { makeEdge } from "./edge.ts"
import { ApiErrors } from "./errors.ts"
import { Listener } from "./Listener.ts"
import { SEGMENT_MAX } from "./routes.ts"
import type { ServerInfo } from "./ServerInfo.ts"

/** The address could not be bound. */
export class ListenError extends Data.TaggedError("ListenError")<{
  readonly host: string
  readonly port: number
  readonly reason: string
}> {
  override get message() {
    return `cannot listen on ${this.host}:${this.port}: ${this.reason}`
  }
}

const reasons: Record<string, string> = {
  EADDRINUSE: "the port is taken",
  EACCES: "this port needs rights we do not have",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "no such host"
}

const listenError =
  (settings: { readonly host: string; readonly port: number }) => (error: HttpServerError.ServeError) => {
    const { cause } = error
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : ""
    return new ListenError({ host: settings.host, port: settings.port, reason: reasons[code] ?? code })
  }

// Nothing is folded: ids are compared byte for byte.
const routerConfig = {
  maxParamLength: SEGMENT_MAX,
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false
}

/** A stream ends within this time of the first word, or is cut. */
const DRAIN_MILLIS = 2000
/** The same of those who go last. */
const LAST_MILLIS = 500
const POLL_MILLIS = 10

/** Built above the app, so that it is the first to go: ends streams and waits, then calls, then closes what is still open. */
const graceful = (lingerMillis: number) =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const listener = yield* Listener
      const draining = yield* Draining
      yield* Effect.addFinalizer(
        () =>
          Effect.gen(function* () {
            yield* draining.begin
            if (listener.open() > 0) yield* Effect.sleep(lingerMillis)
            const dwindle = (to: () => number, millis: number) =>
              Effect.gen(function* () {
                for (let waited = 0; listener.open() > to() && waited < millis; waited += POLL_MILLIS) {
                  listener.closeIdle()
                  yield* Effect.sleep(POLL_MILLIS)
                }
              })
            yield* dwindle(draining.staying, DRAIN_MILLIS)
            listener.server.close()
            yield* draining.last
            yield* dwindle(() => 0, LAST_MILLIS)
            listener.closeAll()
          }).pipe(Effect.withClock(Clock.make())) // Sockets know no other clock.
      )
    })
  )

/**
 * Serves the API, and opens the port last: everything the API is built from stands by then. `lingerMillis`: how long new
 * requests still get an answer (503) at the end, when anybody is connected.
 */
export const serve = (
  options: { readonly lingerMillis?: number } = {}
): Layer.Layer<HttpServer.HttpServer, ListenError, HttpApi.Api | Settings | Tokens | Draining | ServerInfo> =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const edge = yield* makeEdge
      const app = yield* HttpRouter.withRouterConfig(HttpApiBuilder.httpApp, routerConfig)
      const settings = yield* Settings
      const { server } = yield* Listener
      const http = NodeHttpServer.layer(() => server, { port: settings.port, host: settings.host })
      return graceful(options.lingerMillis ?? 250).pipe(
        Layer.provideMerge(HttpServer.serve(edge(app))),
        Layer.provideMerge(Layer.mapError(http, listenError(settings)))
      )
    })
  ).pipe(
    Layer.provide(ApiErrors),
    Layer.provide([HttpApiBuilder.Router.Live, HttpApiBuilder.Middleware.layer, Listener.layer]),
    HttpMiddleware.withTracerDisabledWhen(() => true)
  )
