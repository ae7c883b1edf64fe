import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import {
  Command,
  fitTurnRecord,
  Outbound,
  ReplyChunk,
  ReplyDone,
  spokenChunk,
  ToolCall,
  TURN_RECORD_MAX
} from "../../src/jambonz/index.ts"
import { goldenFrames } from "./frames.ts"

const taken = (frame: unknown) => Either.isRight(Schema.decodeUnknownEither(Outbound)(frame))

const chunk = spokenChunk({ id: "x", created: 1, model: "demo/demo", content: "Hello." })
const reply = { type: "reply:chunk", reply_id: "r1", turn_id: 1, chunk }
const [choice] = chunk.choices
const delta = (content: object) => ({ ...reply, chunk: { ...chunk, choices: [{ ...choice, delta: content }] } })
const command = (name: string, args: object) => ({ type: "command", command_id: "c1", name, args })
const call = { type: "tool:call", call_id: "t1", turn_id: 1, name: "get_hours", args: {} }

describe.each(goldenFrames("outbound"))("$file", ({ frame }) => {
  it("has no field too many", () => {
    expect(taken(frame)).toBe(true)
    expect(taken({ ...frame, extra: 1 })).toBe(false)
  })
})

it.each([
  ["reply:chunk", ReplyChunk, reply],
  ["reply:done", ReplyDone, { type: "reply:done", reply_id: "r1" }],
  ["tool:call", ToolCall, call],
  ["command", Command, command("hangup", {})]
] as const)("%s by itself is as strict", (_, schema, frame) => {
  const alone: Schema.Schema.AnyNoContext = schema
  expect(Either.isRight(Schema.decodeUnknownEither(alone)(frame))).toBe(true)
  expect(Either.isRight(Schema.decodeUnknownEither(alone)({ ...frame, extra: 1 }))).toBe(false)
})

describe("a chunk", () => {
  it("is OpenAI's whole shape", () => {
    for (const field of ["id", "object", "created", "model", "choices"]) {
      expect(taken({ ...reply, chunk: { ...chunk, [field]: undefined } }), field).toBe(false)
    }
    expect(taken({ ...reply, chunk: { ...chunk, choices: [choice, choice] } })).toBe(false)
    expect(taken({ ...reply, chunk: { ...chunk, choices: [] } })).toBe(false)
  })

  it("carries words and nothing else", () => {
    expect(taken(delta({ content: "Hi" }))).toBe(true)
    expect(taken(delta({ content: "" }))).toBe(false)
    expect(taken(delta({}))).toBe(false)
    for (const more of [{ tool_calls: [] }, { role: "assistant" }, { reasoning_content: "hm" }, { refusal: "no" }]) {
      expect(taken(delta({ content: "Hi", ...more }))).toBe(false)
    }
  })

  it("interrupts only unprompted", () => {
    const { turn_id: _, ...unprompted } = reply
    expect(taken({ ...unprompted, interrupt: true })).toBe(true)
    expect(taken({ ...reply, interrupt: true })).toBe(false)
    expect(taken({ ...reply, interruptible: false })).toBe(true)
  })
})

it("a tool call names its turn, and its arguments are an object", () => {
  expect(taken(call)).toBe(true)
  expect(taken({ ...call, turn_id: undefined })).toBe(false)
  for (const args of ["{}", [], null, undefined]) expect(taken({ ...call, args })).toBe(false)
})

it("a hangup's reason is a header: one line of printable ASCII, 128 at most", () => {
  const hangup = (reason: unknown) => taken(command("hangup", { reason }))
  expect(hangup("resolved")).toBe(true)
  expect(hangup("a".repeat(128))).toBe(true)
  for (const bad of ["", "a".repeat(129), "a\r\nX-Evil: 1", "a\n", "a\t", "füt", 5, null])
    expect(hangup(bad)).toBe(false)
})

it("a transfer's headers cannot break out of theirs", () => {
  const transfer = (args: object) => taken(command("transfer", args))
  expect(transfer({ to: "sip:a@example.com", headers: { "X-Account": "12 34" } })).toBe(true)
  expect(transfer({ to: "+15085550100\r\nX: 1" })).toBe(false)
  expect(transfer({ headers: { "X-A": "a\r\nX-B: b" } })).toBe(false)
  expect(transfer({ headers: { "X A": "a" } })).toBe(false)
  expect(transfer({ headers: { "X-A": 1 } })).toBe(false)
})

it("commands jambonz does not have are not sent", () => {
  expect(taken(command("play", { url: "x" }))).toBe(false)
  expect(taken(command("listen", { language: "de-DE", hints: ["a"] }))).toBe(false)
  expect(taken(command("record", { action: "rewind" }))).toBe(false)
  expect(taken(command("record", { action: "stop", type: "tape" }))).toBe(false)
  expect(taken(command("barge_in", { enabled: "no" }))).toBe(false)
})

it("a record over its size is refused, and fits once it is fitted", () => {
  const record = { note: "n".repeat(TURN_RECORD_MAX) }
  const done = { type: "reply:done", reply_id: "r1", turn_id: 1 }
  expect(taken({ ...done, turn_record: record })).toBe(false)
  expect(taken({ ...done, turn_record: fitTurnRecord(record) })).toBe(true)
})
