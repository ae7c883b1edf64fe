import { Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { callSession, callTurn, DroppedFrame, type Inbound, readInbound } from "../../src/jambonz/index.ts"
import { goldenFrames } from "./frames.ts"

const read = (frame: unknown): Inbound => Either.getOrThrow(readInbound(JSON.stringify(frame)))
const dropped = (text: string) => Either.getOrThrow(Either.flip(readInbound(text)))

const golden = goldenFrames("inbound")
const callSid = "aad0115d-ec21-40db-aa02-31b7b01540c5"

/** What a message cannot do without. */
const ids: Record<string, ReadonlyArray<string>> = {
  "session:start": ["call_sid"],
  "speech:start": ["turn_id"],
  transcript: ["turn_id"],
  "turn:start": ["turn_id"],
  "turn:cancel": ["turn_id"],
  "command:result": ["command_id"],
  "tool:result": ["call_id"],
  "session:end": [],
  user_interruption: ["reply_id"],
  reply_spoken: ["reply_id"],
  reply_dropped: ["reply_id"],
  transfer: ["command_id"]
}
const idsOf = (frame: { readonly [key: string]: unknown }) =>
  ids[String(frame["type"] === "event" ? frame["name"] : frame["type"])] ?? []

describe("a message needs its type and its own ids, and nothing else", () => {
  it.each(golden)("$file", ({ frame }) => {
    const kept = ["type", ...(frame["type"] === "event" ? ["name"] : []), ...idsOf(frame)]
    const bare = Object.fromEntries(Object.entries(frame).filter(([key]) => kept.includes(key)))
    expect(Either.isRight(readInbound(JSON.stringify(bare)))).toBe(true)
    for (const id of idsOf(frame)) {
      const { [id]: _, ...without } = bare
      const drop = dropped(JSON.stringify(without))
      expect(drop.why).toBe("missing_id")
      expect(drop.field).toBe(id)
      expect(dropped(JSON.stringify({ ...bare, [id]: [] })).why).toMatch(/^invalid_/)
    }
  })

  it.each(golden)("whatever else is in $file, it is read", ({ frame }) => {
    const loose = Object.keys(frame).filter((key) => !["type", "name", "call_sid", ...idsOf(frame)].includes(key))
    fc.assert(
      fc.property(fc.constantFrom("later", ...loose), fc.jsonValue(), (key, value) => {
        expect(Either.isRight(readInbound(JSON.stringify({ ...frame, [key]: value })))).toBe(true)
      })
    )
  })
})

describe("what is not there is read as the least it can mean", () => {
  it("an input of no known kind is no_input, and words of another type are none", () => {
    expect(read({ type: "turn:start", turn_id: 1 })).toMatchObject({ input: { type: "no_input" } })
    expect(read({ type: "turn:start", turn_id: 1, input: { type: "video" } })).toMatchObject({
      input: { type: "no_input" }
    })
    expect(read({ type: "turn:start", turn_id: 1, input: { type: "speech", text: 7 } })).toMatchObject({
      input: { type: "speech", text: "" }
    })
  })

  it("a command not said to be done is not done", () => {
    expect(read({ type: "command:result", command_id: "c", ok: "yes" })).toMatchObject({ ok: false })
  })

  it("an error is text, and null is none", () => {
    const error = (value: unknown) => {
      const message = read({ type: "tool:result", call_id: "t", error: value })
      return message.type === "tool:result" ? message.error : "another message"
    }
    expect(error("broken")).toBe("broken")
    expect(error({ code: 5 })).toBe('{"code":5}')
    expect(error(null)).toBeUndefined()
  })

  it("an interruption that names no turn is of an unprompted reply", () => {
    const message = read({ type: "event", name: "user_interruption", reply_id: "r", turn_id: null })
    expect(message).not.toHaveProperty("turn_id", expect.anything())
    expect(message).toMatchObject({ spoken: "", unspoken: "" })
  })

  it("unknown reasons and outcomes are kept", () => {
    expect(read({ type: "session:end", reason: "meteor" })).toMatchObject({ reason: "meteor" })
    expect(read({ type: "event", name: "transfer", command_id: "c", outcome: "parked" })).toMatchObject({
      outcome: "parked"
    })
  })

  it("an event of a later jambonz is kept whole", () => {
    const frame = { type: "event", name: "mood", call_sid: callSid, score: { joy: 1 } }
    expect(read(frame)).toEqual({ type: "other_event", name: "mood", call_sid: callSid, fields: frame })
  })
})

describe("the tools of session:start", () => {
  const tools = (list: unknown) => {
    const message = read({ type: "session:start", call_sid: callSid, tools: list })
    return message.type === "session:start" ? message.tools : []
  }
  const parameters = { type: "object", properties: { day: { type: "string" } } }
  const hours = { name: "get_hours", description: "Opening hours", parameters }

  it("both shapes are read to one", () => {
    expect(tools([hours])).toEqual([hours])
    expect(tools([{ type: "function", function: hours }])).toEqual([hours])
  })

  it("what is left out is empty, and one bad tool costs no other", () => {
    const bare = { name: "bare", description: "", parameters: { type: "object", properties: {} } }
    expect(tools([5, { name: "" }, { type: "function" }, { name: "bare" }, null, hours])).toEqual([bare, hours])
    for (const none of [undefined, null, "x", {}]) expect(tools(none)).toEqual([])
  })
})

describe("a frame that is not read", () => {
  it.each([
    ["{", "malformed_json"],
    ["", "malformed_json"],
    ["[]", "not_an_object"],
    ["null", "not_an_object"],
    ['"session:start"', "not_an_object"],
    ["{}", "missing_type"],
    ['{"type":5}', "missing_type"],
    ['{"type":"later"}', "unknown_type"],
    ['{"type":"constructor"}', "unknown_type"],
    ['{"type":"other_event","name":"x","fields":{}}', "unknown_type"],
    ['{"type":"event"}', "missing_id"],
    ['{"type":"event","name":"reply_spoken"}', "missing_id"],
    ['{"type":"turn:start","turn_id":"1"}', "invalid_id"],
    ['{"type":"turn:start","turn_id":1.5}', "invalid_id"],
    ['{"type":"turn:start","turn_id":-1}', "invalid_id"],
    ['{"type":"session:start"}', "missing_id"],
    ['{"type":"session:start","call_sid":""}', "invalid_call_sid"],
    ['{"type":"session:start","call_sid":"../../etc"}', "invalid_call_sid"],
    ['{"type":"speech:start","turn_id":1,"call_sid":"a b"}', "invalid_call_sid"],
    [JSON.stringify({ type: "session:start", call_sid: "a".repeat(107) }), "invalid_call_sid"]
  ])("%s: %s", (text, why) => {
    expect(dropped(text).why).toBe(why)
  })

  it("is told without a word of what it held", () => {
    fc.assert(
      fc.property(fc.constantFrom(...golden), fc.constantFrom("type", "name", "turn_id", "reply_id"), (one, key) => {
        const secret = { key: "canary-4471" }
        for (const value of [secret, "canary-4471", [secret]]) {
          const result = readInbound(JSON.stringify({ ...one.frame, [key]: value, call_sid: "canary 4471" }))
          expect(JSON.stringify(Either.flip(result))).not.toContain("canary")
          if (Either.isLeft(result)) expect(result.left.message).not.toContain("canary")
        }
      })
    )
  })

  it("any text at all is read or dropped, and never throws", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const result = readInbound(text)
        expect(Either.isRight(result) || result.left instanceof DroppedFrame).toBe(true)
      })
    )
  })
})

it("the longest call and the highest turn still make ids", () => {
  const message = read({ type: "session:start", call_sid: "a".repeat(106) })
  if (message.type !== "session:start") throw new Error("another message")
  expect(callSession(message.call_sid)).toHaveLength(111)
  expect(callTurn(message.call_sid, Number.MAX_SAFE_INTEGER)).toHaveLength(128)
})
