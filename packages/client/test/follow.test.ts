import { describe, expect, it } from "@effect/vitest"
import { TurnId } from "@harness/protocol"
import { Chunk, Effect, Exit, Fiber, Ref, Stream, TestClock } from "effect"
import { HarnessClient } from "../src/Client.ts"
import { settle, untilDone } from "./kit/clock.ts"
import { type Asked, errorBody, eventStream, fakeFetch, json, refused } from "./kit/fakeFetch.ts"
import { plain, row } from "./kit/frames.ts"
import { at, onSession, onTurn, session, sessionAnswer, sessionId, snapshot, turn } from "./kit/log.ts"

type Fake = ReturnType<typeof fakeFetch>
const clientOf = (fake: Fake) =>
  HarnessClient.make({ baseUrl: "http://fake.test/base/", token: "secret", clientId: "test", fetch: fake.fetch })

const queries = (asked: ReadonlyArray<Asked>) => asked.map(({ url }) => url.search)
const titles = (events: Chunk.Chunk<{ readonly type: string }>) =>
  Chunk.toReadonlyArray(events).map((event) =>
    "cursor" in event && event.type !== "session.deleted" ? `${event.type} ${event.cursor}` : event.type
  )

const followed = (fake: Fake, options: { readonly after?: number } = {}) =>
  Effect.gen(function* () {
    const client = yield* clientOf(fake)
    const fiber = yield* Effect.fork(Stream.runCollect(client.followSession({ ...session, ...options })))
    return yield* untilDone(fiber)
  })

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

  for (const [status, tag, code] of [
    [400, "ValidationError", "cursor.invalid"],
    [401, "UnauthorizedError", "auth.unknown"],
    [403, "ForbiddenError", "auth.server"],
    [404, "NotFoundError", "session.not_found"],
    [409, "ConflictError", "cursor.ahead"]
  ] as const) {
    it.effect(`ends with the server's ${code}`, () =>
      Effect.gen(function* () {
        const fake = fakeFetch((asked, nth) =>
          nth === 1 ? eventStream([onSession.title(1)], "cut", asked) : json(status, errorBody(tag, code))
        )
        const { exit } = yield* followed(fake, { after: 0 })
        expect(Exit.isFailure(exit) && exit.cause).toMatchObject({ error: { _tag: tag, code, requestId: "r-1" } })
        expect(fake.asked.length).toBe(2)
      })
    )
  }

  it.effect("bears a server that restarts: refused, shutting down, failing, behind a gateway", () =>
    Effect.gen(function* () {
      const fake = fakeFetch((asked, nth) => {
        switch (nth) {
          case 1:
            return eventStream([onSession.title(1)], "end", asked)
          case 2:
            return json(503, errorBody("UnavailableError", "shutting_down"), { "retry-after": "7" })
          case 3:
            throw refused()
          case 4:
            return new Response("<h1>Bad gateway</h1>", { status: 502 })
          case 5:
            return json(500, errorBody("InternalServerError", "internal"))
          default:
            return eventStream([onSession.title(2), onSession.deleted(3)], "end", asked)
        }
      })
      const { exit, passed } = yield* followed(fake, { after: 0 })
      expect(Exit.map(exit, titles)).toEqual(Exit.succeed(["session.title 1", "session.title 2", "session.deleted"]))
      expect(passed).toBeGreaterThanOrEqual(7_000)
      expect(passed).toBeLessThan(20_000)
    })
  )

  it.effect("fails as Disconnected once it was down for as long as it may be, telling of every try", () =>
    Effect.gen(function* () {
      const fake = fakeFetch((asked, nth) => {
        if (nth === 1) return eventStream([onSession.title(1)], "cut", asked)
        throw refused()
      })
      const client = yield* clientOf(fake)
      const lost: Array<string> = []
      const fiber = yield* client
        .followSession({
          ...session,
          after: 0,
          maxDowntime: "60 seconds",
          onLost: (error) => Effect.sync(() => lost.push(error.message))
        })
        .pipe(Stream.runCollect, Effect.fork)
      const { exit, passed } = yield* untilDone(fiber)
      expect(Exit.isFailure(exit) && exit.cause).toMatchObject({
        error: { _tag: "Disconnected", reason: "down", retryable: true, cause: { reason: "unreachable" } }
      })
      expect(passed).toBeGreaterThan(50_000)
      expect(passed).toBeLessThanOrEqual(61_000)
      expect(lost.length).toBe(fake.asked.length)
      expect(lost.slice(0, 2)).toEqual(["the connection was cut", "the server could not be reached (ECONNREFUSED)"])
      expect(fake.asked.length).toBeLessThan(30)
    })
  )

  it.effect("does not hammer a server that cuts every connection, and never counts as down there", () =>
    Effect.gen(function* () {
      const fake = fakeFetch((asked) => eventStream([onSession.cursor(1)], "cut", asked))
      const client = yield* clientOf(fake)
      const fiber = yield* Effect.fork(
        Stream.runDrain(client.followSession({ ...session, after: 1, maxDowntime: "30 seconds" }))
      )
      yield* Effect.repeatN(Effect.zipRight(TestClock.adjust("1 second"), settle), 200)
      expect(yield* Fiber.poll(fiber)).toMatchObject({ _tag: "None" })
      expect(fake.asked.length).toBeLessThan(200 / 2)
      yield* Fiber.interrupt(fiber)
    })
  )

  for (const [name, answer] of [
    ["no event stream", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
    ["no JSON", (asked) => eventStream(["id: 1\ndata: {\n\n"], "end", asked)],
    ["an event of another shape", (asked) => eventStream([row(1, { type: "session.title" })], "end", asked)],
    ["an id that is no position", (asked) => eventStream([`id: x\ndata: {"type":"session.title"}\n\n`], "end", asked)],
    ["a status of its own", () => new Response("", { status: 418 })]
  ] satisfies ReadonlyArray<readonly [string, Parameters<typeof fakeFetch>[0]]>) {
    it.effect(`fails as ProtocolMismatch on ${name}, after the events before`, () =>
      Effect.gen(function* () {
        const fake = fakeFetch(answer)
        const { exit } = yield* followed(fake, { after: 0 })
        expect(Exit.isFailure(exit) && exit.cause).toMatchObject({ error: { _tag: "ProtocolMismatch" } })
        expect(fake.asked.length).toBe(1)
      })
    )
  }

  it.effect("gives the events before a broken one", () =>
    Effect.gen(function* () {
      const fake = fakeFetch((asked) => eventStream([`${onSession.title(1)}id: 2\ndata: {\n\n`], "end", asked))
      const client = yield* clientOf(fake)
      const seen: Array<string> = []
      const exit = yield* client.followSession({ ...session, after: 0 }).pipe(
        Stream.runForEach((event) => Effect.sync(() => seen.push(event.type))),
        Effect.exit
      )
      expect(Exit.isFailure(exit)).toBe(true)
      expect(seen).toEqual(["session.title"])
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
