import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Stream, TestClock } from "effect"
import { settle, untilDone } from "./kit/clock.ts"
import { errorBody, eventStream, fakeFetch, json, refused } from "./kit/fakeFetch.ts"
import { clientOf, followed, titles } from "./kit/following.ts"
import { row } from "./kit/frames.ts"
import { onSession, session } from "./kit/log.ts"

describe("a followed stream that is in trouble", () => {
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
})
