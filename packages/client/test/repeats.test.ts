import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { type ClientError, HarnessClient } from "../src/Client.ts"
import { untilDone } from "./kit/clock.ts"
import { errorBody, fakeFetch, json, refused } from "./kit/fakeFetch.ts"
import { session, turn } from "./kit/log.ts"

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
const unavailable = (code: string, headers: Record<string, string> = {}) =>
  json(503, errorBody("UnavailableError", code), headers)

describe("a request that may mean something else the second time", () => {
  const cancel = (client: Client) => client.sessions.cancel(session)
  const hook = { server: "main", hookId: "h1", point: "pre-tool", url: "http://hook.test" } as const
  const webhook = { server: "main", webhookId: "w1" }

  // What it stops, detaches, mints or delivers may be something else the second time.
  for (const [name, call] of [
    ["stopping whatever runs", cancel],
    ["detaching whatever is waited for", (client: Client) => client.sessions.background(session)],
    ["setting a hook whose secret is minted", (client: Client) => client.hooks.put(hook)],
    [
      "setting a webhook whose secret is minted",
      (client: Client) => client.webhooks.put({ ...webhook, url: "http://x" })
    ],
    ["delivering once more", (client: Client) => client.webhooks.redeliver({ ...webhook, afterServerCursor: 0 })]
  ] as const) {
    it.effect(`(${name}) is sent once when it may have arrived`, () =>
      Effect.gen(function* () {
        const fake = fakeFetch(() => {
          throw new TypeError("terminated")
        })
        const { exit } = yield* run<unknown>(fake, call)
        expect(failure(exit)).toMatchObject({ error: { _tag: "Disconnected", mayHaveBeenAccepted: true } })
        expect(fake.asked.length).toBe(1)
      })
    )
  }

  it.effect("is none of those that name their result: they are repeated", () =>
    Effect.gen(function* () {
      for (const call of [
        (client: Client) => client.permissions.reply({ ...session, requestId: "req_1", reply: "once" }),
        (client: Client) => client.questions.reply({ ...session, questionId: "que_1", answers: [["a"]] }),
        (client: Client) => client.calls.resolve({ ...turn, callId: "call_1", content: "42" }),
        (client: Client) => client.compactions.submit({ ...session, compactionId: "c1" }),
        (client: Client) => client.hooks.put({ ...hook, secret: "whsec_x" }),
        (client: Client) => client.hooks.delete({ server: "main", hookId: "h1" })
      ]) {
        const fake = fakeFetch(() => {
          throw new TypeError("terminated")
        })
        yield* run<unknown>(fake, call, { retries: 2 })
        expect(fake.asked.length).toBe(3)
      }
    })
  )

  it.effect("is repeated when it certainly did not arrive, or was refused for now", () =>
    Effect.gen(function* () {
      const fake = fakeFetch((_, nth) => {
        if (nth === 1) throw refused()
        return nth === 2 ? unavailable("shutting_down") : json(202, { stopping: true, turnId: "turn-1" })
      })
      const { exit } = yield* run(fake, cancel)
      expect(exit).toEqual(Exit.succeed({ stopping: true, turnId: "turn-1" }))
    })
  )
})
