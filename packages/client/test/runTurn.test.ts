import { describe, expect, it } from "@effect/vitest"
import { TurnId, type TurnStreamEventValue } from "@harness/protocol"
import { Duration, Effect, Exit, Fiber } from "effect"
import { HarnessClient, type RunTurn } from "../src/Client.ts"
import { settle, untilDone } from "./kit/clock.ts"
import { errorBody, eventStream, fakeFetch, json, refused } from "./kit/fakeFetch.ts"
import { onTurn, session, snapshot, text, turn, turnId } from "./kit/log.ts"

type Fake = ReturnType<typeof fakeFetch>
type Answer = Parameters<typeof fakeFetch>[0]

const receipt = (turnId: string) => ({ turnId, sessionId: "notes", disposition: "started", cursor: 2 })
const done = snapshot(5, {
  state: "completed",
  stopReason: "end",
  parts: [text("p1", "Hello", true)],
  finalText: "Hello"
})

/** A server that takes every prompt; `stream` answers the turn's event stream, counted by itself. */
const server = (stream: Answer, other: Answer = () => new Response("", { status: 418 })) => {
  let streams = 0
  return fakeFetch((asked, nth) => {
    if (asked.method === "PUT") return json(202, receipt(asked.url.pathname.split("/").at(-1) ?? ""))
    return asked.url.pathname.endsWith("/events") ? stream(asked, ++streams) : other(asked, nth)
  })
}

const run = (fake: Fake, input: Partial<RunTurn> = {}) =>
  Effect.gen(function* () {
    const client = yield* HarnessClient.make({ baseUrl: "http://fake.test", fetch: fake.fetch })
    return yield* Effect.fork(client.runTurn({ ...turn, content: "Say hello", ...input }))
  })

const requests = (fake: Fake) => fake.asked.map(({ method, url }) => `${method} ${url.pathname}${url.search}`)
const path = "/v1/servers/main/sessions/notes/turns"

