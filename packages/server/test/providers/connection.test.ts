import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Queue, Redacted, Stream, TestClock } from "effect"
import { streamOf } from "../../src/providers/answer.ts"
import type { ModelEvent, ModelFailure, ResolvedModel } from "../../src/providers/Model.ts"
import { makeGate, type ScriptedModel, type Step, says } from "../kit/scriptedModel.ts"
import { ask, breathe, collect, openaiOver, scripted, textOf } from "./support.ts"

/** Starts a generation and hands back the fiber once the model has said something. */
const startAndHear = (model: ResolvedModel) =>
  Effect.gen(function* () {
    const heard = yield* Deferred.make<void>()
    const events: Array<ModelEvent> = []
    const fiber = yield* streamOf(model.generate(ask())).pipe(
      Stream.runForEach((event) => {
        events.push(event)
        return Deferred.succeed(heard, undefined)
      }),
      Effect.fork
    )
    yield* Deferred.await(heard)
    return { fiber, events }
  })

/** Tells of each piece that a connection brings, until the test is over. */
const counting = (arrived: Queue.Enqueue<void>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const { fetch } = globalThis
      globalThis.fetch = (input, init) =>
        fetch(input, init).then((response) => {
          const tap = new TransformStream<Uint8Array, Uint8Array>({
            transform(bytes, controller) {
              controller.enqueue(bytes)
              arrived.unsafeOffer(undefined)
            }
          })
          return new Response(response.body?.pipeThrough(tap) ?? null, response)
        })
      return fetch
    }),
    (fetch) =>
      Effect.sync(() => {
        globalThis.fetch = fetch
      })
  )

/** Moves the test's clock on, step by step, until the fiber has ended; tells how many seconds that took. */
const secondsUntilDone = <A, E>(fiber: Fiber.RuntimeFiber<A, E>, most: number, step = 1) =>
  Effect.gen(function* () {
    for (let seconds = 0; seconds <= most; seconds += step) {
      for (let turns = 0; turns < 20; turns++) yield* breathe
      if ((yield* Fiber.poll(fiber))._tag === "Some") return seconds
      yield* TestClock.adjust(step * 1_000)
    }
    return yield* Effect.dieMessage(`still running after ${most} s`)
  })

const closedWithin = (stub: ScriptedModel, millis: number) =>
  Effect.promise(async () => {
    const from = performance.now()
    const request = await stub.request(0)
    const closed = await request.closed
    assert.isTrue(closed.aborted)
    assert.isBelow(closed.at - from, millis)
  })

const failureOf = <A>(exit: Exit.Exit<A, ModelFailure>) =>
  Exit.match(exit, {
    onFailure: (cause) => (cause._tag === "Fail" ? cause.error.failure : undefined),
    onSuccess: () => undefined
  })

