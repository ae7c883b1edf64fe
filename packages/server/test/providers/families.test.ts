import { createOpenAI } from "@ai-sdk/openai"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Predicate, Redacted } from "effect"
import { generateWith } from "../../src/providers/adapter.ts"
import { factsOf } from "../../src/providers/facts.ts"
import { providerFetch } from "../../src/providers/framing.ts"
import type { GenerateRequest, ModelMessage, ResolvedModel } from "../../src/providers/Model.ts"
import type { ScriptedModel, Step } from "../kit/scriptedModel.ts"
import { call, result } from "./messages.ts"
import { ask, callsOf, collect, finishOf, resolved, scripted, textOf, user } from "./support.ts"

const key = Redacted.make("sk-test-key")

const anthropicOver = (stub: ScriptedModel, model = "claude-sonnet-4-5") =>
  resolved(`anthropic/${model}`, { anthropicApiKey: key, anthropicBaseUrl: stub.anthropicUrl })

const googleOver = (stub: ScriptedModel, model = "gemini-3-flash-preview") =>
  resolved(`google/${model}`, { googleApiKey: key, googleBaseUrl: stub.googleUrl })

/** `openai` without a base URL speaks Responses to its own address; here to the stub's. */
const responsesOver = (stub: ScriptedModel, model = "gpt-5.2"): Effect.Effect<ResolvedModel> =>
  Effect.map(resolved(`openai/${model}`, { openaiApiKey: key }), (known) => ({
    ...known,
    generate: generateWith({
      family: "responses",
      facts: factsOf("responses", model),
      connect: () => createOpenAI({ apiKey: "sk-test-key", baseURL: stub.url, fetch: providerFetch }).responses(model),
      scrub: (text) => text,
      stallMillis: 120_000
    })
  }))

const bodyOf = (stub: ScriptedModel, index = 0): Record<string, unknown> => {
  const body = stub.requests[index]?.body
  return Predicate.isRecord(body) ? body : {}
}

const tools: GenerateRequest["tools"] = [{ name: "read", description: "reads", inputSchema: { type: "object" } }]

