import { describe, expect, it } from "@effect/vitest"
import type { SessionStreamEventValue, TurnSnapshot, TurnStreamEventValue } from "@harness/protocol"
import { Chunk, Deferred, Effect, Fiber, Stream } from "effect"
import { foldTurn, HarnessClient } from "../src/Client.ts"
import { proxy } from "./kit/proxy.ts"
import { realServer } from "./kit/realServer.ts"

const session = { server: "main", sessionId: "notes" }
const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n + 1}`).join(" ")

const revisions = (events: ReadonlyArray<TurnStreamEventValue>) =>
  events.flatMap((event) => ("at" in event ? [event.revision] : []))
const upTo = (count: number, from = 1) => Array.from({ length: count - from + 1 }, (_, n) => from + n)

describe("against the real server", () => {
  it.scopedLive("every endpoint answers what its type says", () =>
    Effect.gen(function* () {
      const { baseUrl, token } = yield* realServer()
      const client = yield* HarnessClient.make({ baseUrl, token, clientId: "test" })
      const { system, servers, sessions, turns, queue } = client
      expect((yield* system.health).status).toBe("ok")
      expect((yield* system.capabilities).providers).toContain("demo")
      expect(Object.keys(yield* system.openapi)).toContain("paths")
      expect(yield* system.metrics).toContain("# TYPE")
      expect((yield* system.logs({ limit: 1 })).logs.length).toBe(1)

      const created = yield* sessions.create({ ...session, title: "Notes", metadata: { a: 1 } })
      expect(created).toMatchObject({ title: "Notes", state: "idle", metadata: { a: 1 } })
      expect((yield* sessions.create({ ...session, title: "Notes", metadata: { a: 1 } })).createdAt).toBe(
        created.createdAt
      )
      expect((yield* Effect.flip(sessions.create({ ...session, title: "Other" }))).code).toBe("idempotency.mismatch")
      expect((yield* sessions.update({ ...session, title: "Plans" })).title).toBe("Plans")
      expect((yield* sessions.get(session)).title).toBe("Plans")
      expect((yield* sessions.list({ server: "main" })).sessions.length).toBe(1)
      const { revision } = yield* sessions.configuration(session)
      expect(
        (yield* sessions.configure({ ...session, expectedRevision: revision, systemPrompt: "Be brief." })).revision
      ).toBe(revision + 1)
      expect((yield* Effect.flip(sessions.configure({ ...session, expectedRevision: 0 }))).code).toBe("revision.stale")

      const receipt = yield* turns.submit({ ...session, turnId: "t1", content: "wait 60000" })
      expect(receipt.disposition).toBe("started")
      expect((yield* turns.submit({ ...session, turnId: "t1", content: "wait 60000" })).disposition).toBe(
        "deduplicated"
      )
      expect((yield* turns.submit({ ...session, turnId: "t2", content: "later" })).position).toBe(1)
      expect((yield* queue.list(session)).queue.map(({ turnId }) => turnId)).toEqual(["t2"])
      yield* queue.edit({ ...session, turnId: "t2", content: "even later" })
      expect((yield* queue.withdraw({ ...session, turnId: "t2" })).stopping).toBe(false)
      const steer = { ...session, turnId: "t1", entryId: "s1", content: "left" }
      expect((yield* turns.steer(steer)).disposition).toBe("accepted")
      expect((yield* Effect.flip(turns.steer({ ...steer, content: "right" })))._tag).toBe("SteerConflictError")
      expect((yield* turns.cancel({ ...session, turnId: "t1", reason: "enough" })).turnId).toBe("t1")
      expect((yield* client.waitTurn({ ...session, turnId: "t1" })).state).toBe("cancelled")
      expect((yield* Effect.flip(turns.steer({ ...steer, entryId: "s2" })))._tag).toBe("TurnNotActiveError")

      const waited = yield* turns.submitAndWait({ ...session, turnId: "t3", content: "hello", waitMillis: 30_000 })
      expect(waited).toMatchObject({ state: "completed", finalText: "hello" })
      expect(waited).toEqual(yield* turns.get({ ...session, turnId: "t3" }))
      expect((yield* turns.list({ ...session, after: "t2" })).turns.map(({ turnId }) => turnId)).toEqual(["t3"])
      const entry = { ...session, entryId: "e1", role: "user", content: "by the way" } as const
      expect((yield* sessions.append(entry)).disposition).toBe("accepted")
      expect((yield* sessions.history(session)).entries.at(-1)).toMatchObject({ entryId: "e1" })
      expect((yield* sessions.status(session)).state).toBe("idle")
      expect((yield* sessions.cancel(session)).stopping).toBe(false)
      expect((yield* sessions.children(session)).children).toEqual([])
      const fork = yield* sessions.fork({ ...session, forkedSessionId: "fork", through: { turnId: "t3" } })
      expect(fork.forkedFrom?.sessionId).toBe("notes")

      expect((yield* sessions.delete(session)).sessionId).toBe("notes")
      expect((yield* Effect.flip(sessions.get(session)))._tag).toBe("NotFoundError")
      expect((yield* servers.delete({ server: "main" })).sessions).toBe(1)
    })
  )

  it.scopedLive("refusals are typed: a wrong token, an unknown session, a position ahead", () =>
    Effect.gen(function* () {
      const { baseUrl, token } = yield* realServer()
      const stranger = yield* HarnessClient.make({ baseUrl, token: "wrong" })
      expect((yield* Effect.flip(stranger.sessions.get(session))).code).toBe("auth.unknown")
      expect((yield* Effect.flip(Stream.runDrain(stranger.followSession(session)))).code).toBe("auth.unknown")
      const client = yield* HarnessClient.make({ baseUrl, token })
      expect((yield* Effect.flip(Stream.runDrain(client.followSession(session)))).code).toBe("session.not_found")
      yield* client.sessions.create(session)
      const ahead = client.followSession({ ...session, after: 99 })
      expect((yield* Effect.flip(Stream.runDrain(ahead))).code).toBe("cursor.ahead")
      const never = client.followSession({ ...session, after: 0.5 })
      expect((yield* Effect.flip(Stream.runDrain(never))).code).toBe("cursor.invalid")
    })
  )

  for (const how of ["kill", "stop"] as const) {
    it.scopedLive(`a turn is waited for over a ${how === "kill" ? "crash" : "restart"} in its middle`, () =>
      Effect.gen(function* () {
        const server = yield* realServer()
        const client = yield* HarnessClient.make(server)
        const running = yield* Deferred.make<void>()
        const events: Array<TurnStreamEventValue> = []
        const lost: Array<string> = []
        let held: TurnSnapshot | undefined
        const fiber = yield* client
          .runTurn({
            ...session,
            session: {},
            content: "write 150 words every 20 ms",
            onLost: ({ code }) => Effect.sync(() => lost.push(code)),
            onEvent: (event) =>
              Effect.gen(function* () {
                events.push(event)
                held = foldTurn(held, event)
                if (held?.parts[0]?.type === "text" && held.parts[0].text.length > 100) {
                  yield* Deferred.succeed(running, undefined)
                }
              })
          })
          .pipe(Effect.fork)
        yield* Deferred.await(running)
        yield* server[how]
        yield* server.start
        const turn = yield* Fiber.join(fiber)
        expect(turn.state).toBe("completed")
        expect(turn.attempt).toBe(how === "kill" ? 2 : turn.attempt)
        expect(lost.length).toBeGreaterThan(0)
        expect(held).toEqual(turn)
        expect(turn).toEqual(yield* client.turns.get(turn && { ...session, turnId: turn.turnId }))
        const seen = revisions(events)
        expect(seen).toEqual(upTo(turn.revision, seen[0]))
      })
    )
  }

  it.scopedLive("text of any script is the same byte by byte", () =>
    Effect.gen(function* () {
      const { baseUrl, token } = yield* realServer()
      const crumbling = yield* proxy(baseUrl, () => ({ piece: 1 }))
      const client = yield* HarnessClient.make({ baseUrl: crumbling.baseUrl, token })
      let grown: TurnSnapshot | undefined
      const turn = yield* client.runTurn({
        ...session,
        session: {},
        content: "日本語🌍é — 👩‍👩‍👧 שלום",
        onEvent: (event) =>
          Effect.sync(() => {
            if (event.type !== "turn.terminal") grown = foldTurn(grown, event)
          })
      })
      expect(turn.finalText).toBe("日本語🌍é — 👩‍👩‍👧 שלום")
      expect(grown?.parts).toEqual(turn.parts)
    })
  )

  it.scopedLive("L3, L4: readers cut at random see every row once, in order, and hold what a fresh read says", () =>
    Effect.gen(function* () {
      const { baseUrl, token } = yield* realServer()
      const direct = yield* HarnessClient.make({ baseUrl, token })
      yield* direct.sessions.create(session)
      let seed = 7
      const random = (below: number) => {
        seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
        return seed % below
      }
      const breaking = yield* proxy(baseUrl, () => ({ cutAfter: 800 + random(12_000), piece: 1 + random(400) }))
      const readers = yield* Effect.forEach(
        upTo(4),
        () =>
          Effect.gen(function* () {
            const client = yield* HarnessClient.make({
              baseUrl: breaking.baseUrl,
              token,
              backoff: { first: "5 millis", longest: "20 millis" }
            })
            const held = new Map<string, TurnSnapshot | undefined>()
            const collect = (event: SessionStreamEventValue) => {
              if (!("turnId" in event) || event.turnId === undefined) return
              held.set(event.turnId, foldTurn(held.get(event.turnId), event))
            }
            const events = yield* client.followSession({ ...session, after: 0 }).pipe(
              Stream.tap((event) => Effect.sync(() => collect(event))),
              Stream.takeUntil((event) => event.type === "session.title"),
              Stream.runCollect
            )
            return { held, events: Chunk.toReadonlyArray(events) }
          }),
        { concurrency: "unbounded" }
      ).pipe(Effect.fork)
      const prompts = ["write 300 words every 2 ms", "hello", "think hard", "write 500 words", 'use read {"path":"x"}']
      for (const [n, content] of prompts.entries()) {
        yield* direct.runTurn({ ...session, turnId: `t${n}`, content })
      }
      yield* direct.sessions.update({ ...session, title: "done" })
      const { cursor } = yield* direct.sessions.get(session)
      const { turns } = yield* direct.turns.list(session)
      for (const { held, events } of yield* Fiber.join(readers)) {
        const seen = events.flatMap((event) => ("at" in event ? [event.cursor] : []))
        expect(seen).toEqual(upTo(cursor))
        expect([...held.values()]).toEqual(turns)
      }
      expect(breaking.broken()).toBeGreaterThan(8)
      expect(turns[0]?.finalText).toBe(words(300))
    })
  )

  it.scopedLive("a server's stream shows what its sessions do, rows once and in order, cut or not", () =>
    Effect.gen(function* () {
      const { baseUrl, token } = yield* realServer()
      const breaking = yield* proxy(baseUrl, (nth) => ({ cutAfter: 900 + nth * 500 }))
      const direct = yield* HarnessClient.make({ baseUrl, token })
      const client = yield* HarnessClient.make({ baseUrl: breaking.baseUrl, token })
      for (const sessionId of ["a", "b", "c"]) {
        yield* direct.runTurn({ server: "main", sessionId, session: {}, content: "write 20 words" })
      }
      yield* direct.sessions.delete({ server: "main", sessionId: "c" })
      const events = yield* client.followServer({ server: "main", after: 0 }).pipe(
        Stream.takeUntil((event) => event.type === "session.deleted"),
        Stream.runCollect
      )
      const rows = Chunk.toReadonlyArray(events).filter(
        (event) => "at" in event && !(event.type === "session.created" && event.replayed === true)
      )
      const positions = rows.map((event) => event.serverCursor)
      expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b))
      const created = Chunk.toReadonlyArray(events).flatMap((event) =>
        event.type === "session.created" ? [event.sessionId] : []
      )
      expect([...new Set(created)].sort()).toEqual(["a", "b", "c"])
      expect(breaking.broken()).toBeGreaterThan(0)
    })
  )

  it.scopedLive("a server that does not come back is a typed error, not silence", () =>
    Effect.gen(function* () {
      const server = yield* realServer()
      const client = yield* HarnessClient.make(server)
      const running = yield* Deferred.make<void>()
      const fiber = yield* client
        .runTurn({
          ...session,
          session: {},
          content: "wait 60000",
          maxDowntime: "1 second",
          onEvent: () => Deferred.succeed(running, undefined)
        })
        .pipe(Effect.flip, Effect.fork)
      yield* Deferred.await(running)
      yield* server.kill
      expect(yield* Fiber.join(fiber)).toMatchObject({ _tag: "Disconnected", reason: "down" })
    })
  )
})
