import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Exit, Fiber, Queue, Stream, TestClock } from "effect"
import { streamOf } from "../../src/providers/answer.ts"
import { modelFailure } from "../../src/providers/failure.ts"
import type { ModelEvent, ModelFailure } from "../../src/providers/Model.ts"
import { type Retry, withRetries } from "../../src/providers/retry.ts"
import { fails, says } from "../kit/scriptedModel.ts"
import { ask, openaiOver, scripted, textOf } from "./support.ts"

const text: ModelEvent = { _tag: "Text", block: "b", delta: "hi" }
const transient = modelFailure("transient", "t", "again")
const limited = (millis?: number) => modelFailure("rate_limited", "r", "slow", millis)

/** Runs these tries one after another under retries, the test's clock moving on as far as each retry asks. */
const run = (tries: ReadonlyArray<Stream.Stream<ModelEvent, ModelFailure>>) =>
  Effect.gen(function* () {
    let asked = 0
    const retries: Array<Retry> = []
    const told = yield* Queue.bounded<Retry>(4)
    const answer = withRetries(() => Stream.toPull(tries[asked++] ?? Stream.die("asked too often")), {
      onRetry: (retry) => Queue.offer(told, retry),
      baseMillis: 100
    })
    const fiber = yield* Effect.fork(Stream.runCollect(streamOf(answer)))
    const over = Effect.as(Fiber.await(fiber), undefined)
    for (;;) {
      const retry = yield* Effect.raceFirst(Queue.take(told), over)
      if (retry === undefined) break
      retries.push(retry)
      yield* TestClock.adjust(retry.delayMillis - 1)
      assert.strictEqual(asked, retry.attempt, "asked before its time")
      yield* TestClock.adjust(1)
    }
    return { asked, retries, exit: yield* Fiber.await(fiber) }
  })

describe("retries", () => {
  it.effect("what may pass is asked again, three times in all, waiting longer each time", () =>
    Effect.gen(function* () {
      const { asked, exit, retries } = yield* run([
        Stream.fail(transient),
        Stream.fail(limited()),
        Stream.fail(transient)
      ])
      assert.strictEqual(asked, 3)
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(
        retries.map((retry) => retry.attempt),
        [1, 2]
      )
      const [first, second] = retries.map((retry) => retry.delayMillis)
      assert.isTrue(first !== undefined && first >= 50 && first <= 150)
      assert.isTrue(second !== undefined && second >= 100 && second <= 300)
    })
  )

  it.effect("an answer after a failure is the answer", () =>
    Effect.gen(function* () {
      const { asked, exit, retries } = yield* run([Stream.fail(transient), Stream.make(text)])
      assert.strictEqual(asked, 2)
      assert.strictEqual(retries[0]?.failure.code, "t")
      assert.isTrue(Exit.isSuccess(exit) && textOf(Chunk.toReadonlyArray(exit.value)) === "hi")
    })
  )

  it.effect("once something was said, nothing is asked again", () =>
    Effect.gen(function* () {
      const { asked, exit } = yield* run([Stream.concat(Stream.make(text), Stream.fail(transient))])
      assert.strictEqual(asked, 1)
      assert.isTrue(Exit.isFailure(exit))
    })
  )

  it.effect("what cannot pass is not asked again", () =>
    Effect.gen(function* () {
      for (const kind of ["permanent", "auth_expired", "context_overflow"] as const) {
        const { asked } = yield* run([Stream.fail(modelFailure(kind, "x", "no"))])
        assert.strictEqual(asked, 1)
      }
    })
  )

  it.effect("a provider's own delay is kept; one beyond the bound is a failure at once", () =>
    Effect.gen(function* () {
      const { retries } = yield* run([Stream.fail(limited(7_000)), Stream.make(text)])
      assert.strictEqual(retries[0]?.delayMillis, 7_000)
      const { asked } = yield* run([Stream.fail(limited(3_600_000))])
      assert.strictEqual(asked, 1)
    })
  )

  it.scopedLive("two errors, then an answer, over HTTP", () =>
    Effect.gen(function* () {
      const stub = yield* scripted((_, index) => (index < 2 ? fails(500, { message: "oops" }) : says("fine")))
      const model = yield* openaiOver(stub)
      const retries: Array<Retry> = []
      const events = yield* Stream.runCollect(
        streamOf(
          withRetries(() => model.generate(ask()), {
            onRetry: (retry) => Effect.sync(() => retries.push(retry)),
            baseMillis: 1
          })
        )
      )
      assert.strictEqual(textOf(Chunk.toReadonlyArray(events)), "fine")
      assert.lengthOf(stub.requests, 3)
      assert.lengthOf(retries, 2)
    })
  )
})