describe("Anthropic", () => {
  const answer: ReadonlyArray<Step> = [
    { type: "usage", usage: { input_tokens: 11, output_tokens: 1, cache_read_input_tokens: 5 } },
    { type: "reasoning", text: "hm", signature: "sig-1" },
    {
      type: "event",
      data: { type: "content_block_start", index: 9, content_block: { type: "redacted_thinking", data: "zzz" } }
    },
    { type: "event", data: { type: "content_block_stop", index: 9 } },
    { type: "text", text: "Let me look." },
    { type: "toolCall", id: "toolu_1", name: "read", arguments: ['{"path"', ':"a"}'] },
    { type: "finish", reason: "tool_use" }
  ]

  it.scoped("reasoning with its signature, hidden reasoning, text, calls, usage", () =>
    Effect.gen(function* () {
      const stub = yield* scripted(() => answer)
      const events = yield* collect(yield* anthropicOver(stub), { ...ask(), tools })
      assert.deepStrictEqual(
        events.map((event) => event._tag),
        ["Reasoning", "ReasoningEnd", "RedactedReasoning", "Text", "Call", "Finish"]
      )
      assert.deepInclude(events[1], { signature: "sig-1" })
      assert.deepInclude(events[2], { data: "zzz" })
      assert.deepInclude(events[4], { name: "read", argumentsText: '{"path":"a"}' })
      assert.deepInclude(finishOf(events), { finishReason: "tool_calls", nativeStopReason: "tool_use" })
      // Input includes what was read from the cache; what was not reported is absent.
      assert.deepStrictEqual(finishOf(events).usage, { inputTokens: 16, outputTokens: 7, cacheReadTokens: 5 })
      assert.strictEqual(stub.requests[0]?.headers["x-api-key"], "sk-test-key")
    })
  )

  it.scoped("reasoning goes back with its signature, results right behind their calls", () =>
    Effect.gen(function* () {
      const stub = yield* scripted(() => answer)
      const messages: ReadonlyArray<ModelMessage> = [
        user("go"),
        {
          role: "assistant",
          content: [
            { type: "reasoning", text: "hm", signature: "sig-1" },
            { type: "redacted_reasoning", data: "zzz" },
            { type: "reasoning", text: "unsigned" },
            { type: "text", text: "" },
            call(1, "read", { path: "a" }),
            call(2, "read", '{"cut')
          ]
        },
        result(1, "read", "A"),
        { ...result(2, "read", "cut off"), isError: true },
        user("and?")
      ]
      yield* collect(yield* anthropicOver(stub), { ...ask(...messages), tools })
      const [, second, third] = bodyOf(stub)["messages"] as ReadonlyArray<{
        content: ReadonlyArray<Record<string, unknown>>
      }>
      assert.deepStrictEqual(second?.content, [
        { type: "thinking", thinking: "hm", signature: "sig-1" },
        { type: "redacted_thinking", data: "zzz" },
        { type: "tool_use", id: "call_00000000000000000000000001", name: "read", input: { path: "a" } },
        { type: "tool_use", id: "call_00000000000000000000000002", name: "read", input: { unreadable: '{"cut' } }
      ])
      assert.deepStrictEqual(
        third?.content.map((block) => [block["type"], block["is_error"] ?? false]),
        [
          ["tool_result", false],
          ["tool_result", true],
          ["text", false]
        ]
      )
    })
  )

  it.scoped("a conversation that an assistant opened gets a user in front", () =>
    Effect.gen(function* () {
      const stub = yield* scripted(() => answer)
      const opening: ModelMessage = { role: "assistant", content: [{ type: "text", text: "Welcome." }] }
      yield* collect(yield* anthropicOver(stub), ask(opening, user("hi")))
      const messages = bodyOf(stub)["messages"] as ReadonlyArray<{ role: string }>
      assert.deepStrictEqual(
        messages.map((message) => message.role),
        ["user", "assistant", "user"]
      )
    })
  )

  it.scoped("thinking by budget or by effort, as the model has it", () =>
    Effect.gen(function* () {
      const stub = yield* scripted(() => answer)
      yield* collect(yield* anthropicOver(stub), { ...ask(), thinking: "low" })
      yield* collect(yield* anthropicOver(stub, "claude-opus-4-7"), { ...ask(), thinking: "xhigh" })
      assert.deepStrictEqual(bodyOf(stub, 0)["thinking"], { type: "enabled", budget_tokens: 4_096 })
      assert.deepInclude(bodyOf(stub, 1)["thinking"], { type: "adaptive" })
      assert.deepStrictEqual(bodyOf(stub, 1)["output_config"], { effort: "xhigh" })
    })
  )

  it.scoped("a schema is asked for natively", () =>
    Effect.gen(function* () {
      const stub = yield* scripted(() => answer)
      const model = yield* anthropicOver(stub)
      assert.isTrue(model.nativeJson)
      const schema = { type: "object", properties: { n: { type: "integer" } } }
      yield* collect(model, { ...ask(), output: { schema } })
      assert.deepNestedInclude(bodyOf(stub), { "output_config.format.type": "json_schema" })
    })
  )

  it.scoped("overloaded at the start, or in the middle, is transient", () =>
    Effect.gen(function* () {
      const overloaded: Step = {
        type: "event",
        data: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }
      }
      for (const steps of [[overloaded], [...answer.slice(0, 3), overloaded]]) {
        const stub = yield* scripted(() => steps)
        const { failure } = yield* Effect.flip(collect(yield* anthropicOver(stub)))
        assert.strictEqual(failure.kind, "transient")
      }
    })
  )

  it.scoped("an answer without its end was cut", () =>
    Effect.gen(function* () {
      const stub = yield* scripted(() => [...answer.slice(0, -1), { type: "cut" }])
      const { failure } = yield* Effect.flip(collect(yield* anthropicOver(stub)))
      assert.strictEqual(failure.code, "provider.cut")
    })
  )
})