describe("running a turn", () => {
  it.effect("submits, follows, and answers the turn at its end, telling of every event", () =>
    Effect.gen(function* () {
      const fake = server((asked) =>
        eventStream([onTurn.opening(snapshot(2)), onTurn.delta("p1", 0, "Hello"), onTurn.terminal(done)], "hang", asked)
      )
      const events: Array<TurnStreamEventValue["type"]> = []
      const { exit } = yield* untilDone(
        yield* run(fake, { onEvent: ({ type }) => Effect.sync(() => events.push(type)), session: { title: "x" } })
      )
      expect(exit).toEqual(Exit.succeed(done))
      expect(events).toEqual(["turn.snapshot", "turn.text.delta", "turn.terminal"])
      expect(requests(fake)).toEqual([`PUT ${path}/turn-1`, `GET ${path}/turn-1/events`])
      expect(fake.asked[0]?.body).toBe('{"content":"Say hello","session":{"title":"x"}}')
    })
  )

  it.effect("mints one id for a prompt, and keeps it when the answer is lost", () =>
    Effect.gen(function* () {
      let puts = 0
      const fake = fakeFetch((asked) => {
        if (asked.method !== "PUT") return eventStream([onTurn.terminal(done)], "end", asked)
        puts++
        if (puts === 1) throw new TypeError("terminated")
        return json(202, receipt("x"))
      })
      const client = yield* HarnessClient.make({ baseUrl: "http://fake.test", fetch: fake.fetch })
      const fiber = yield* Effect.fork(client.runTurn({ ...session, content: "hi" }))
      yield* untilDone(fiber)
      const ids = fake.asked.filter(({ method }) => method === "PUT").map(({ url }) => url.pathname.split("/").at(-1))
      expect(ids.length).toBe(2)
      expect(ids[0]).toMatch(/^turn_[0-9A-HJKMNP-TV-Z]{26}$/)
      expect(ids[1]).toBe(ids[0])
    })
  )

  it.effect("is patient with a server that restarts for two seconds in the middle", () =>
    Effect.gen(function* () {
      const fake = server((asked, nth) => {
        if (nth === 1) return eventStream([onTurn.opening(snapshot(2)), onTurn.delta("p1", 0, "He")], "cut", asked)
        if (nth < 5) throw refused()
        return eventStream(
          [onTurn.snapshot(snapshot(3, { attempt: 2 })), onTurn.delta("p1", 0, "Hello", 2), onTurn.terminal(done)],
          "end",
          asked
        )
      })
      const { exit, passed } = yield* untilDone(yield* run(fake), "100 millis")
      expect(exit).toEqual(Exit.succeed(done))
      expect(passed).toBeLessThan(10_000)
      expect(requests(fake).at(-1)).toBe(`GET ${path}/turn-1/events?afterRevision=2`)
    })
  )

  for (const ending of ["end", "cut"] as const) {
    it.effect(`never takes a stream's ${ending} for the turn's`, () =>
      Effect.gen(function* () {
        const fake = server((asked) => {
          if (fake.asked.length > 2) throw refused()
          return eventStream([onTurn.opening(snapshot(4, { parts: done.parts }))], ending, asked)
        })
        const { exit, passed } = yield* untilDone(yield* run(fake, { maxDowntime: "30 seconds" }))
        expect(Exit.isFailure(exit) && exit.cause).toMatchObject({ error: { _tag: "Disconnected", reason: "down" } })
        expect(passed).toBeLessThanOrEqual(31_000)
      })
    )
  }

  it.effect("answers a failed and a cancelled turn like any other: by what the server says", () =>
    Effect.gen(function* () {
      for (const state of ["failed", "cancelled"] as const) {
        const fake = server((asked) => eventStream([onTurn.terminal({ ...done, state })], "end", asked))
        const { exit } = yield* untilDone(yield* run(fake))
        expect(Exit.map(exit, (turn) => turn.state)).toEqual(Exit.succeed(state))
      }
    })
  )

  it.effect("reads a turn too long for one event", () =>
    Effect.gen(function* () {
      const { prompt: _, ...short } = done
      const fake = server(
        (asked) => eventStream([onTurn.terminal({ ...short, parts: [] })], "end", asked),
        () => json(200, done)
      )
      const { exit } = yield* untilDone(yield* run(fake))
      expect(exit).toEqual(Exit.succeed(done))
      expect(requests(fake).at(-1)).toBe(`GET ${path}/turn-1`)
    })
  )

  it.effect("waits on when a steer's turn ended without it, and it became one of its own", () =>
    Effect.gen(function* () {
      const joined = { ...done, turnId: TurnId.make("turn-0") }
      const fake = server(
        (asked, nth) => eventStream([onTurn.terminal(nth === 1 ? joined : done)], "end", asked),
        () => json(200, snapshot(1, { state: "queued" }))
      )
      const { exit } = yield* untilDone(yield* run(fake, { whenBusy: "steer" }))
      expect(Exit.map(exit, (turn) => turn.turnId)).toEqual(Exit.succeed(turnId))
      expect(requests(fake).slice(1)).toEqual([
        `GET ${path}/turn-1/events`,
        `GET ${path}/turn-1`,
        `GET ${path}/turn-1/events`
      ])
    })
  )

  it.effect("answers the turn that a steer joined when that one took it", () =>
    Effect.gen(function* () {
      const joined = { ...done, turnId: TurnId.make("turn-0") }
      const fake = server(
        (asked) => eventStream([onTurn.terminal(joined)], "end", asked),
        () => json(200, joined)
      )
      const { exit } = yield* untilDone(yield* run(fake, { whenBusy: "steer" }))
      expect(exit).toEqual(Exit.succeed(joined))
    })
  )

  it.effect("starts over when the server knows less than it told", () =>
    Effect.gen(function* () {
      const fake = server((asked, nth) => {
        if (nth === 1) return eventStream([onTurn.opening(snapshot(9))], "cut", asked)
        if (nth === 2) return json(409, errorBody("ConflictError", "cursor.ahead"))
        return eventStream([onTurn.terminal(done)], "end", asked)
      })
      const { exit } = yield* untilDone(yield* run(fake))
      expect(exit).toEqual(Exit.succeed(done))
      expect(requests(fake).slice(1)).toEqual([
        `GET ${path}/turn-1/events`,
        `GET ${path}/turn-1/events?afterRevision=9`,
        `GET ${path}/turn-1/events`
      ])
    })
  )

  it.effect("ends with the server's refusal", () =>
    Effect.gen(function* () {
      const fake = fakeFetch(() => json(409, errorBody("ConflictError", "turn.busy")))
      const { exit } = yield* untilDone(yield* run(fake, { whenBusy: "reject" }))
      expect(Exit.isFailure(exit) && exit.cause).toMatchObject({ error: { code: "turn.busy" } })
      expect(fake.asked.length).toBe(1)
    })
  )

  for (const cancelOnInterrupt of [false, true]) {
    it.effect(`${cancelOnInterrupt ? "cancels" : "leaves"} the turn when interrupted, as asked`, () =>
      Effect.gen(function* () {
        const fake = server(
          (asked) => eventStream([onTurn.opening(snapshot(2))], "hang", asked),
          () => json(202, { stopping: true, turnId: "turn-1" })
        )
        const fiber = yield* run(fake, { cancelOnInterrupt })
        yield* settle
        yield* Fiber.interrupt(fiber)
        expect(requests(fake).includes(`POST ${path}/turn-1/cancel`)).toBe(cancelOnInterrupt)
      })
    )
  }

  it.effect("is interrupted in bounded time, also when the server cannot be asked to cancel", () =>
    Effect.gen(function* () {
      const fake = server(
        (asked) => eventStream([onTurn.opening(snapshot(2))], "hang", asked),
        (asked) =>
          new Promise((_, reject) => asked.signal?.addEventListener("abort", () => reject(asked.signal?.reason)))
      )
      const fiber = yield* run(fake, { cancelOnInterrupt: true })
      yield* settle
      const { passed } = yield* untilDone(yield* Effect.fork(Fiber.interrupt(fiber)))
      expect(passed).toBeLessThanOrEqual(Duration.toMillis("6 seconds"))
    })
  )
})
