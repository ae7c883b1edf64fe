import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { askServer } from "./kit/askServer.ts"
import { onServer, onTurnAsks, question, request } from "./kit/asks.ts"
import { ends, opening, person, run } from "./kit/attending.ts"
import { settle, untilDone } from "./kit/clock.ts"
import { json } from "./kit/fakeFetch.ts"
import { onTurn, snapshot } from "./kit/log.ts"

describe("what a turn asks", () => {
  it.effect("is put to whoever attends, and answered with what they say", () =>
    Effect.gen(function* () {
      const server = askServer()
      const { asked, onAsk, onQuestion } = person({ ask: { reply: "reject", message: "no" }, question: [["a"]] })
      const fiber = yield* run(server, { onAsk, onQuestion })
      server.ofTurn.say(opening)
      server.open.permissions = [request(1)]
      server.ofTurn.say(onTurnAsks.requested(3, request(1)))
      yield* settle
      server.open.questions = [question(2)]
      server.ofTurn.say(onTurnAsks.asked(5, question(2)))
      yield* settle
      expect(asked).toEqual(["req_1 notes", "que_2 notes"])
      expect(server.replies).toEqual([
        'reply req_1 {"reply":"reject","message":"no"}',
        'reply que_2 {"answers":[["a"]]}'
      ])
      yield* ends(server, fiber)
    })
  )

  it.effect("is found when it was open before anybody came, and rejected questions are closed", () =>
    Effect.gen(function* () {
      const server = askServer()
      server.open.permissions = [request(1)]
      server.open.questions = [question(2)]
      const { asked, onAsk, onQuestion } = person({ ask: "always", question: "reject" })
      const fiber = yield* run(server, { onAsk, onQuestion })
      server.ofTurn.say(onTurn.opening(snapshot(2, { state: "waiting" })))
      yield* settle
      expect(asked.toSorted()).toEqual(["que_2 notes", "req_1 notes"])
      expect(server.replies.toSorted()).toEqual(["reject que_2", 'reply req_1 {"reply":"always"}'])
      yield* ends(server, fiber)
    })
  )

  it.effect("is of no concern without a callback: nothing is listed, and no other stream is opened", () =>
    Effect.gen(function* () {
      const server = askServer()
      server.open.permissions = [request(1)]
      const fiber = yield* run(server, {})
      server.ofTurn.say(opening, onTurnAsks.requested(3, request(1)))
      yield* settle
      expect(server.lists()).toBe(0)
      expect(server.ofServer.opened()).toBe(0)
      const asking = askServer()
      asking.open.questions = [question(1)]
      const other = yield* run(asking, { onAsk: person({}).onAsk })
      asking.ofTurn.say(opening)
      yield* settle
      expect(asking.fake.asked.some(({ url }) => url.pathname.endsWith("/questions"))).toBe(false)
      yield* ends(asking, other)
      yield* ends(server, fiber)
    })
  )

  it.effect("stays open when whoever attends has no answer", () =>
    Effect.gen(function* () {
      const server = askServer()
      server.open.permissions = [request(1)]
      const { asked, onAsk } = person({})
      const fiber = yield* run(server, { onAsk })
      server.ofTurn.say(opening, onTurnAsks.requested(3, request(1)))
      yield* settle
      expect(asked.length).toBe(1)
      expect(server.replies).toEqual([])
      yield* ends(server, fiber)
    })
  )

  it.effect("is another turn's while ours is queued", () =>
    Effect.gen(function* () {
      const server = askServer()
      server.open.permissions = [request(1, "notes", "turn-0"), request(2, "child")]
      const { asked, onAsk } = person({ ask: "once" })
      const fiber = yield* run(server, { onAsk })
      server.ofServer.say(onServer.cursor(3))
      server.ofTurn.say(onTurn.opening(snapshot(1, { state: "queued" })), onTurn.heartbeat(1))
      yield* settle
      expect(asked).toEqual([])
      server.ofTurn.say(onTurn.started(2))
      yield* settle
      expect(asked).toEqual(["req_2 child"])
      yield* ends(server, fiber)
    })
  )
})