describe("Google", () => {
  const answer: ReadonlyArray<Step> = [
    { type: "reasoning", text: "hm" },
    { type: "text", text: "Look: " },
    {
      type: "event",
      data: {
        candidates: [
          {
            content: {
              parts: [
                { functionCall: { id: "f1", name: "read", args: { path: "a" } }, thoughtSignature: "sig-call" },
                { functionCall: { id: "f2", name: "read", args: { path: "b" } } }
              ]
            }
          }
        ]
      }
    },
    { type: "finish", reason: "STOP" },
    { type: "usage", usage: { promptTokenCount: 4, candidatesTokenCount: 6, thoughtsTokenCount: 2 } }
  ]

  it.scoped("a call's signature comes right before it, and goes back with it", () =>
    Effect.gen(function* () {
      const stub = yield* scripted(() => answer)
      const model = yield* googleOver(stub)
      const events = yield* collect(model, { ...ask(), tools })
      assert.deepStrictEqual(
        events.map((event) => event._tag),
        ["Reasoning", "ReasoningEnd", "Text", "ReasoningEnd", "Call", "Call", "Finish"]
      )
      assert.deepInclude(events[3], { signature: "sig-call" })
      assert.strictEqual(textOf(events), "Look: ")
      assert.deepInclude(finishOf(events), { finishReason: "tool_calls", nativeStopReason: "STOP" })
      assert.deepStrictEqual(finishOf(events).usage, { inputTokens: 4, outputTokens: 8, reasoningTokens: 2 })

      yield* collect(model, {
        ...ask(
          user("go"),
          {
            role: "assistant",
            content: [
              { type: "reasoning", text: "", signature: "sig-call" },
              call(1, "read", { path: "a" }),
              call(2, "read", { path: "b" })
            ]
          },
          result(1, "read", "A"),
          result(2, "read", "B")
        ),
        tools
      })
      const contents = bodyOf(stub, 1)["contents"] as ReadonlyArray<{ parts: ReadonlyArray<Record<string, unknown>> }>
      assert.deepStrictEqual(
        contents[1]?.parts.map((part) => [Object.keys(part)[0], part["thoughtSignature"]]),
        [
          ["functionCall", "sig-call"],
          ["functionCall", undefined]
        ]
      )
      assert.lengthOf(contents[2]?.parts ?? [], 2)
    })
  )

  it.scoped("a bad key is about credentials, though it comes as a 400", () =>
    Effect.gen(function* () {
      const body = {
        error: { code: 400, message: "API key not valid. Please pass a valid API key.", status: "INVALID_ARGUMENT" }
      }
      const stub = yield* scripted(() => [{ type: "status", status: 400, body: JSON.stringify(body) }])
      const { failure } = yield* Effect.flip(collect(yield* googleOver(stub)))
      assert.strictEqual(failure.kind, "auth_expired")
    })
  )

  it.scoped("a limit names when to come back", () =>
    Effect.gen(function* () {
      const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "17s" }]
      const body = { error: { code: 429, message: "Resource exhausted", status: "RESOURCE_EXHAUSTED", details } }
      const stub = yield* scripted(() => [{ type: "status", status: 429, body: JSON.stringify(body) }])
      const failure = yield* Effect.flip(collect(yield* googleOver(stub)))
      assert.strictEqual(failure.failure.kind, "rate_limited")
      assert.strictEqual(failure.retryAfterMillis, 17_000)
    })
  )

  it.scoped("a call the model garbled may pass when asked again", () =>
    Effect.gen(function* () {
      const stub = yield* scripted(() => [{ type: "finish", reason: "MALFORMED_FUNCTION_CALL" }])
      const { failure } = yield* Effect.flip(collect(yield* googleOver(stub)))
      assert.deepInclude(failure, { kind: "transient", code: "provider.bad_answer" })
    })
  )
})

