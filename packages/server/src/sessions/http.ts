import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { HarnessApi, PAGE_DEFAULT, resumePosition } from "@harness/protocol"
import { Effect } from "effect"
import { History } from "../history/History.ts"
import { actor, onNewServer, onServer, onSession } from "../servers/on.ts"
import { streamOf } from "../servers/stream.ts"
import { Deletion } from "../turns/Deletion.ts"
import { Status } from "../turns/Status.ts"
import { Streams } from "../turns/Streams.ts"
import { Sessions } from "./Sessions.ts"

const pageOf = (query: { readonly after?: string | undefined; readonly limit?: number | undefined }) => ({
  after: query.after,
  limit: query.limit ?? PAGE_DEFAULT
})

const sessions = Sessions

/** Handlers of sessions: they translate, and decide nothing. */
export const SessionsHandlers = HttpApiBuilder.group(HarnessApi, "sessions", (handlers) =>
  handlers
    .handle("listSessions", ({ path, urlParams }) =>
      onServer(
        path.server,
        Effect.flatMap(sessions, (room) => room.list(urlParams, pageOf(urlParams))),
        { sessions: [], next: null }
      )
    )
    .handle("createSession", ({ path, payload }) =>
      Effect.gen(function* () {
        const who = yield* actor
        const { created, session } = yield* onNewServer(
          path.server,
          Effect.flatMap(sessions, (room) => room.create(path.sessionId, payload ?? {}, who))
        )
        return HttpServerResponse.unsafeJson(session, { status: created ? 201 : 200 })
      })
    )
    .handle("getSession", ({ path }) =>
      onSession(
        path,
        Effect.flatMap(sessions, (room) => room.get(path.sessionId))
      )
    )
    .handle("updateSession", ({ path, payload }) =>
      Effect.flatMap(actor, (who) =>
        onSession(
          path,
          Effect.flatMap(sessions, (room) => room.retitle(path.sessionId, payload.title, who))
        )
      )
    )
    .handle("deleteSession", ({ path }) =>
      Effect.flatMap(actor, (who) =>
        onSession(
          path,
          Effect.flatMap(Deletion, (room) => room.deleteSession(path.sessionId, who))
        )
      )
    )
    .handle("getConfiguration", ({ path }) =>
      onSession(
        path,
        Effect.flatMap(sessions, (room) => room.configuration(path.sessionId))
      )
    )
    .handle("replaceConfiguration", ({ path, payload }) =>
      Effect.flatMap(actor, (who) =>
        onSession(
          path,
          Effect.flatMap(sessions, (room) => room.configure(path.sessionId, payload, who))
        )
      )
    )
    .handle("children", ({ path, urlParams }) =>
      onSession(
        path,
        Effect.gen(function* () {
          const room = yield* sessions
          yield* room.row(path.sessionId)
          const page = yield* room.list({ parent: path.sessionId }, pageOf(urlParams))
          return { children: page.sessions, next: page.next }
        })
      )
    )
    .handle("status", ({ path }) =>
      onSession(
        path,
        Effect.flatMap(Status, (room) => room.get(path.sessionId))
      )
    )
    .handle("history", ({ path, urlParams }) =>
      onSession(
        path,
        Effect.flatMap(History, (room) => room.page(path.sessionId, pageOf(urlParams)))
      )
    )
    .handleRaw("watchSession", ({ path, urlParams, headers }) =>
      onSession(
        path,
        Effect.gen(function* () {
          const after = yield* resumePosition(urlParams.afterCursor, headers["last-event-id"])
          yield* (yield* sessions).row(path.sessionId)
          return yield* streamOf((yield* Streams).session(path.sessionId), after)
        })
      )
    )
)
