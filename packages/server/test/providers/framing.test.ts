import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Framing, Step } from "../kit/scriptedModel.ts"
import { ask, collect, finishOf, openaiOver, said, scripted, textOf } from "./support.ts"

const words = "日本語🌍é — \u{1F468}\u200D\u{1F469}\u200D\u{1F467} done"

const answer: ReadonlyArray<Step> = [
  { type: "reasoning", text: "🤔 ça" },
  { type: "text", text: "日本語" },
  { type: "text", text: "🌍é — \u{1F468}\u200D\u{1F469}\u200D\u{1F467} done" },
  { type: "toolCall", id: "call_1", name: "read", arguments: ['{"path":"ü', '🌍"}'] },
  { type: "finish", reason: "tool_calls" },
  { type: "usage", usage: { prompt_tokens: 1, completion_tokens: 2 } }
]

const framings: Record<string, Framing> = {
  CRLF: { eol: "\r\n" },
  "a lone CR": { eol: "\r" },
  "one byte a write": { perByte: true },
  "CRLF, one byte a write": { eol: "\r\n", perByte: true },
  "all events in one write": { oneWrite: true },
  "data over several lines": { multiLine: true },
  "data over several lines ending in CRLF": { multiLine: true, eol: "\r\n" },
  "no space after the colon": { noSpace: true },
  "comment lines": { comments: true },
  "no blank line at the end": { oneWrite: true, noFinalBlank: true },
  "no blank line at the end, lone CR, byte by byte": { oneWrite: true, noFinalBlank: true, perByte: true, eol: "\r" }
}

describe("server-sent events from a provider", () => {
  for (const [name, framing] of Object.entries(framings)) {
    it.scoped(`${name}: the same events as in the plain form`, () =>
      Effect.gen(function* () {
        const plain = yield* said(() => answer)
        assert.strictEqual(textOf(plain), words)
        assert.deepStrictEqual(yield* said(() => [{ type: "framing", framing }, ...answer]), plain)
      })
    )
  }

  it.scoped("a last event without a blank line is kept when it is the one that says why", () =>
    Effect.gen(function* () {
      const chunk = (delta: unknown, finish_reason: string | null) =>
        JSON.stringify({ id: "x", choices: [{ index: 0, delta, finish_reason }] })
      const bytes = `data: ${chunk({ content: "hi" }, null)}\n\ndata: ${chunk({}, "stop")}`
      const events = yield* said(() => [{ type: "raw", bytes }])
      assert.strictEqual(textOf(events), "hi")
      assert.strictEqual(finishOf(events).finishReason, "stop")
    })
  )

  it.scoped("[DONE] is the end even when the connection stays open", () =>
    Effect.gen(function* () {
      const stub = yield* scripted(() => [
        { type: "text", text: "hi" },
        { type: "finish", reason: "stop" },
        { type: "raw", bytes: "data: [DONE]\n\n" },
        { type: "stall", headers: true }
      ])
      assert.strictEqual(textOf(yield* collect(yield* openaiOver(stub))), "hi")
    })
  )

  it.scoped("[DONE] is an end even where no reason was given", () =>
    Effect.gen(function* () {
      const events = yield* said(() => [
        { type: "text", text: "hi" },
        { type: "raw", bytes: "data: [DONE]\n\n" },
        { type: "cut" }
      ])
      assert.strictEqual(textOf(events), "hi")
      assert.strictEqual(finishOf(events).finishReason, "other")
    })
  )

  it.scoped("a line of one megabyte is one delta", () =>
    Effect.gen(function* () {
      const long = "漢字🌍".repeat(130_000)
      const events = yield* said(() => [
        { type: "text", text: long },
        { type: "finish", reason: "stop" }
      ])
      assert.isTrue(textOf(events) === long)
    })
  )

  it.scoped("an event that is no JSON fails the answer, and may pass", () =>
    Effect.gen(function* () {
      const stub = yield* scripted(() => [{ type: "raw", bytes: 'data: {"choices": [\n\n' }])
      const { failure } = yield* Effect.flip(collect(yield* openaiOver(stub), ask()))
      assert.deepInclude(failure, { kind: "transient", code: "provider.bad_response", retryable: true })
    })
  )
})

describe("text from a provider", () => {
  it.scoped("a pair split over two deltas is whole, a lone half is U+FFFD", () =>
    Effect.gen(function* () {
      const delta = (json: string): Step => ({
        type: "raw",
        bytes: `data: {"id":"x","choices":[{"index":0,"delta":{"content":"${json}"},"finish_reason":null}]}\n\n`
      })
      const events = yield* said(() => [
        delta("a\\ud83c"),
        delta("\\udf0db"),
        delta("\\ud83cx\\udf0d"),
        delta("\\ud83c"),
        { type: "finish", reason: "stop" }
      ])
      assert.strictEqual(textOf(events), "a🌍b\uFFFDx\uFFFD\uFFFD")
      for (const event of events) if ("delta" in event) assert.notMatch(event.delta, /\p{Surrogate}/u)
    })
  )
})