describe("OpenAI Responses", () => {
  const event = (data: Record<string, unknown>): Step => ({ type: "event", data })
  const completed = event({
    type: "response.completed",
    response: {
      id: "resp_1",
      usage: { input_tokens: 8, output_tokens: 9, output_tokens_details: { reasoning_tokens: 4 } }
    }
  })
  const created = event({ type: "response.created", response: { id: "resp_1", created_at: 1, model: "gpt-5.2" } })
  const reasoning = [
    event({
      type: "response.output_item.added",
      output_index: 0,
      item: { type: "reasoning", id: "rs_1", summary: [] }
    }),
    event({ type: "response.reasoning_summary_part.added", item_id: "rs_1", summary_index: 0 }),
    event({ type: "response.reasoning_summary_text.delta", item_id: "rs_1", summary_index: 0, delta: "hm" }),
    event({ type: "response.reasoning_summary_part.done", item_id: "rs_1", summary_index: 0 }),
    event({
      type: "response.output_item.done",
      output_index: 0,
      item: { type: "reasoning", id: "rs_1", encrypted_content: "enc-1", summary: [] }
    })
  ]
  const message = (deltas: ReadonlyArray<Step>) => [
    event({ type: "response.output_item.added", output_index: 1, item: { type: "message", id: "msg_1" } }),
    ...deltas,
    event({ type: "response.output_item.done", output_index: 1, item: { type: "message", id: "msg_1" } })
  ]
  const called = { type: "function_call", id: "fc_1", call_id: "call_x", name: "read", status: "completed" }
  const toolCall = [
    event({ type: "response.output_item.added", output_index: 2, item: { ...called, arguments: "" } }),
    event({ type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 2, delta: '{"path":"a"}' }),
    event({ type: "response.output_item.done", output_index: 2, item: { ...called, arguments: '{"path":"a"}' } })
  ]

  it.scoped("reasoning with what goes back, text, calls, usage", () =>
    Effect.gen(function* () {
      const text = event({ type: "response.output_text.delta", item_id: "msg_1", delta: "hi" })
      const stub = yield* scripted(() => [created, ...reasoning, ...message([text]), ...toolCall, completed])
      const events = yield* collect(yield* responsesOver(stub), { ...ask(), tools, thinking: "high" })
      assert.deepStrictEqual(
        events.map((item) => item._tag),
        ["Reasoning", "ReasoningEnd", "Text", "Call", "Finish"]
      )
      assert.deepInclude(events[1], { signature: "enc-1" })
      assert.deepInclude(callsOf(events)[0], { name: "read", argumentsText: '{"path":"a"}' })
      assert.deepInclude(finishOf(events), { finishReason: "tool_calls" })
      assert.deepStrictEqual(finishOf(events).usage, { inputTokens: 8, outputTokens: 9, reasoningTokens: 4 })
      assert.deepInclude(bodyOf(stub), {
        store: false,
        include: ["reasoning.encrypted_content"],
        reasoning: { effort: "high", summary: "auto" }
      })
      assert.strictEqual(stub.requests[0]?.path, "/v1/responses")
    })
  )

  it.scoped("reasoning goes back encrypted, by no id", () =>
    Effect.gen(function* () {
      const stub = yield* scripted(() => [created, ...message([]), completed])
      yield* collect(yield* responsesOver(stub), {
        ...ask(
          user("go"),
          { role: "assistant", content: [{ type: "reasoning", text: "hm", signature: "enc-1" }, call(1, "read", {})] },
          result(1, "read", "A")
        ),
        tools
      })
      const input = bodyOf(stub)["input"] as ReadonlyArray<Record<string, unknown>>
      assert.deepStrictEqual(
        input.map((item) => item["type"] ?? item["role"]),
        ["developer", "user", "reasoning", "function_call", "function_call_output"]
      )
      assert.deepStrictEqual(input[2], {
        type: "reasoning",
        encrypted_content: "enc-1",
        summary: [{ type: "summary_text", text: "hm" }]
      })
    })
  )

  it.scoped("a refusal is a refusal", () =>
    Effect.gen(function* () {
      const refusal = event({
        type: "response.refusal.delta",
        item_id: "msg_1",
        output_index: 1,
        content_index: 0,
        delta: "No."
      })
      const stub = yield* scripted(() => [created, ...message([refusal]), completed])
      const events = yield* collect(yield* responsesOver(stub))
      assert.strictEqual(textOf(events, "Refusal"), "No.")
      assert.strictEqual(textOf(events), "")
      assert.strictEqual(finishOf(events).finishReason, "content_filter")
    })
  )

  it.scoped("an answer that was never completed was cut", () =>
    Effect.gen(function* () {
      const text = event({ type: "response.output_text.delta", item_id: "msg_1", delta: "hi" })
      const stub = yield* scripted(() => [created, ...message([text]).slice(0, -1), { type: "cut" }])
      const { failure } = yield* Effect.flip(collect(yield* responsesOver(stub)))
      assert.strictEqual(failure.code, "provider.cut")
    })
  )

  it.scoped("a response that failed tells why, at the start or in the middle", () =>
    Effect.gen(function* () {
      const failed = event({
        type: "response.failed",
        sequence_number: 3,
        response: { id: "resp_1", error: { code: "rate_limit_exceeded", message: "slow down" } }
      })
      const text = event({ type: "response.output_text.delta", item_id: "msg_1", delta: "hi" })
      for (const steps of [
        [created, failed],
        [created, ...message([text]), failed]
      ]) {
        const stub = yield* scripted(() => steps)
        const { failure } = yield* Effect.flip(collect(yield* responsesOver(stub)))
        assert.strictEqual(failure.kind, "rate_limited")
      }
    })
  )
})
