import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { HttpApiBuilder, HttpServer, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import {
  ConflictError,
  CurrentActor,
  HarnessApi,
  NotFoundError,
  type SessionId,
  type SessionResponseValue,
  SteerConflictError
} from "@harness/protocol"
import { Context, Deferred, Effect, Layer, Redacted, Stream } from "effect"
import { AuthorizationLayer } from "../../src/auth/Authorization.ts"
import { Tokens } from "../../src/auth/Tokens.ts"
import { Settings, type SettingsValues } from "../../src/config/Config.ts"
import { Redaction } from "../../src/config/Redaction.ts"
import { DaemonLog } from "../../src/http/DaemonLog.ts"
import { Draining } from "../../src/http/Draining.ts"
import { BesideApi } from "../../src/http/edge.ts"
import { ServerInfo } from "../../src/http/ServerInfo.ts"
import { serve } from "../../src/http/server.ts"
import { Offer, SystemHandlers } from "../../src/http/system.ts"
import { Stubs } from "./stubs.ts"

/** The admin token of every app here. */
export const ADMIN = "hrn_canary-admin-0123456789"

/** What a stub handler may fail with: a defect whose text would be a leak. */
export const LEAK = "/home/someone/secret-path.ts exploded"

/** Facts about one running app that tests wait for or look at. */
export class Seen extends Context.Tag("test/Seen")<
  Seen,
  {
    readonly lines: Array<string>
    readonly dataFolder: string
    /** Done when a stream's handler was left. */
    readonly streamLeft: Deferred.Deferred<void>
    /** Done when the waiting handler was interrupted. */
    readonly waiterLeft: Deferred.Deferred<void>
    /** Done when the waiting handler has begun. */
    readonly waiting: Deferred.Deferred<void>
  }
>() {}

const at = "2026-01-02T03:04:05.006Z"

const session = (
  server: SessionResponseValue["server"],
  sessionId: SessionId,
  title: string,
  metadata: SessionResponseValue["metadata"]
): SessionResponseValue => ({
  sessionId,
  server,
  title,
  workdir: ".",
  model: "demo/demo",
  agent: "general",
  state: "idle",
  configurationRevision: 1,
  cursor: 1,
  ...(metadata === undefined ? {} : { metadata }),
  createdAt: at
})

const absent = () => Effect.fail(new NotFoundError({ code: "session.not_found", message: "no such session" }))

const sqlite = (code: string) => Effect.die(Object.assign(new Error("statement failed: SELECT secret"), { code }))

const sessions = HttpApiBuilder.group(HarnessApi, "sessions", (handlers) =>
  Effect.gen(function* () {
    const seen = yield* Seen
    const draining = yield* Draining
    return handlers
      .handle("listSessions", () => Effect.succeed({ sessions: [], next: null }))
      .handle("createSession", ({ path, payload }) =>
        Effect.succeed(
          HttpServerResponse.unsafeJson(
            session(path.server, path.sessionId, payload?.title ?? "", payload?.metadata ?? {}),
            { status: 201 }
          )
        )
      )
      .handle("getSession", ({ path }) => {
        switch (path.sessionId) {
          case "defect":
            return Effect.die(new Error(LEAK))
          case "busy":
            return sqlite("SQLITE_BUSY")
          case "full":
            return sqlite("SQLITE_FULL")
          case "corrupt":
            return sqlite("SQLITE_CORRUPT")
          case "conflict":
            return Effect.fail(
              new ConflictError({ code: "idempotency.mismatch", message: "another body", details: { of: "turn" } })
            )
          case "wait":
            return Effect.zipRight(
              Deferred.succeed(seen.waiting, undefined),
              Effect.zipRight(draining.awaitDraining, absent())
            ).pipe(Effect.onInterrupt(() => Deferred.succeed(seen.waiterLeft, undefined)))
          case "who":
            return Effect.map(CurrentActor, (actor) => session(path.server, path.sessionId, "", { actor }))
          default:
            return absent()
        }
      })
      .handle("updateSession", ({ path, payload }) =>
        Effect.succeed(session(path.server, path.sessionId, payload.title, undefined))
      )
      .handle("deleteSession", ({ path }) => Effect.succeed({ sessionId: path.sessionId, deletedAt: at }))
      .handle("getConfiguration", absent)
      .handle("replaceConfiguration", absent)
      .handle("children", () => Effect.succeed({ children: [], next: null }))
      .handle("status", absent)
      .handle("history", absent)
      .handleRaw("watchSession", () =>
        Effect.succeed(
          HttpServerResponse.stream(
            Stream.make("event: session.cursor\ndata: {}\n\n").pipe(
              Stream.concat(Stream.never),
              Stream.interruptWhen(draining.awaitDraining),
              Stream.encodeText,
              Stream.ensuring(Deferred.succeed(seen.streamLeft, undefined))
            ),
            { contentType: "text/event-stream" }
          )
        )
      )
  })
)

const turns = HttpApiBuilder.group(HarnessApi, "turns", (handlers) =>
  handlers
    .handle("listTurns", absent)
    .handle("submitPrompt", absent)
    .handle("getTurn", absent)
    .handle("cancelTurn", absent)
    .handle("cancelSession", absent)
    .handle("steerTurn", () => Effect.fail(new SteerConflictError({ code: "steer.conflict", message: "another text" })))
    .handle("watchTurn", absent)
)
const forks = HttpApiBuilder.group(HarnessApi, "forks", (handlers) => handlers.handle("forkSession", absent))
const queue = HttpApiBuilder.group(HarnessApi, "queue", (handlers) =>
  handlers.handle("listQueue", absent).handle("editQueuedTurn", absent).handle("withdrawQueuedTurn", absent)
)
const conversation = HttpApiBuilder.group(HarnessApi, "conversation", (handlers) =>
  handlers.handle("appendEntry", absent)
)
const servers = HttpApiBuilder.group(HarnessApi, "servers", (handlers) =>
  handlers
    .handle("deleteServer", ({ path }) => Effect.succeed({ server: path.server, sessions: 0 }))
    .handle("watchServer", absent)
)

const offer = Layer.succeed(Offer, {
  tools: Effect.succeed(["read", "shell"]),
  providers: Effect.succeed(["demo"]),
  subAgents: false,
  voice: false
})

/** Paths beside the API, as the console, voice and other faces will have. */
const besidePaths = Layer.succeed(BesideApi, [
  { path: "/", open: true },
  { path: "/files/*", open: true, raw: true },
  { path: "/faces/*", open: false }
])
const besideRoutes = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function* () {
    yield* router.get("/", HttpServerResponse.text("console"))
    yield* router.post("/files/:name", Effect.flatMap(HttpServerRequest.HttpServerRequest, echo))
    yield* router.post("/faces/:name", Effect.flatMap(HttpServerRequest.HttpServerRequest, echo))
  })
)
const echo = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.map(Effect.orDie(request.text), (text) => HttpServerResponse.text(text))