describe("the connection to a provider", () => {
  it.scoped.each([
    ["before the headers", [{ type: "stall", headers: false }]],
    ["after the headers", [{ type: "stall", headers: true }]]
  ] as const)("interrupting %s closes it at once", ([, steps]) =>
    Effect.gen(function* () {
      const stub = yield* scripted(() => [...steps] satisfies ReadonlyArray<Step>)
      const fiber = yield* Effect.fork(collect(yield* openaiOver(stub)))
      yield* Effect.promise(() => stub.request(0))
      yield* Fiber.interrupt(fiber)
      yield* closedWithin(stub, 1_000)
    })
  )

  it.scoped("interrupting in the middle of an answer closes it at once", () =>
    Effect.gen(function* () {
      const stub = yield* scripted(() => [
        { type: "text", text: "one" },
        { type: "stall", headers: true }
      ])
      const { fiber } = yield* startAndHear(yield* openaiOver(stub))
      yield* Fiber.interrupt(fiber)
      yield* closedWithin(stub, 1_000)
    })
  )

  it.scoped("a reader that takes only the beginning closes it too", () =>
    Effect.gen(function* () {
      const stub = yield* scripted(() => [
        { type: "text", text: "one" },
        { type: "stall", headers: true }
      ])
      const model = yield* openaiOver(stub)
      yield* Stream.runDrain(Stream.take(streamOf(model.generate(ask())), 1))
      yield* closedWithin(stub, 1_000)
    })
  )

  it.scoped.each([
    ["nothing", [{ type: "stall", headers: false }]],
    ["headers, then nothing", [{ type: "stall", headers: true }]],
    [
      "one token, then nothing",
      [
        { type: "text", text: "one" },
        { type: "stall", headers: true }
      ]
    ]
  ] as const)("%s: fails as stalled after the stated time, and closes", ([, steps]) =>
    Effect.gen(function* () {
      const stub = yield* scripted(() => [...steps] satisfies ReadonlyArray<Step>)
      const fiber = yield* Effect.fork(collect(yield* openaiOver(stub)))
      yield* Effect.promise(() => stub.request(0))
      const seconds = yield* secondsUntilDone(fiber, 300)
      assert.isAtLeast(seconds, 120)
      assert.isBelow(seconds, 130)
      assert.deepInclude(failureOf(yield* Fiber.await(fiber)), {
        kind: "transient",
        code: "provider.stalled",
        retryable: true
      })
      yield* closedWithin(stub, 1_000)
    })
  )

  it.scoped("slow is not stalled: a few bytes now and then go on", () =>
    Effect.gen(function* () {
      const chunk = { id: "x", choices: [{ index: 0, delta: { content: "slow" }, finish_reason: "stop" }] }
      const pieces = `data: ${JSON.stringify(chunk)}\n\n`.match(/[\s\S]{1,3}/g) ?? []
      const doors = pieces.map((bytes) => ({ bytes, gate: makeGate() }))
      const stub = yield* scripted(() => [
        { type: "head" },
        ...doors.flatMap(
          ({ bytes, gate }): ReadonlyArray<Step> => [
            { type: "pause", gate },
            { type: "raw", bytes }
          ]
        )
      ])
      const arrived = yield* Queue.bounded<void>(doors.length + 1)
      yield* counting(arrived)
      const fiber = yield* Effect.fork(collect(yield* openaiOver(stub)))
      for (const { gate } of doors) {
        yield* Effect.promise(() => gate.isReached)
        // Far beyond the limit in all, never beyond it in one go.
        yield* TestClock.adjust("100 seconds")
        gate.open()
        yield* Queue.take(arrived)
        for (let turns = 0; turns < 20; turns++) yield* breathe
      }
      assert.strictEqual(textOf(yield* Fiber.join(fiber)), "slow")
    })
  )

  it.scoped("a reader that is slow itself is not taken for a stalled provider", () =>
    Effect.gen(function* () {
      const stub = yield* scripted(() => says("a", "b", "c"))
      const model = yield* openaiOver(stub)
      const fiber = yield* streamOf(model.generate(ask())).pipe(
        Stream.tap(() => Effect.sleep("10 minutes")),
        Stream.runCollect,
        Effect.fork
      )
      const seconds = yield* secondsUntilDone(fiber, 4 * 600 + 100, 50)
      assert.isAtLeast(seconds, 4 * 600)
      assert.isTrue(Exit.isSuccess(yield* Fiber.await(fiber)))
    })
  )

  it.scoped("a reset in the middle is transient, and what came before it was given", () =>
    Effect.gen(function* () {
      const gate = makeGate()
      const stub = yield* scripted(() => [{ type: "text", text: "half" }, { type: "pause", gate }, { type: "reset" }])
      const { events, fiber } = yield* startAndHear(yield* openaiOver(stub))
      gate.open()
      const failure = failureOf(yield* Fiber.await(fiber))
      assert.deepInclude(failure, { kind: "transient", code: "provider.connection_lost" })
      assert.strictEqual(textOf(events), "half")
    })
  )

  it.scoped("a reset before anything is transient", () =>
    Effect.gen(function* () {
      const stub = yield* scripted(() => [{ type: "reset" }])
      const { failure } = yield* Effect.flip(collect(yield* openaiOver(stub)))
      assert.deepInclude(failure, { kind: "transient", retryable: true })
    })
  )

  it.scoped("an answer that ends without saying why was cut, and half a call is never given", () =>
    Effect.gen(function* () {
      const stub = yield* scripted(() => [
        { type: "text", text: "half" },
        { type: "toolCall", id: "c", name: "write", arguments: '{"path":' },
        { type: "cut" }
      ])
      const events: Array<ModelEvent> = []
      const model = yield* openaiOver(stub)
      const { failure } = yield* streamOf(model.generate(ask())).pipe(
        Stream.runForEach((event) => Effect.sync(() => events.push(event))),
        Effect.flip
      )
      assert.deepInclude(failure, { kind: "transient", code: "provider.cut" })
      assert.strictEqual(textOf(events), "half")
      assert.isTrue(events.every((event) => event._tag === "Text"))
    })
  )

  it.scoped("a redirect is not followed: the key stays here", () =>
    Effect.gen(function* () {
      const other = yield* scripted()
      const stub = yield* scripted(() => [
        { type: "status", status: 307, body: "", headers: { location: `${other.url}/chat/completions` } }
      ])
      const model = yield* openaiOver(stub, { openaiApiKey: Redacted.make("sk-key-of-ours") })
      const { failure } = yield* Effect.flip(collect(model))
      assert.strictEqual(failure.code, "provider.redirected")
      assert.lengthOf(other.requests, 0)
    })
  )
})
