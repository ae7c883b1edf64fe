import { assert, describe, it } from "@effect/vitest"
import { type PutWebhookRequestValue, SessionId, WebhookId } from "@harness/protocol"
import { Effect, Exit, Layer, Scope, TestClock } from "effect"
import { Deliveries, GIVE_UP_MILLIS } from "../../src/hooks/Deliveries.ts"
import { OutboxRepo } from "../../src/hooks/OutboxRepo.ts"
import { Webhooks } from "../../src/hooks/Webhooks.ts"
import { CommitRoom } from "../../src/log/Commit.ts"
import { Database } from "../../src/storage/Sqlite.ts"
import { isSigned, json, type Received, type Reply, receiver, silence, status } from "./receiver.ts"
import { freshData, happened, webhooksLayer } from "./server.ts"

const bell = WebhookId.make("bell")
const fresh = Layer.unwrapScoped(Effect.map(freshData, webhooksLayer))

const shown = ({ json }: Received) => `${json.sessionId}/${json.turnId} ${json.type}`

/** A webhook that leads to a receiver of this test. */
const listening = (request: Partial<PutWebhookRequestValue> = {}, reply: Reply = status(204)) =>
  Effect.gen(function* () {
    const there = yield* receiver
    there.on("/bell", reply)
    const webhooks = yield* Webhooks
    const { secret = "" } = yield* webhooks.put(bell, { url: `${there.url}/bell`, ...request })
    return { there, webhooks, secret }
  })

/** Lets sockets be read: time here stands still. */
const turnOfTheLoop = Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void)))

const waitingCount = Effect.flatMap(Database, ({ read }) =>
  Effect.map(Effect.orDie(read<{ n: number }>("SELECT count(*) AS n FROM outbox")), ([row]) => row?.n ?? 0)
)

const untilWaiting = (n: number) =>
  Effect.repeat(turnOfTheLoop, { until: () => Effect.map(waitingCount, (now) => now === n) })

