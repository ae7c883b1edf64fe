import { TurnSnapshot } from "@harness/protocol"
import { jsonBytes, TURN_RECORD_MAX, TurnRecord } from "@harness/protocol/jambonz"
import { Schema } from "effect"
import { expect, it } from "vitest"
import { type TurnTimings, turnRecordOf } from "../../src/voice/turnRecord.ts"

const SECRET = "4929 secret words"
const at = (millis: number) => new Date(1_735_689_600_000 + millis).toISOString()
const decode = Schema.decodeUnknownSync(TurnSnapshot)

let calls = 0
const call = (name: string, more: Readonly<Record<string, unknown>> = {}) => ({
  type: "tool",
  partId: `p${++calls}`,
  callId: `call_${String(calls).padStart(26, "0")}`,
  name,
  arguments: { account: SECRET },
  state: "completed",
  result: { content: [{ type: "text", text: SECRET }], isError: false },
  idempotencyKey: "k",
  startedAt: at(1_000),
  settledAt: at(1_220),
  ...more
})
const step = (number: number, more: Readonly<Record<string, unknown>> = {}) => ({
  step: number,
  provider: "openai",
  model: "gpt-5",
  finishReason: "stop",
  usage: { inputTokens: 812, outputTokens: 14 },
  ...more
})
const turn = (more: Readonly<Record<string, unknown>> = {}) =>
  decode({
    turnId: "call-1-2",
    sessionId: "call-1",
    revision: 9,
    state: "completed",
    stopReason: "end",
    model: "openai/gpt-5",
    agent: "desk",
    mode: "agent",
    attempt: 1,
    parts: [],
    steps: [],
    usage: {},
    prompt: { role: "user", content: [{ type: "text", text: SECRET }] },
    acceptedAt: at(0),
    startedAt: at(5),
    settledAt: at(2_000),
    finalText: SECRET,
    ...more
  })

const record = (
  snapshot: TurnSnapshot,
  timings: TurnTimings = {},
  isJambonz: (name: string) => boolean = (name) => name === "get_hours"
) => {
  const made = turnRecordOf(snapshot, timings, isJambonz)
  expect(jsonBytes(made)).toBeLessThanOrEqual(TURN_RECORD_MAX)
  expect(Schema.is(TurnRecord)(made)).toBe(true)
  expect(JSON.stringify(made)).not.toContain("secret")
  return made
}

it("a turn's record says who answered, with what, and how long it took", () => {
  const snapshot = turn({
    parts: [
      call("get_hours"),
      call("lookup"),
      call("refund", { result: { content: [], isError: true } }),
      call("slow", { state: "running", settledAt: undefined, result: undefined }),
      call("held", { state: "rejected", startedAt: undefined }),
      call(SECRET),
      call("jambonz.transfer"),
      { type: "text", partId: "t", text: SECRET, done: true },
      { type: "notice", partId: "n", code: "retried", message: SECRET },
      { type: "refusal", partId: "r", text: SECRET, done: true }
    ],
    steps: [step(1, { finishReason: "tool_calls", usage: {} }), step(2)],
    attempt: 2
  })
  const made = record(snapshot, {
    generations: [
      { step: 1, millis: 310.4, firstTokenMillis: 120 },
      { step: 2, millis: 900, firstTokenMillis: -1 },
      { step: 3, millis: 50 }
    ],
    stages: [{ name: "draft", ms: 40 }],
    otherCalls: [{ model: "openai/gpt-5-mini", purpose: "draft", output_tokens: 3 }],
    flags: ["draft_adopted"],
    note: "fine"
  })
  expect(made).toEqual({
    route: "desk",
    procedures: [],
    steps: [
      { name: "queued", ms: 5 },
      { name: "draft", ms: 40 },
      { name: "generate", ms: 310, detail: { step: 1, finishReason: "tool_calls" } },
      { name: "generate", ms: 900, detail: { step: 2, finishReason: "stop" } }
    ],
    model_calls: [
      { model: "openai/gpt-5-mini", purpose: "draft", output_tokens: 3 },
      { model: "openai/gpt-5", purpose: "reply", first_token_ms: 120, ms: 310 },
      { model: "openai/gpt-5", purpose: "reply", input_tokens: 812, output_tokens: 14, first_token_ms: 0, ms: 900 },
      { model: "openai/gpt-5", purpose: "reply", ms: 50 }
    ],
    own_tools: [
      { name: "lookup", ok: true, ms: 220 },
      { name: "refund", ok: false, ms: 220 },
      { name: "held", ok: false },
      { name: "unknown", ok: true, ms: 220 }
    ],
    flags: ["draft_adopted", "recovered", "retried", "refusal"],
    note: "fine"
  })
})

it("a line has no model's calls, and says why the turn ended when it was cut", () => {
  expect(record(turn())).toEqual({
    route: "line",
    procedures: [],
    steps: [{ name: "queued", ms: 5 }],
    model_calls: [],
    own_tools: [],
    flags: []
  })
  expect(record(turn({ state: "cancelled", stopReason: "interrupted" })).flags).toEqual(["interrupted"])
  const failure = { kind: "permanent", code: "provider.refused", message: SECRET, retryable: false }
  const failed = record(turn({ state: "failed", stopReason: "error", failure }), { generations: [{ step: 1 }] })
  expect(failed).toMatchObject({
    route: "desk",
    model_calls: [{ model: "openai/gpt-5", purpose: "reply" }],
    flags: ["error", "provider.refused"]
  })
})

it("a record of any length is cut until it fits", () => {
  const snapshot = turn({
    parts: Array.from({ length: 900 }, () => call("a_tool_with_quite_a_long_name")),
    steps: Array.from({ length: 900 }, (_, index) => step(index + 1))
  })
  expect(record(snapshot, { note: "é".repeat(20_000) }).route).toBe("desk")
})
