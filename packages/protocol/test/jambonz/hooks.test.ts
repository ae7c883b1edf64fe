import { Either, FastCheck as fc, Schema } from "effect"
import { describe, expect, it } from "vitest"
import {
  ActionHook,
  AppAck,
  AppMessage,
  agentVerb,
  CallWebhook,
  EventHook,
  readApplicationUpdate,
  ToolHook,
  ToolOutput,
  toolOutput
} from "../../src/jambonz/index.ts"

const call = {
  call_sid: "aad0115d-ec21-40db-aa02-31b7b01540c5",
  account_sid: "a1",
  application_sid: "p1",
  direction: "inbound",
  from: "+15083084809",
  to: "+15083728299",
  call_id: "fc5f8190-718a-123b-e6ba-023fd61c5256",
  sip_status: 100,
  call_status: "trying",
  originating_sip_ip: "192.0.2.4"
}
const fits = <A, I>(schema: Schema.Schema<A, I>, body: unknown) =>
  Either.isRight(Schema.decodeUnknownEither(schema)(body))

describe("the application webhook", () => {
  const body = { ...call, caller_name: "A", sip: { headers: { "X-Tenant": "acme" } }, env_vars: { AGENT: "plan" } }

  it("keeps what it does not know", () => {
    expect(Schema.decodeUnknownSync(CallWebhook)(body)).toEqual(body)
  })

  it("needs the call alone", () => {
    expect(Schema.decodeUnknownSync(CallWebhook)({ call_sid: "a", from: 5, sip: "x" })).toEqual({ call_sid: "a" })
    expect(fits(CallWebhook, { ...body, call_sid: undefined })).toBe(false)
    expect(fits(CallWebhook, { ...body, call_sid: "a/b" })).toBe(false)
  })
})

describe("the tool hook", () => {
  const body = { ...call, tool_call_id: "call_1", name: "get_hours", arguments: { day: "monday" } }
  const args = (value: unknown) => Schema.decodeUnknownSync(ToolHook)({ ...body, arguments: value }).arguments

  it("is the call's tool, its name and its arguments, and what else came", () => {
    expect(Schema.decodeUnknownSync(ToolHook)(body)).toEqual(body)
    expect(fits(ToolHook, { ...body, tool_call_id: undefined })).toBe(false)
    expect(fits(ToolHook, { ...body, name: "" })).toBe(false)
  })

  it("reads arguments that are JSON text; others are none", () => {
    expect(args('{"day":"monday"}')).toEqual({ day: "monday" })
    for (const none of ["[]", "{", 5, null, undefined]) expect(args(none)).toEqual({})
  })
})

describe("the event hook", () => {
  const read = Schema.decodeUnknownSync(EventHook)

  it.each([
    { type: "user_transcript", transcript: "When are you open" },
    { type: "llm_response", response: "We're open eight to six." },
    { type: "user_interruption" },
    {
      type: "turn_end",
      turn_id: 2,
      transcript: "When are you open",
      response: "We're open",
      interrupted: true,
      engine: "harness",
      harness: { turn_record: { route: "general" }, later: 1 },
      latency: { harness_first_chunk_ms: 412, voice_latency: 90 }
    },
    { type: "harness_failure", reason: "no_reply", message: "no first chunk" },
    { type: "caller_hummed", tune: "x" }
  ])("$type", (event) => {
    expect(read(event)).toEqual(event)
    expect(read({ ...call, ...event })).toEqual({ ...call, ...event })
  })

  it("whatever its fields hold, an event is read", () => {
    const type = fc.constantFrom("user_transcript", "llm_response", "turn_end", "harness_failure", "later")
    const key = fc.constantFrom("transcript", "response", "harness", "latency", "reason", "turn_id", "call_sid", "from")
    fc.assert(
      fc.property(type, key, fc.jsonValue(), (one, field, value) => {
        expect(read({ type: one, [field]: value }).type).toBe(one)
      })
    )
    expect(fits(EventHook, { transcript: "x" })).toBe(false)
  })
})