describe("what sessions below ask", () => {
  it.effect("is heard on the server's stream, from children and theirs, and answered in their session", () =>
    Effect.gen(function* () {
      const server = askServer()
      const { asked, onAsk } = person({ ask: "once" })
      const fiber = yield* run(server, { onAsk })
      server.ofTurn.say(opening)
      server.ofServer.say(
        onServer.cursor(3),
        onServer.created(4, "child", "notes"),
        onServer.created(5, "grandchild", "child")
      )
      yield* settle
      const before = server.lists()
      server.open.permissions = [request(1, "grandchild")]
      server.ofServer.say(onServer.requested(6, request(1, "grandchild")))
      yield* settle
      expect(asked).toEqual(["req_1 grandchild"])
      expect(server.lists()).toBeGreaterThan(before)
      expect(server.fake.asked.at(-1)?.url.pathname).toMatch(
        /^\/v1\/servers\/main\/sessions\/grandchild\/permissions\/req_0*1\/reply$/
      )
      yield* ends(server, fiber)
    })
  )

  it.effect("is not looked for when strangers ask", () =>
    Effect.gen(function* () {
      const server = askServer()
      const { asked, onAsk } = person({ ask: "once" })
      const fiber = yield* run(server, { onAsk })
      server.ofTurn.say(opening)
      server.ofServer.say(onServer.cursor(3), onServer.created(4, "stranger"))
      yield* settle
      const before = server.lists()
      server.ofServer.say(onServer.requested(5, request(1, "stranger")))
      yield* settle
      expect(server.lists()).toBe(before)
      expect(asked).toEqual([])
      yield* ends(server, fiber)
    })
  )
})

describe("an ask", () => {
  it.effect("is found after a lost connection, and put once, however often connections go", () =>
    Effect.gen(function* () {
      const server = askServer()
      const { asked, onAsk } = person({})
      const fiber = yield* run(server, { onAsk })
      server.ofTurn.say(opening)
      server.ofServer.say(onServer.cursor(3))
      yield* settle
      for (const stream of [server.ofTurn, server.ofServer, server.ofTurn, server.ofServer]) {
        stream.cut()
        // Nothing tells of it: its event may have been the server's last words before it went.
        server.open.permissions = [request(1), request(2, "child")]
        const back = yield* Effect.fork(
          Effect.iterate(0, {
            while: () => !stream.isOpen(),
            body: (n) => Effect.as(Effect.sleep("100 millis"), n + 1)
          })
        )
        yield* untilDone(back, "100 millis")
        const before = server.lists()
        stream.say(stream === server.ofTurn ? onTurn.heartbeat(2) : onServer.cursor(3))
        yield* settle
        expect(server.lists()).toBeGreaterThan(before)
      }
      expect(asked).toEqual(["req_1 notes", "req_2 child"])
      yield* ends(server, fiber)
    })
  )

  it.effect("that was answered does not come back with a list that was under way", () =>
    Effect.gen(function* () {
      const held = yield* Deferred.make<void>()
      let holding = true
      const server = askServer(({ url }) => {
        if (!holding || !url.pathname.endsWith("notes/permissions")) return undefined
        holding = false
        const said = json(200, { permissions: [request(1)], next: null })
        return Effect.runPromise(Effect.as(Deferred.await(held), said))
      })
      const { asked, onAsk } = person({ ask: "once" })
      const fiber = yield* run(server, { onAsk })
      server.ofTurn.say(opening, onTurnAsks.requested(3, request(1)), onTurnAsks.resolved(4, request(1)))
      yield* settle
      yield* Deferred.succeed(held, undefined)
      yield* settle
      expect(asked).toEqual([])
      expect(server.replies).toEqual([])
      yield* ends(server, fiber)
    })
  )

  it.effect("is taken back when somebody else was faster, and when the turn ends", () =>
    Effect.gen(function* () {
      const server = askServer()
      server.open.permissions = [request(1), request(2, "child"), request(3)]
      const taken: Array<number> = []
      const fiber = yield* run(server, {
        onAsk: ({ requestId }) =>
          Effect.onInterrupt(Effect.never, () => Effect.sync(() => taken.push(Number(requestId.slice(4)))))
      })
      server.ofTurn.say(opening)
      server.ofServer.say(onServer.cursor(3), onServer.created(4, "child", "notes"))
      yield* settle
      expect(taken).toEqual([])
      server.ofTurn.say(onTurnAsks.resolved(5, request(1)))
      yield* settle
      expect(taken).toEqual([1])
      server.ofServer.say(onServer.resolved(6, request(2, "child")))
      yield* settle
      expect(taken).toEqual([1, 2])
      yield* ends(server, fiber)
      expect(taken).toEqual([1, 2, 3])
    })
  )

  it.effect("that a later list misses is taken back, too", () =>
    Effect.gen(function* () {
      const server = askServer()
      server.open.permissions = [request(1)]
      let taken = false
      const fiber = yield* run(server, {
        onAsk: () =>
          Effect.onInterrupt(Effect.never, () =>
            Effect.sync(() => {
              taken = true
            })
          )
      })
      server.ofTurn.say(opening)
      yield* settle
      server.open.permissions = []
      server.ofServer.say(onServer.cursor(3))
      yield* settle
      expect(taken).toBe(true)
      yield* ends(server, fiber)
    })
  )
})
