import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream, TestClock } from "effect"
import { streamOf } from "../../src/providers/answer.ts"
import { demoModel } from "../../src/providers/demo.ts"
import { CONTINUE_NUDGE, type ModelEvent, type ModelMessage } from "../../src/providers/Model.ts"
import { call, result } from "./messages.ts"
import { ask, callsOf, collect, finishOf, textOf, user } from "./support.ts"

const reply = (...messages: ReadonlyArray<ModelMessage>) => collect(demoModel, ask(...messages))
const assistant = (text: string): ModelMessage => ({ role: "assistant", content: [{ type: "text", text }] })
const words = (count: number) => Array.from({ length: count }, (_, at) => `w${at + 1}`).join(" ")

describe("demo/demo", () => {
  it.effect("echoes in a few deltas, and counts words", () =>
    Effect.gen(function* () {
      const events = yield* reply(user("hello wide 🌍 world"))
      assert.strictEqual(textOf(events), "hello wide 🌍 world")
      assert.isAbove(events.filter((event) => event._tag === "Text").length, 1)
      for (const event of events) if ("delta" in event) assert.notMatch(event.delta, /\p{Surrogate}/u)
      assert.deepStrictEqual(finishOf(events), {
        _tag: "Finish",
        finishReason: "stop",
        nativeStopReason: "stop",
        usage: { inputTokens: 4, outputTokens: 4 },
        warnings: []
      })
      assert.deepStrictEqual(yield* reply(user("hello wide 🌍 world")), events)
    })
  )

  it.effect("use TOOL {json} is a call, several lines are parallel calls, other lines are said first", () =>
    Effect.gen(function* () {
      const events = yield* reply(user('first this\nuse read {"path":"a b"}\nuse my_tool {"n": 1}'))
      assert.strictEqual(textOf(events), "first this")
      assert.deepStrictEqual(
        callsOf(events).map(({ argumentsText, name }) => [name, argumentsText]),
        [
          ["read", '{"path":"a b"}'],
          ["my_tool", '{"n": 1}']
        ]
      )
      assert.strictEqual(new Set(callsOf(events).map((item) => item.providerCallId)).size, 2)
      assert.strictEqual(finishOf(events).finishReason, "tool_calls")
      assert.strictEqual(textOf(yield* reply(user("use your head"))), "use your head")
    })
  )

  it.effect("names the results, in order, failures as failures", () =>
    Effect.gen(function* () {
      const events = yield* reply(
        user("use read {}\nuse list {}"),
        { role: "assistant", content: [call(1, "read", {}), call(2, "list", {})] },
        result(1, "read", "the content"),
        { ...result(2, "list", "denied"), isError: true }
      )
      assert.strictEqual(textOf(events), "read said: the content\nlist failed: denied")
      assert.lengthOf(callsOf(events), 0)
    })
  )

  it.effect("a steer after results is what it answers", () =>
    Effect.gen(function* () {
      const step: ModelMessage = { role: "assistant", content: [call(1, "read", {})] }
      assert.strictEqual(textOf(yield* reply(user("use read {}"), step, result(1, "read", "x"), user("stop"))), "stop")
    })
  )

  it.effect("think … reasons first", () =>
    Effect.gen(function* () {
      const events = yield* reply(user("think use read {}"))
      assert.strictEqual(textOf(events, "Reasoning"), "Thinking about: use read {}")
      assert.deepStrictEqual(
        [...new Set(events.map((event) => event._tag))],
        ["Reasoning", "ReasoningEnd", "Call", "Finish"]
      )
    })
  )

  it.effect.each([
    ["fail", "permanent", false],
    ["fail transient", "transient", true],
    ["fail rate", "rate_limited", true],
    ["fail auth", "auth_expired", false],
    ["fail overflow", "context_overflow", false]
  ] as const)("%s fails as %s", ([prompt, kind, retryable]) =>
    Effect.gen(function* () {
      const { failure } = yield* Effect.flip(reply(user(prompt)))
      assert.deepInclude(failure, { kind, retryable })
    })
  )

  it.effect("refuse refuses", () =>
    Effect.gen(function* () {
      const events = yield* reply(user("refuse"))
      assert.strictEqual(textOf(events, "Refusal"), "I will not do that.")
      assert.strictEqual(finishOf(events).finishReason, "content_filter")
    })
  )

  it.effect("wait N … says nothing for N ms, then takes the rest as the prompt", () =>
    Effect.gen(function* () {
      const events: Array<ModelEvent> = []
      const fiber = yield* streamOf(demoModel.generate(ask(user("wait 500 write 2 words")))).pipe(
        Stream.runForEach((event) => Effect.sync(() => events.push(event))),
        Effect.fork
      )
      yield* TestClock.adjust("499 millis")
      assert.lengthOf(events, 0)
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(fiber)
      assert.strictEqual(textOf(events), "w1 w2")
    })
  )

  it.effect("write N words every M ms: one delta each, M apart", () =>
    Effect.gen(function* () {
      const events: Array<ModelEvent> = []
      const fiber = yield* streamOf(demoModel.generate(ask(user("write 3 words every 100 ms")))).pipe(
        Stream.runForEach((event) => Effect.sync(() => events.push(event))),
        Effect.fork
      )
      for (const expected of ["w1", "w1 w2", "w1 w2 w3"]) {
        yield* TestClock.adjust(expected === "w1" ? 0 : 100)
        yield* Effect.yieldNow()
        assert.strictEqual(textOf(events), expected)
      }
      yield* Fiber.join(fiber)
      assert.strictEqual(events.filter((event) => event._tag === "Text").length, 3)
    })
  )

  it.effect("wherever a cut falls, going on gives exactly the rest", () =>
    Effect.gen(function* () {
      const full = words(100)
      for (let at = 1; at <= full.length; at += 7) {
        const events = yield* reply(user("write 100 words"), assistant(full.slice(0, at)), user(CONTINUE_NUDGE))
        assert.strictEqual(full.slice(0, at) + textOf(events), full)
      }
    })
  )

  it.effect("going on twice, and after a call, is exact too", () =>
    Effect.gen(function* () {
      const twice = yield* reply(
        user("write 5 words"),
        assistant("w1 w"),
        user(CONTINUE_NUDGE),
        assistant("2 w3"),
        user(CONTINUE_NUDGE)
      )
      assert.strictEqual(textOf(twice), " w4 w5")
      const answered = yield* reply(
        user("use read {}"),
        { role: "assistant", content: [call(1, "read", {})] },
        result(1, "read", "the content"),
        assistant("read sa"),
        user(`${CONTINUE_NUDGE} Thank you.`)
      )
      assert.strictEqual(textOf(answered), "id: the content")
      const called = yield* reply(user("first\nuse read {}"), assistant("fir"), user(CONTINUE_NUDGE))
      assert.strictEqual(textOf(called), "st")
      assert.lengthOf(callsOf(called), 1)
    })
  )
})