describe("webhooks", () => {
  it.scoped("are told of a turn's start and end, signed, each under an id of its own", () =>
    Effect.gen(function* () {
      const { secret, there } = yield* listening()
      yield* happened("s", "t", "turn.started")
      const started = yield* there.next
      yield* happened("s", "t", "turn.completed", {
        outcome: { stopReason: "end", result: { n: 1 }, usage: { inputTokens: 3 }, finalText: "not told" }
      })
      const completed = yield* there.next
      assert.deepEqual(started.json, {
        type: "turn.started",
        sessionId: "s",
        turnId: "t",
        state: "running",
        cursor: 2,
        serverCursor: 1
      })
      assert.deepEqual(completed.json, {
        type: "turn.completed",
        sessionId: "s",
        turnId: "t",
        state: "completed",
        stopReason: "end",
        result: { n: 1 },
        usage: { inputTokens: 3 },
        cursor: 3,
        serverCursor: 2
      })
      assert.isTrue(isSigned(started, secret))
      assert.isTrue(isSigned(completed, secret))
      assert.notStrictEqual(started.headers["webhook-id"], completed.headers["webhook-id"])
    }).pipe(Effect.provide(fresh))
  )

  it.scoped("hear what they asked for and nothing else, as it was asked for at the time", () =>
    Effect.gen(function* () {
      const there = yield* receiver
      const webhooks = yield* Webhooks
      const filters: Record<string, Partial<PutWebhookRequestValue>> = {
        "/ends": { events: ["turn.completed"] },
        "/one": { sessionId: SessionId.make("s1") },
        "/children": { parentSessionId: SessionId.make("s1") },
        "/none": { events: [] },
        "/both": { sessionId: SessionId.make("c"), parentSessionId: SessionId.make("s2") }
      }
      for (const [path, filter] of Object.entries(filters)) {
        yield* webhooks.put(WebhookId.make(path.slice(1)), { url: there.url + path, ...filter })
      }
      yield* happened("s1", "t", "turn.started")
      yield* happened("c", "t", "turn.started", { parent: "s1" })
      yield* happened("c", "t", "turn.completed")
      for (let n = 0; n < 4; n++) yield* there.next
      assert.deepEqual(there.received.map((one) => `${one.path} ${shown(one)}`).toSorted(), [
        "/children c/t turn.completed",
        "/children c/t turn.started",
        "/ends c/t turn.completed",
        "/one s1/t turn.started"
      ])
      assert.strictEqual(there.received.find(({ path }) => path === "/children")?.json.parentSessionId, "s1")
    }).pipe(Effect.provide(fresh))
  )

  it.scoped("whatever fails how often: each session's events come in order, each at least once, under one id", () =>
    Effect.gen(function* () {
      let n = 0
      const flaky: Reply = (response, request) => {
        n++
        if (n % 3 === 1) return status(500)(response, request)
        if (n % 7 === 2) return void response.destroy()
        if (n % 11 === 3) return status(302, { location: "/elsewhere" })(response, request)
        return json({})(response, request)
      }
      const { there } = yield* listening({}, flaky)
      const expected = new Map<string, Array<string>>()
      for (let turn = 0; turn < 3; turn++) {
        for (const session of ["a", "b", "c", "d"]) {
          yield* happened(session, `t${turn}`, "turn.started")
          yield* happened(session, `t${turn}`, "turn.completed")
          const line = [`${session}/t${turn} turn.started`, `${session}/t${turn} turn.completed`]
          expected.set(session, [...(expected.get(session) ?? []), ...line])
        }
      }
      const { flying } = yield* Deliveries
      while ((yield* waitingCount) > 0) yield* flying() > 0 ? turnOfTheLoop : TestClock.adjust("3 seconds")
      for (const [session, line] of expected) {
        const told = there.received.filter(({ json }) => json.sessionId === session).map(shown)
        assert.deepEqual(
          told.filter((one, index) => one !== told[index - 1]),
          line
        )
        assert.isAbove(told.length, line.length)
      }
      const ids = new Map<string, Set<unknown>>()
      for (const one of there.received) {
        ids.set(shown(one), (ids.get(shown(one)) ?? new Set()).add(one.headers["webhook-id"]))
      }
      for (const [event, of] of ids) assert.strictEqual(of.size, 1, event)
    }).pipe(Effect.provide(fresh))
  )

  it.scoped("one that is silent holds up nobody else", () =>
    Effect.gen(function* () {
      const { there, webhooks } = yield* listening({}, silence)
      yield* webhooks.put(WebhookId.make("other"), { url: `${there.url}/other` })
      for (let n = 0; n < 40; n++) yield* happened(`s${n}`, "t", "turn.started")
      const others = () => there.received.filter(({ path }) => path === "/other")
      while (others().length < 40) yield* there.next
      assert.isAtMost(there.received.length - others().length, 4)
      yield* untilWaiting(40)
    }).pipe(Effect.provide(fresh))
  )

  it.scoped("what was not told goes on after a restart, and is given up after a day", () =>
    Effect.gen(function* () {
      const there = yield* receiver
      there.on("/bell", status(503))
      const folder = yield* freshData
      const during = <A, E, R>(use: Effect.Effect<A, E, R>) =>
        Effect.gen(function* () {
          const scope = yield* Scope.make()
          const context = yield* Layer.buildWithScope(webhooksLayer(folder), scope)
          const result = yield* Effect.provide(use, context)
          yield* Scope.close(scope, Exit.void)
          return result
        })
      yield* during(
        Effect.gen(function* () {
          yield* (yield* Webhooks).put(bell, { url: `${there.url}/bell`, secret: "whsec_c2VjcmV0" })
          yield* happened("s", "t1", "turn.started")
          yield* there.next
        })
      )
      yield* TestClock.setTime(GIVE_UP_MILLIS / 2)
      yield* during(
        Effect.gen(function* () {
          yield* happened("s", "t1", "turn.completed")
          assert.strictEqual(shown(yield* there.next), "s/t1 turn.started")
        })
      )
      yield* TestClock.setTime(GIVE_UP_MILLIS + 5_000)
      there.on("/bell", (response, request) =>
        status(shown(request) === "s/t1 turn.started" ? 503 : 204)(response, request)
      )
      yield* during(
        Effect.gen(function* () {
          assert.strictEqual(shown(yield* there.next), "s/t1 turn.started")
          assert.strictEqual(shown(yield* there.next), "s/t1 turn.completed")
          yield* untilWaiting(0)
        })
      )
    })
  )

  it.scoped("are told again what happened after a position, in order and under the same ids", () =>
    Effect.gen(function* () {
      const { there, webhooks } = yield* listening({ events: ["turn.completed"] })
      for (let n = 1; n <= 3; n++) {
        yield* happened("s", `t${n}`, "turn.started")
        yield* happened("s", `t${n}`, "turn.completed", { outcome: { stopReason: "end", result: n, usage: {} } })
        yield* there.next
      }
      yield* untilWaiting(0)
      const first = there.received.splice(0)
      assert.deepEqual(yield* webhooks.redeliver(bell, first[0]?.json.serverCursor), { webhookId: bell, deliveries: 2 })
      yield* there.next
      yield* there.next
      assert.deepEqual(
        there.received.map(({ headers, json }) => [headers["webhook-id"], json]),
        first.slice(1).map(({ headers, json }) => [headers["webhook-id"], json])
      )
      const ahead = yield* Effect.flip(webhooks.redeliver(bell, 99))
      assert.deepInclude(ahead, { code: "cursor.ahead", details: { head: 6 } })
      const unknown = yield* Effect.flip(webhooks.redeliver(WebhookId.make("nobody"), 0))
      assert.strictEqual(unknown.code, "webhook.not_found")
    }).pipe(Effect.provide(fresh))
  )

  it.scoped("a changed address is tried at once; a webhook that is taken away is told nothing more", () =>
    Effect.gen(function* () {
      const { there, webhooks } = yield* listening({}, status(500))
      yield* happened("s", "t", "turn.started")
      yield* there.next
      yield* webhooks.put(bell, { url: `${there.url}/better` })
      assert.strictEqual((yield* there.next).path, "/better")
      yield* webhooks.put(bell, { url: `${there.url}/bell` })
      yield* happened("s", "t", "turn.completed")
      yield* there.next
      assert.deepEqual(yield* webhooks.remove(bell), { webhookId: bell, removed: true })
      assert.strictEqual(yield* waitingCount, 0)
      assert.deepEqual(yield* webhooks.remove(bell), { webhookId: bell, removed: false })
    }).pipe(Effect.provide(fresh))
  )

  it.scoped("a deleted session's events are told without what its turns said", () =>
    Effect.gen(function* () {
      const { there } = yield* listening({}, status(500))
      yield* happened("s", "t", "turn.completed", { outcome: { stopReason: "end", result: "secret", usage: {} } })
      yield* there.next
      there.on("/bell", status(204))
      const room = yield* CommitRoom
      yield* room.commit<unknown, never>((tx) => OutboxRepo.forget(tx, "s"))
      yield* TestClock.adjust("2 seconds")
      const { json } = yield* there.next
      assert.deepInclude(json, { type: "turn.completed", stopReason: "end" })
      assert.notProperty(json, "result")
    }).pipe(Effect.provide(fresh))
  )

  it.scoped("are listed without their secrets, and refuse what cannot be called", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const put = yield* webhooks.put(bell, { url: "https://hooks.example/", events: ["turn.started"] })
      assert.match(put.secret ?? "", /^whsec_/)
      assert.notProperty(yield* webhooks.put(bell, { url: "https://hooks.example/" }), "secret")
      assert.deepEqual(yield* webhooks.list("", 1), {
        webhooks: [{ webhookId: bell, url: "https://hooks.example/" }],
        next: null
      })
      assert.strictEqual(
        (yield* Effect.flip(webhooks.put(bell, { url: "mailto:a@b.example" }))).code,
        "request.invalid"
      )
    }).pipe(Effect.provide(fresh))
  )
})
