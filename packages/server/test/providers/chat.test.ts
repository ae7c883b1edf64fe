import { assert, describe, it } from "@effect/vitest"
import { Effect, Predicate, Stream } from "effect"
import { streamOf } from "../../src/providers/answer.ts"
import { callsFor, makeGate, type Step, says } from "../kit/scriptedModel.ts"
import { ask, callsOf, collect, finishOf, openaiOver, said, scripted, textOf, user } from "./support.ts"

const finish = (reason: string): Step => ({ type: "finish", reason })

describe("Chat Completions", () => {
  it.scoped("text comes in deltas of one block, then one finish with what the provider counted", () =>
    Effect.gen(function* () {
      const events = yield* said(() => says("Hel", "lo", " there"))
      assert.deepStrictEqual(
        events.map((event) => event._tag),
        ["Text", "Text", "Text", "Finish"]
      )
      assert.strictEqual(new Set(events.flatMap((event) => ("block" in event ? [event.block] : []))).size, 1)
      assert.strictEqual(textOf(events), "Hello there")
      assert.deepStrictEqual(finishOf(events), {
        _tag: "Finish",
        finishReason: "stop",
        nativeStopReason: "stop",
        usage: { inputTokens: 10, outputTokens: 3 },
        warnings: []
      })
    })
  )

  it.scoped("a delta arrives before the answer is over", () =>
    Effect.gen(function* () {
      const gate = makeGate()
      const stub = yield* scripted(() => [
        { type: "text", text: "first" },
        { type: "pause", gate },
        { type: "text", text: " second" },
        finish("stop")
      ])
      const model = yield* openaiOver(stub)
      const seen: Array<string> = []
      yield* streamOf(model.generate(ask())).pipe(
        Stream.runForEach((event) =>
          Effect.sync(() => {
            if (event._tag === "Text") seen.push(event.delta)
            // Only the first delta can open the way to the second.
            if (seen.length === 1) gate.open()
          })
        )
      )
      assert.deepStrictEqual(seen, ["first", " second"])
    })
  )

  it.scoped("numbers nobody reported are absent, those reported as 0 are 0", () =>
    Effect.gen(function* () {
      const none = yield* said(() => [{ type: "text", text: "x" }, finish("stop")])
      assert.deepStrictEqual(finishOf(none).usage, {})
      const full = yield* said(() => [
        { type: "text", text: "x" },
        finish("stop"),
        {
          type: "usage",
          usage: {
            prompt_tokens: 9,
            completion_tokens: 4,
            prompt_tokens_details: { cached_tokens: 0 },
            completion_tokens_details: { reasoning_tokens: 3 }
          }
        }
      ])
      assert.deepStrictEqual(finishOf(full).usage, {
        inputTokens: 9,
        outputTokens: 4,
        cacheReadTokens: 0,
        reasoningTokens: 3
      })
    })
  )

  it.scoped("reasoning is told apart from text and ends before it", () =>
    Effect.gen(function* () {
      const events = yield* said(() => [
        { type: "reasoning", text: "let me " },
        { type: "reasoning", text: "see" },
        { type: "text", text: "42" },
        finish("stop")
      ])
      assert.deepStrictEqual(
        events.map((event) => event._tag),
        ["Reasoning", "Reasoning", "ReasoningEnd", "Text", "Finish"]
      )
      assert.strictEqual(textOf(events, "Reasoning"), "let me see")
    })
  )

  it.scoped("reasoning that comes back after text is a block of its own", () =>
    Effect.gen(function* () {
      const events = yield* said(() => [
        { type: "reasoning", text: "a" },
        { type: "text", text: "b" },
        { type: "reasoning", text: "c" },
        { type: "text", text: "d" },
        finish("stop")
      ])
      const blocks = events.flatMap((event) =>
        event._tag === "Text" || event._tag === "Reasoning" ? [event.block] : []
      )
      assert.strictEqual(new Set(blocks).size, 4)
    })
  )

  it.scoped("a refusal is a refusal, not text", () =>
    Effect.gen(function* () {
      const events = yield* said(() => [
        { type: "text", text: "Well. " },
        { type: "refusal", text: "I will " },
        { type: "refusal", text: "not." },
        finish("stop")
      ])
      assert.strictEqual(textOf(events), "Well. ")
      assert.strictEqual(textOf(events, "Refusal"), "I will not.")
      assert.strictEqual(finishOf(events).finishReason, "content_filter")
      assert.strictEqual(finishOf(events).nativeStopReason, "stop")
    })
  )

  it.scoped("a call is given whole, its arguments as the model wrote them", () =>
    Effect.gen(function* () {
      const events = yield* said(() => [
        { type: "toolCall", id: "call_a", name: "read", arguments: ['{"pa', 'th" : ', '"x"}'] },
        finish("tool_calls")
      ])
      assert.deepStrictEqual(callsOf(events), [
        { _tag: "Call", providerCallId: "call_a", name: "read", argumentsText: '{"path" : "x"}' }
      ])
      assert.strictEqual(finishOf(events).finishReason, "tool_calls")
    })
  )

  it.scoped("parallel calls keep their order; repeated and empty ids are told apart", () =>
    Effect.gen(function* () {
      const events = yield* said(() =>
        callsFor(["a", { n: 1 }, "call_0"], ["b", { n: 2 }, "call_0"], ["c", { n: 3 }, ""])
      )
      const calls = callsOf(events)
      assert.deepStrictEqual(
        calls.map((call) => [call.name, call.argumentsText]),
        [
          ["a", '{"n":1}'],
          ["b", '{"n":2}'],
          ["c", '{"n":3}']
        ]
      )
      assert.strictEqual(new Set(calls.map((call) => call.providerCallId)).size, 3)
    })
  )

  it.scoped("arguments cut by the token limit are given as far as they came, with the reason", () =>
    Effect.gen(function* () {
      const events = yield* said(() => [
        { type: "toolCall", id: "call_a", name: "write", arguments: ['{"path":"a",', '"content":"abc'] },
        finish("length")
      ])
      assert.strictEqual(callsOf(events)[0]?.argumentsText, '{"path":"a","content":"abc')
      assert.strictEqual(finishOf(events).finishReason, "length")
    })
  )

  it.scoped("calls count as calls whatever reason the provider gives", () =>
    Effect.gen(function* () {
      const events = yield* said(() => [
        { type: "toolCall", id: "call_a", name: "list", arguments: "{}" },
        finish("stop")
      ])
      assert.strictEqual(finishOf(events).finishReason, "tool_calls")
      assert.strictEqual(finishOf(events).nativeStopReason, "stop")
    })
  )

  it.scoped.each([
    ["stop", "stop"],
    ["length", "length"],
    ["content_filter", "content_filter"],
    ["eos", "other"]
  ] as const)("finish reason %s is %s", ([native, neutral]) =>
    Effect.gen(function* () {
      const events = yield* said(() => [{ type: "text", text: "x" }, finish(native)])
      assert.strictEqual(finishOf(events).finishReason, neutral)
      assert.strictEqual(finishOf(events).nativeStopReason, native)
    })
  )

  it.scoped("speaks Chat Completions to the base URL whatever model is asked for", () =>
    Effect.gen(function* () {
      const stub = yield* scripted()
      for (const name of ["gpt-5.1", "claude-x", "a/b:c"]) {
        yield* collect(yield* openaiOver(stub, {}, `openai/${name}`))
      }
      assert.deepStrictEqual(
        stub.requests.map(({ body, path }) => [path, Predicate.isRecord(body) ? body["model"] : undefined]),
        [
          ["/v1/chat/completions", "gpt-5.1"],
          ["/v1/chat/completions", "claude-x"],
          ["/v1/chat/completions", "a/b:c"]
        ]
      )
      assert.isUndefined(stub.requests[0]?.headers.authorization)
    })
  )

  it.scoped("the whole request is sent: system, tools, thinking, limit, schema, key of the try", () =>
    Effect.gen(function* () {
      const stub = yield* scripted()
      const inputSchema = { type: "object", properties: { path: { type: "string" } } }
      const schema = { type: "object", properties: { n: { type: "integer" } } }
      const model = yield* openaiOver(stub, {}, "openai/gpt-5.2")
      yield* collect(model, {
        ...ask(user("hi")),
        tools: [{ name: "read", description: "reads", inputSchema }],
        thinking: "high",
        maxOutputTokens: 99,
        output: { schema },
        idempotencyKey: "key-1"
      })
      const request = yield* Effect.promise(() => stub.request(0))
      assert.strictEqual(request.headers["idempotency-key"], "key-1")
      assert.deepInclude(request.body, {
        model: "gpt-5.2",
        stream: true,
        stream_options: { include_usage: true },
        reasoning_effort: "high",
        max_completion_tokens: 99,
        messages: [
          { role: "system", content: "be brief" },
          { role: "user", content: "hi" }
        ],
        tools: [{ type: "function", function: { name: "read", description: "reads", parameters: inputSchema } }],
        response_format: { type: "json_schema", json_schema: { schema, strict: false, name: "response" } }
      })
    })
  )

  it.scoped("a thinking level the model lacks is not sent", () =>
    Effect.gen(function* () {
      const stub = yield* scripted()
      const model = yield* openaiOver(stub)
      assert.deepStrictEqual(model.thinkingLevels, [])
      yield* collect(model, { ...ask(), thinking: "high" })
      assert.notProperty(stub.requests[0]?.body, "reasoning_effort")
    })
  )
})
