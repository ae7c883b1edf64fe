import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { type ClientError, HarnessClient } from "../src/Client.ts"
import { untilDone } from "./kit/clock.ts"
import { bodyOf, errorBody, fakeFetch, json, refused } from "./kit/fakeFetch.ts"
import { at, session, sessionAnswer, snapshot, turn } from "./kit/log.ts"

type Client = typeof HarnessClient.Service
type Fake = ReturnType<typeof fakeFetch>

const run = <A>(
  fake: Fake,
  use: (client: Client) => Effect.Effect<A, ClientError>,
  options: { readonly retries?: number } = {}
) =>
  Effect.gen(function* () {
    const client = yield* HarnessClient.make({ baseUrl: "http://fake.test", fetch: fake.fetch, ...options })
    return yield* untilDone(yield* Effect.fork(use(client)))
  })

const failure = (exit: Exit.Exit<unknown, ClientError>) => (Exit.isFailure(exit) ? exit.cause : exit)
const get = (client: Client) => client.sessions.get(session)
const submit = (client: Client) => client.turns.submit({ ...turn, content: "hello" })
const receipt = { turnId: "turn-1", sessionId: "notes", disposition: "started", cursor: 2 }
const unavailable = (code: string, headers: Record<string, string> = {}) =>
  json(code === "rate.limited" ? 429 : 503, errorBody("UnavailableError", code), headers)

describe("an answer", () => {
  it.effect("is decoded, and fields nobody knows are left out", () =>
    Effect.gen(function* () {
      const fake = fakeFetch(() => json(200, { ...sessionAnswer, mood: "good" }))
      const { exit } = yield* run(fake, get)
      expect(exit).toEqual(Exit.succeed(sessionAnswer))
    })
  )

  for (const [status, tag, code] of [
    [400, "ValidationError", "request.invalid"],
    [405, "ValidationError", "method.not_allowed"],
    [413, "ValidationError", "request.too_large"],
    [401, "UnauthorizedError", "auth.missing"],
    [403, "ForbiddenError", "auth.scope"],
    [421, "ForbiddenError", "host.refused"],
    [404, "NotFoundError", "session.not_found"],
    [404, "NotFoundError", "route.not_found"],
    [409, "ConflictError", "idempotency.mismatch"],
    [409, "SteerConflictError", "steer.conflict"],
    [409, "TurnNotActiveError", "turn.not_active"],
    [409, "TurnNotSteerableError", "turn.not_steerable"],
    [500, "InternalServerError", "internal"]
  ] as const) {
    it.effect(`${status} ${code} is a ${tag}, and the request is not repeated`, () =>
      Effect.gen(function* () {
        const fake = fakeFetch(() => json(status, errorBody(tag, code, { details: { why: "because" }, extra: 1 })))
        for (const call of [get, submit]) {
          const { exit } = yield* run<unknown>(fake, call)
          expect(failure(exit)).toMatchObject({
            error: { _tag: tag, code, requestId: "r-1", details: { why: "because" }, message: `${code} happened` }
          })
        }
        expect(fake.asked.length).toBe(2)
      })
    )
  }

  for (const [name, answer] of [
    ["not JSON", () => new Response("<html>", { status: 200 })],
    ["of another shape, whose values it does not quote", () => json(200, { sessionId: "secret value" })],
    ["an error without this protocol's body", () => new Response("nope", { status: 404 })],
    ["a success of another kind", () => json(202, sessionAnswer)],
    ["a redirection nobody followed", () => new Response(null, { status: 304 })]
  ] as const) {
    it.effect(`is a ProtocolMismatch when it is ${name}`, () =>
      Effect.gen(function* () {
        const fake = fakeFetch(answer)
        const { exit } = yield* run(fake, get)
        expect(failure(exit)).toMatchObject({ error: { _tag: "ProtocolMismatch", retryable: false } })
        expect(JSON.stringify(exit)).not.toContain("secret value")
        expect(fake.asked.length).toBe(1)
      })
    )
  }
})

