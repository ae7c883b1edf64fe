import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Ref, Stream, TestClock } from "effect"
import { settle } from "./kit/clock.ts"
import { eventStream, fakeFetch } from "./kit/fakeFetch.ts"
import { clientOf, followed, queries, titles } from "./kit/following.ts"
import { plain, row } from "./kit/frames.ts"
import { onSession, session } from "./kit/log.ts"

describe("a followed stream", () => {
  it.effect("asks with token, client id and position, below the base URL", () =>
    Effect.gen(function* () {
      const fake = fakeFetch((asked) => eventStream([onSession.deleted(5)], "end", asked))
      yield* followed(fake, { after: 4 })
      const [asked] = fake.asked
      expect(String(asked?.url)).toBe("http://fake.test/base/v1/servers/main/sessions/notes/events?afterCursor=4")
      expect(asked?.headers.get("authorization")).toBe("Bearer secret")
      expect(asked?.headers.get("ze-harness-client-id")).toBe("test")
      expect(asked?.headers.get("accept")).toBe("text/event-stream")
    })
  )

  it.effect("goes on after a cut where it was, and drops what it already gave", () =>
    Effect.gen(function* () {
      const { title, deleted } = onSession
      const fake = fakeFetch((asked, nth) =>
        nth === 1
          ? eventStream([title(1), title(2), title(3).slice(0, 30)], "cut", asked)
          : eventStream([title(1) + title(2) + title(3), deleted(4)], "end", asked)
      )
      const { exit } = yield* followed(fake, { after: 0 })
      expect(Exit.map(exit, titles)).toEqual(
        Exit.succeed(["session.title 1", "session.title 2", "session.title 3", "session.deleted"])
      )
      expect(queries(fake.asked)).toEqual(["?afterCursor=0", "?afterCursor=2"])
    })
  )

  it.effect("keeps the larger of its last id and the position a frame without id names", () =>
    Effect.gen(function* () {
      const { title, cursor, deleted } = onSession
      const fake = fakeFetch((asked, nth) => {
        if (nth === 1) return eventStream([cursor(7)], "cut", asked)
        if (nth === 2) return eventStream([title(8), cursor(8), cursor(6)], "end", asked)
        return eventStream([deleted(9)], "end", asked)
      })
      yield* followed(fake)
      expect(queries(fake.asked)).toEqual(["", "?afterCursor=7", "?afterCursor=8"])
    })
  )

  it.effect("skips events it does not know, and counts their ids", () =>
    Effect.gen(function* () {
      const fake = fakeFetch((asked, nth) =>
        nth === 1
          ? eventStream([row(1, { type: "session.sung" }), plain({ type: "nonsense" })], "cut", asked)
          : eventStream([onSession.deleted(2)], "end", asked)
      )
      const { exit } = yield* followed(fake, { after: 0 })
      expect(Exit.map(exit, titles)).toEqual(Exit.succeed(["session.deleted"]))
      expect(queries(fake.asked)).toEqual(["?afterCursor=0", "?afterCursor=1"])
    })
  )

  it.effect("takes a clean end without a last event for a lost connection", () =>
    Effect.gen(function* () {
      const fake = fakeFetch((asked, nth) =>
        nth < 3 ? eventStream([], "end", asked) : eventStream([onSession.deleted(1)], "end", asked)
      )
      const { exit } = yield* followed(fake, { after: 0 })
      expect(Exit.isSuccess(exit)).toBe(true)
      expect(fake.asked.length).toBe(3)
    })
  )

  it.effect("reconnects when no byte came for two heartbeats, and not before", () =>
    Effect.gen(function* () {
      const times: Array<number> = []
      const clock = yield* TestClock.testClock()
      const fake = fakeFetch((asked, nth) => {
        times.push(clock.unsafeCurrentTimeMillis())
        return nth === 1
          ? eventStream([onSession.cursor(3)], "hang", asked)
          : eventStream([onSession.deleted(4)], "end", asked)
      })
      const { exit } = yield* followed(fake)
      expect(Exit.isSuccess(exit)).toBe(true)
      expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(30_000)
      expect((times[1] ?? 0) - (times[0] ?? 0)).toBeLessThan(32_000)
    })
  )

  it.effect("takes a server that accepts and says nothing for lost, too", () =>
    Effect.gen(function* () {
      const fake = fakeFetch((asked, nth) =>
        nth === 1
          ? new Promise<Response>((_, reject) =>
              asked.signal?.addEventListener("abort", () => reject(asked.signal?.reason))
            )
          : eventStream([onSession.deleted(1)], "end", asked)
      )
      const { exit } = yield* followed(fake, { after: 0 })
      expect(Exit.isSuccess(exit)).toBe(true)
    })
  )

  it.effect("lives as long as heartbeats come", () =>
    Effect.gen(function* () {
      const client = yield* clientOf(
        fakeFetch((asked) => {
          let beats = 0
          const body = new ReadableStream<Uint8Array>(
            {
              pull: (controller) =>
                new Promise((resolve) => {
                  beat = () => {
                    controller.enqueue(new TextEncoder().encode(onSession.cursor(++beats)))
                    resolve()
                  }
                })
            },
            { highWaterMark: 0 }
          )
          asked.signal?.addEventListener("abort", () => {})
          connections++
          return new Response(body, { headers: { "content-type": "text/event-stream" } })
        })
      )
      let beat = () => {}
      let connections = 0
      const seen = yield* Ref.make(0)
      const fiber = yield* Effect.fork(
        Stream.runForEach(client.followSession(session), () => Ref.update(seen, (n) => n + 1))
      )
      for (let n = 0; n < 20; n++) {
        yield* settle
        yield* TestClock.adjust("15 seconds")
        beat()
      }
      yield* settle
      expect(yield* Ref.get(seen)).toBe(20)
      expect(connections).toBe(1)
      yield* Fiber.interrupt(fiber)
    })
  )

  it.effect("closes its connection when nobody reads any more", () =>
    Effect.gen(function* () {
      let aborted = 0
      const fake = fakeFetch((asked) => {
        asked.signal?.addEventListener("abort", () => aborted++)
        return eventStream([onSession.title(1), onSession.title(2)], "hang", asked)
      })
      const client = yield* clientOf(fake)
      yield* client.followSession({ ...session, after: 0 }).pipe(Stream.take(1), Stream.runDrain)
      expect(aborted).toBe(1)
      const fiber = yield* Effect.fork(Stream.runDrain(client.followSession({ ...session, after: 0 })))
      yield* settle
      yield* Fiber.interrupt(fiber)
      expect(aborted).toBe(2)
    })
  )

  it.effect("refuses ids that are none before anything is sent", () =>
    Effect.gen(function* () {
      const fake = fakeFetch((asked) => eventStream([], "end", asked))
      const client = yield* clientOf(fake)
      const error = yield* Effect.flip(Stream.runDrain(client.followSession({ server: "main", sessionId: "../x" })))
      expect(error).toMatchObject({ _tag: "ValidationError", code: "request.invalid" })
      expect(fake.asked).toEqual([])
    })
  )

  it.effect("has state of its own each time it is run", () =>
    Effect.gen(function* () {
      const fake = fakeFetch((asked) => eventStream([onSession.title(1), onSession.deleted(2)], "end", asked))
      const client = yield* clientOf(fake)
      const stream = client.followSession({ ...session, after: 0 })
      const runs = yield* Effect.all([Stream.runCount(stream), Stream.runCount(stream)])
      expect(runs).toEqual([2, 2])
      expect(queries(fake.asked)).toEqual(["?afterCursor=0", "?afterCursor=0"])
    })
  )
})