/** The edge around stub handlers of the whole API, on a port of its own, with data of its own. */
export const app = (overrides: Partial<SettingsValues> = {}) =>
  Layer.unwrapScoped(
    Effect.gen(function* () {
      const dataFolder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "harness-http-"))),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
      )
      const settings: SettingsValues = {
        port: 0,
        host: "127.0.0.1",
        data: dataFolder,
        root: dataFolder,
        token: Redacted.make(ADMIN),
        durability: "full",
        allowedOrigins: ["https://app.example"],
        allowedHosts: ["harness.example", "other.example:8080"],
        allowPrivateUrls: false,
        logLevel: "trace",
        providers: [],
        models: {},
        hooks: [],
        limits: {},
        ...overrides
      }
      const seen = {
        lines: [] as string[],
        dataFolder,
        streamLeft: yield* Deferred.make<void>(),
        waiterLeft: yield* Deferred.make<void>(),
        waiting: yield* Deferred.make<void>()
      }
      const log = DaemonLog.layer({ level: "trace", format: "plain", write: (line) => seen.lines.push(line) })
      const handlers = Layer.mergeAll(SystemHandlers, sessions, turns, forks, queue, conversation, servers, Stubs)
      return serve({ lingerMillis: 0 }).pipe(
        Layer.provide(HttpApiBuilder.api(HarnessApi)),
        Layer.provide(Layer.merge(handlers, besideRoutes)),
        Layer.provide(besidePaths),
        Layer.provide(AuthorizationLayer),
        Layer.provide(offer),
        Layer.provideMerge(Draining.layer),
        Layer.provideMerge(Tokens.layer(settings)),
        Layer.provide(ServerInfo.layer("9.8.7")),
        Layer.provideMerge(log),
        Layer.provide(Redaction.layer([settings.token])),
        Layer.provide(Settings.layer(settings)),
        Layer.provideMerge(Layer.succeed(Seen, seen))
      )
    })
  )

/** The port of the app. */
export const port = Effect.map(HttpServer.HttpServer, ({ address }) =>
  address._tag === "TcpAddress" ? address.port : 0
)