describe("a request that is safe to repeat", () => {
  it.effect("is repeated after a refused connection, a cut, and while the server is unavailable", () =>
    Effect.gen(function* () {
      const fake = fakeFetch((asked, nth) => {
        switch (nth) {
          case 1:
            throw refused()
          case 2:
            return new Response(bodyOf(['{"turnId":'], "cut", asked.signal), { status: 202 })
          case 3:
            return unavailable("storage.busy", { "retry-after": "1" })
          case 4:
            return unavailable("rate.limited", { "retry-after": "1" })
          default:
            return json(202, receipt)
        }
      })
      const { exit } = yield* run(fake, submit)
      expect(exit).toEqual(Exit.succeed(receipt))
      expect(fake.asked.map(({ method, body }) => `${method} ${body}`)).toEqual(
        Array.from({ length: 5 }, () => 'PUT {"content":"hello"}')
      )
    })
  )

  it.effect("is repeated a bounded number of times, ever more slowly", () =>
    Effect.gen(function* () {
      const fake = fakeFetch(() => {
        throw refused()
      })
      const { exit, passed } = yield* run(fake, get)
      expect(failure(exit)).toMatchObject({
        error: { _tag: "Disconnected", reason: "unreachable", mayHaveBeenAccepted: false, retryable: true }
      })
      expect(fake.asked.length).toBe(6)
      expect(passed).toBeGreaterThan(4_000)
      expect(passed).toBeLessThan(12_000)
    })
  )

  it.effect("is sent once when there are to be no repetitions", () =>
    Effect.gen(function* () {
      const fake = fakeFetch(() => unavailable("overloaded"))
      const { exit } = yield* run(fake, submit, { retries: 0 })
      expect(failure(exit)).toMatchObject({ error: { _tag: "UnavailableError", code: "overloaded" } })
      expect(fake.asked.length).toBe(1)
    })
  )

  it.effect("waits as long as the server asks for, in seconds or until a date", () =>
    Effect.gen(function* () {
      const date = new Date(8_000).toUTCString()
      for (const after of ["8", date]) {
        const fake = fakeFetch((_, nth) =>
          nth === 1 ? unavailable("shutting_down", { "retry-after": after }) : json(200, sessionAnswer)
        )
        const fiber = yield* Effect.fork(run(fake, get))
        const { exit, passed } = yield* Effect.flatten(Fiber.join(fiber).pipe(Effect.exit))
        expect(Exit.isSuccess(exit)).toBe(true)
        if (after === "8") expect(passed).toBeGreaterThanOrEqual(8_000)
        expect(passed).toBeLessThan(11_000)
      }
    })
  )

  it.effect("is not kept waiting for longer than half a minute", () =>
    Effect.gen(function* () {
      const fake = fakeFetch(() => unavailable("storage.full", { "retry-after": "3600" }))
      const { exit } = yield* run(fake, get)
      expect(failure(exit)).toMatchObject({ error: { code: "storage.full" } })
      expect(fake.asked.length).toBe(1)
    })
  )

  it.effect("is given up on when a server that is up never answers", () =>
    Effect.gen(function* () {
      const fake = fakeFetch(
        (asked) =>
          new Promise((_, reject) => asked.signal?.addEventListener("abort", () => reject(asked.signal?.reason)))
      )
      const { exit, passed } = yield* run(fake, get, { retries: 1 })
      expect(failure(exit)).toMatchObject({ error: { reason: "silent", mayHaveBeenAccepted: true } })
      expect(fake.asked.length).toBe(2)
      expect(passed).toBeGreaterThanOrEqual(60_000)
    })
  )

  it.effect("is repeated when a gateway says that it could not reach the server", () =>
    Effect.gen(function* () {
      const fake = fakeFetch((_, nth) => (nth < 3 ? new Response("", { status: 502 }) : json(200, sessionAnswer)))
      const { exit } = yield* run(fake, get)
      expect(Exit.isSuccess(exit)).toBe(true)
    })
  )
})

describe("input", () => {
  for (const [name, call, path] of [
    ["an id that is none", (client: Client) => client.sessions.get({ server: "main", sessionId: "a/b" }), "sessionId"],
    ["a server that is none", (client: Client) => client.servers.delete({ server: "Main" }), "server"],
    ["blank content", (client: Client) => client.turns.submit({ ...turn, content: " " }), "content"],
    ["a limit too large", (client: Client) => client.turns.list({ ...session, limit: 501 }), "limit"],
    [
      "a field nobody knows",
      (client: Client) => {
        const misspelt = { ...session, titel: "x" }
        return client.sessions.create(misspelt)
      },
      "titel"
    ]
  ] as const) {
    it.effect(`${name} is refused before it is sent`, () =>
      Effect.gen(function* () {
        const fake = fakeFetch(() => json(200, {}))
        const { exit } = yield* run<unknown>(fake, call)
        expect(failure(exit)).toMatchObject({
          error: { _tag: "ValidationError", code: "request.invalid", details: { issues: [{ path }] } }
        })
        expect(fake.asked).toEqual([])
      })
    )
  }

  it.effect("of a connection is checked when it is made", () =>
    Effect.gen(function* () {
      for (const options of [
        { baseUrl: "127.0.0.1:4700" },
        { baseUrl: "ftp://x" },
        { baseUrl: "http://x", token: "a\nb" },
        { baseUrl: "http://x", clientId: "" }
      ]) {
        expect(yield* Effect.flip(HarnessClient.make(options))).toMatchObject({ _tag: "ValidationError" })
      }
    })
  )
})

describe("waiting in one request", () => {
  const wait = (waitMillis: number) => (client: Client) =>
    client.turns.submitAndWait({ ...turn, content: "hello", waitMillis })

  it.effect("asks for at most four minutes at once, and asks again", () =>
    Effect.gen(function* () {
      const fake = fakeFetch(async (_, nth) =>
        nth < 3
          ? json(202, { ...snapshot(3), timedOut: true })
          : json(200, snapshot(9, { state: "completed", settledAt: at }))
      )
      const { exit } = yield* run(fake, wait(600_000))
      expect(Exit.map(exit, ({ state }) => state)).toEqual(Exit.succeed("completed"))
      expect(fake.asked.map(({ url }) => url.search)).toEqual(Array.from({ length: 3 }, () => "?waitMillis=240000"))
    })
  )

  it.effect("answers the live turn when the time is over", () =>
    Effect.gen(function* () {
      const fake = fakeFetch(() => json(202, { ...snapshot(3), timedOut: true }))
      const { exit, passed } = yield* run(fake, wait(1_000))
      expect(Exit.map(exit, (turn) => "timedOut" in turn && turn.timedOut)).toEqual(Exit.succeed(true))
      expect(passed).toBeGreaterThanOrEqual(1_000)
      expect(passed).toBeLessThanOrEqual(3_000)
    })
  )
})
