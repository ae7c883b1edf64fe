import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { ConflictError, HarnessApi, resumePosition, type ServerName } from "@harness/protocol"
import { Effect, Option } from "effect"
import { Draining } from "../http/Draining.ts"
import { eventStream } from "../http/sse.ts"
import { plainFrame } from "../log/fact.ts"
import { follow, type Sink, type SinkClosed } from "../log/follow.ts"
import { Deletion } from "../turns/Deletion.ts"
import { Streams } from "../turns/Streams.ts"
import { actor, onServer } from "./on.ts"
import { Servers } from "./Servers.ts"
import { streamOf } from "./stream.ts"

const BEAT = "12 seconds"

/** A server nobody made yet: its stream stands at 0, and goes on from there when its first session comes. */
const before = (server: ServerName, after: Option.Option<number>) =>
  Effect.gen(function* () {
    const servers = yield* Servers
    const draining = yield* Draining
    if (Option.isSome(after) && after.value > 0) {
      return yield* new ConflictError({
        code: "cursor.ahead",
        message: "the cursor lies ahead of the stream, which is at 0",
        details: { head: 0 }
      })
    }
    const stand = Buffer.from(plainFrame("server.cursor", { server, serverCursor: 0 }))
    const waiting = (sink: Sink) =>
      Effect.forever(Effect.zipRight(sink.write(stand), Effect.sleep(BEAT))).pipe(
        Effect.raceFirst(servers.arrival(server))
      )
    const run = (sink: Sink): Effect.Effect<void, SinkClosed> =>
      Effect.gen(function* () {
        yield* waiting(sink)
        const context = servers.find(server)
        if (Option.isNone(context)) return
        const source = (yield* Effect.provide(Streams, context.value)).server()
        yield* follow(source, 0, sink)
      })
    return yield* eventStream(run, draining.awaitDraining)
  })

/** Handlers of a server as a whole. */
export const ServersHandlers = HttpApiBuilder.group(HarnessApi, "servers", (handlers) =>
  handlers
    .handle("deleteServer", ({ path }) =>
      Effect.gen(function* () {
        const who = yield* actor
        const all = Effect.flatMap(Deletion, (deletion) => deletion.deleteAll(who))
        return { server: path.server, sessions: yield* onServer(path.server, all, 0) }
      })
    )
    .handleRaw("watchServer", ({ path, urlParams, headers }) =>
      Effect.gen(function* () {
        const after = yield* resumePosition(urlParams.afterServerCursor, headers["last-event-id"])
        const stream = Effect.flatMap(Streams, (streams) => streamOf(streams.server(), after))
        const there = yield* onServer(path.server, stream, undefined)
        const response: HttpServerResponse.HttpServerResponse = there ?? (yield* before(path.server, after))
        return response
      })
    )
)