describe("the action hook", () => {
  const read = Schema.decodeUnknownSync(ActionHook)
  const harness_error = { reason: "socket", message: "could not be opened", attempts: 2 }

  it("says why the verb ended, under either name", () => {
    const reason = (body: object) => read({ ...call, ...body }).completion_reason
    expect(reason({ completion_reason: "harness_failure" })).toBe("harness_failure")
    expect(reason({ completionReason: "harness_failure" })).toBe("harness_failure")
    expect(reason({ completion_reason: 5, completionReason: "meteor" })).toBe("meteor")
    expect(reason({})).toBeUndefined()
  })

  it("keeps the harness error and what else came", () => {
    const body = { ...call, completion_reason: "harness_failure", harness_error }
    expect(read(body)).toEqual(body)
    expect(read({ harness_error: "x" }).harness_error).toBeUndefined()
  })
})

describe("an application over a WebSocket", () => {
  it("reads any message of a call", () => {
    const message = {
      type: "agent:tool-call",
      msgid: "m1",
      call_sid: call.call_sid,
      hook: "/tool",
      data: { name: "x" }
    }
    expect(Schema.decodeUnknownSync(AppMessage)({ ...message, b3: "trace" })).toEqual(message)
    expect(fits(AppMessage, { msgid: "m1" })).toBe(false)
  })

  it("answers with verbs and with tools' results", () => {
    expect(fits(AppAck, { type: "ack", msgid: "m1", data: [agentVerb()] })).toBe(true)
    expect(fits(AppAck, { type: "ack", msgid: "m1", data: [{ verb: "agent" }] })).toBe(false)
    expect(fits(ToolOutput, toolOutput("call_1", { result: { weekdays: "8 to 6" } }))).toBe(true)
    expect(fits(ToolOutput, { ...toolOutput("call_1", { error: "no" }), data: "no" })).toBe(false)
  })
})

describe("an update of the application", () => {
  const asks = (update_type: string, data: unknown) =>
    readApplicationUpdate({ type: "event", name: "application_update", update_type, data })

  it("inject_context is its messages as text, in order", () => {
    const messages = [
      { role: "system", content: "Gold tier." },
      { content: [{ type: "text", text: "one" }, { type: "text", text: "two" }, 5] },
      "not a message",
      { role: "user", content: { ticket: 5 } }
    ]
    expect(asks("inject_context", { messages })).toEqual({
      kind: "inject_context",
      messages: [
        { role: "system", text: "Gold tier." },
        { role: "system", text: "one\ntwo" },
        { role: "user", text: '{"ticket":5}' }
      ]
    })
  })

  it("generate_reply needs nothing", () => {
    expect(asks("generate_reply", undefined)).toEqual({ kind: "generate_reply", interrupt: false })
    expect(asks("generate_reply", { user_input: "12345", instructions: "kind", interrupt: true })).toEqual({
      kind: "generate_reply",
      user_input: "12345",
      instructions: "kind",
      interrupt: true
    })
  })

  it("update_instructions and update_tools", () => {
    expect(asks("update_instructions", { instructions: "Billing now." })).toEqual({
      kind: "update_instructions",
      instructions: "Billing now."
    })
    const tool = { name: "a", description: "b", parameters: { type: "object" } }
    expect(asks("update_tools", { tools: [{ type: "function", function: tool }] })).toEqual({
      kind: "update_tools",
      tools: [tool]
    })
    expect(asks("update_tools", { tools: [] })).toEqual({ kind: "update_tools", tools: [] })
  })

  it.each([
    ["later", { x: 1 }],
    ["constructor", {}],
    ["update_tools", { tools: "all" }],
    ["update_instructions", {}],
    ["inject_context", undefined]
  ])("%s with %j changes nothing we know", (updateType, data) => {
    expect(asks(updateType, data)).toEqual({ kind: "other", updateType, data })
  })
})
