import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { askServer } from "./kit/askServer.ts"
import { request } from "./kit/asks.ts"
import { ends, opening, person, run } from "./kit/attending.ts"
import { settle, untilDone } from "./kit/clock.ts"
import { errorBody, json, refused } from "./kit/fakeFetch.ts"

describe("an answer", () => {
  it.effect("that came too late changes nothing", () =>
    Effect.gen(function* () {
      const server = askServer()
      server.open.permissions = [request(1)]
      const fiber = yield* run(server, {
        onAsk: () =>
          Effect.sync(() => {
            server.open.permissions = []
            return "once"
          })
      })
      server.ofTurn.say(opening)
      yield* settle
      expect(server.replies).toEqual(['reply req_1 {"reply":"once"}'])
      yield* ends(server, fiber)
    })
  )

  it.effect("is not lost when the server is away: it is sent until it arrives, and nobody is asked again", () =>
    Effect.gen(function* () {
      let away = 5
      const server = askServer(({ method }) => {
        if (method === "POST" && away-- > 0) throw refused()
        return undefined
      })
      server.open.permissions = [request(1)]
      const { asked, onAsk } = person({ ask: "once" })
      const fiber = yield* run(server, { onAsk })
      server.ofTurn.say(opening)
      const arrived = yield* Effect.fork(
        Effect.iterate(0, {
          while: () => server.replies.length === 0,
          body: (n) => Effect.as(Effect.sleep("100 millis"), n)
        })
      )
      yield* untilDone(arrived, "100 millis")
      expect(server.replies).toEqual(['reply req_1 {"reply":"once"}'])
      expect(asked.length).toBe(1)
      yield* ends(server, fiber)
    })
  )

  it.effect("that the server refuses ends the waiting with why", () =>
    Effect.gen(function* () {
      const server = askServer(({ method }) =>
        method === "POST" ? json(403, errorBody("ForbiddenError", "auth.scope")) : undefined
      )
      server.open.permissions = [request(1)]
      const fiber = yield* run(server, { onAsk: person({ ask: "once" }).onAsk })
      server.ofTurn.say(opening)
      const { exit } = yield* untilDone(fiber)
      expect(Exit.isFailure(exit) && exit.cause).toMatchObject({ error: { code: "auth.scope" } })
      expect(server.ofTurn.isOpen() || server.ofServer.isOpen()).toBe(false)
    })
  )
})
