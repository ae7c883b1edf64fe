import { describe, expect, it } from "@effect/vitest"
import { TurnId } from "@harness/protocol"
import { Chunk, Effect, Exit, Stream } from "effect"
import { untilDone } from "./kit/clock.ts"
import { eventStream, fakeFetch } from "./kit/fakeFetch.ts"
import { clientOf, type Fake, queries } from "./kit/following.ts"
import { row } from "./kit/frames.ts"
import { at, onTurn, sessionAnswer, sessionId, snapshot, turn } from "./kit/log.ts"

describe("a followed turn", () => {
  const run = (fake: Fake, after?: number) =>
    Effect.gen(function* () {
      const client = yield* clientOf(fake)
      const fiber = yield* Effect.fork(Stream.runCollect(client.followTurn({ ...turn, after })))
      const { exit } = yield* untilDone(fiber)
      return Exit.map(exit, (events) => Chunk.toReadonlyArray(events).map(({ type }) => type))
    })

  it.effect("counts the rows of its opening snapshot as given", () =>
    Effect.gen(function* () {
      const fake = fakeFetch((asked, nth) =>
        nth === 1
          ? eventStream([onTurn.opening(snapshot(4)), onTurn.delta("p1", 0, "a")], "cut", asked)
          : eventStream(
              [onTurn.opening(snapshot(5)), onTurn.terminal(snapshot(5, { state: "completed" }))],
              "end",
              asked
            )
      )
      expect(yield* run(fake)).toEqual(
        Exit.succeed(["turn.snapshot", "turn.text.delta", "turn.snapshot", "turn.terminal"])
      )
      expect(queries(fake.asked)).toEqual(["", "?afterRevision=4"])
    })
  )

  it.effect("is not moved by a later snapshot without an id", () =>
    Effect.gen(function* () {
      const fake = fakeFetch((asked, nth) =>
        nth === 1
          ? eventStream([onTurn.opening(snapshot(9))], "cut", asked)
          : eventStream([onTurn.terminalBehind(snapshot(10, { state: "failed" }))], "end", asked)
      )
      expect(yield* run(fake, 3)).toEqual(Exit.succeed(["turn.snapshot", "turn.terminal"]))
      expect(queries(fake.asked)).toEqual(["?afterRevision=3", "?afterRevision=3"])
    })
  )

  it.effect("ends with a terminal event, also one behind its position", () =>
    Effect.gen(function* () {
      for (const frame of [onTurn.terminalBehind, onTurn.terminal]) {
        const fake = fakeFetch((asked) => eventStream([frame(snapshot(5, { state: "completed" }))], "hang", asked))
        expect(yield* run(fake, 5)).toEqual(Exit.succeed(["turn.terminal"]))
      }
    })
  )

  it.effect("begins anew when its id has come to name another turn meanwhile", () =>
    Effect.gen(function* () {
      const joined = snapshot(4)
      const own = snapshot(6, { turnId: TurnId.make("turn-2"), state: "completed" })
      const fake = fakeFetch((asked, nth) => {
        if (nth === 1) return eventStream([onTurn.opening(joined)], "cut", asked)
        const frame = row(6, {
          type: "turn.terminal",
          ...{ sessionId, turnId: own.turnId, cursor: 9, revision: 6, at, turn: own }
        })
        return eventStream([frame], "end", asked)
      })
      expect(yield* run(fake)).toEqual(Exit.succeed(["turn.snapshot", "turn.terminal"]))
      expect(queries(fake.asked)).toEqual(["", "?afterRevision=4", ""])
    })
  )
})

describe("a followed server", () => {
  const created = (serverCursor: number, replayed: boolean) =>
    row(serverCursor, {
      type: "session.created",
      ...{ sessionId, cursor: 1, at, serverCursor, session: sessionAnswer, ...(replayed ? { replayed } : {}) }
    })
  const title = (serverCursor: number) =>
    row(serverCursor, { type: "session.title", ...{ sessionId, cursor: 2, at, serverCursor, title: "t" } })

  it.effect("passes on announcements that repeat an id, and no row twice", () =>
    Effect.gen(function* () {
      const fake = fakeFetch((asked, nth) => {
        if (nth === 1)
          return eventStream([created(3, false), created(3, true), title(4), created(3, true)], "cut", asked)
        return eventStream([created(4, true), title(4), title(6)], "hang", asked)
      })
      const client = yield* clientOf(fake)
      const fiber = yield* client
        .followServer({ server: "main", after: 2 })
        .pipe(Stream.take(6), Stream.runCollect, Effect.fork)
      const { exit } = yield* untilDone(fiber)
      const seen = Exit.map(exit, (events) =>
        Chunk.toReadonlyArray(events).map((event) => `${event.type} ${event.serverCursor}`)
      )
      expect(seen).toEqual(
        Exit.succeed([
          "session.created 3",
          "session.created 3",
          "session.title 4",
          "session.created 3",
          "session.created 4",
          "session.title 6"
        ])
      )
      expect(queries(fake.asked)).toEqual(["?afterServerCursor=2", "?afterServerCursor=4"])
    })
  )
})
