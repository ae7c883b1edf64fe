import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { events, type Inbound, messages, Outbound, readInbound } from "../../src/jambonz/index.ts"
import { aWholeCall, type Frame, goldenFrames } from "./frames.ts"

const decoded = (frame: Frame): Inbound => Either.getOrThrow(readInbound(JSON.stringify(frame)))

/** What a simulator of jambonz would send for a message we read. */
const encoded = (message: Inbound): unknown => {
  if (message.type === "other_event") return message.fields
  const schema: Schema.Schema.AnyNoContext = message.type === "event" ? events[message.name] : messages[message.type]
  return JSON.parse(JSON.stringify(Schema.encodeUnknownSync(schema)(message)))
}

const sent = (frame: Frame): string => {
  const exact = { propertyOrder: "original" } as const
  return JSON.stringify(Schema.encodeSync(Outbound, exact)(Schema.decodeUnknownSync(Outbound, exact)(frame)))
}

const inbound = goldenFrames("inbound")
const outbound = goldenFrames("outbound")

describe("jambonz → harness", () => {
  it.each(inbound)("$file", ({ frame }) => {
    const message = decoded(frame)
    expect(message.type).toBe(frame["name"] === "sentiment" ? "other_event" : frame["type"])
    expect(message.call_sid).toBe(frame["call_sid"])
    expect(encoded(message)).toMatchObject(frame)
  })

  it("has a frame of each message and each event", () => {
    const types = new Set(inbound.map(({ frame }) => frame["type"]))
    expect([...types].sort()).toEqual([...Object.keys(messages), "event"].sort())
    const names = inbound.flatMap(({ frame }) => (frame["type"] === "event" ? [frame["name"]] : []))
    expect(new Set(names)).toEqual(new Set([...Object.keys(events), "sentiment"]))
  })
})

describe("harness → jambonz", () => {
  it.each(outbound)("$file goes out as it is written there", ({ frame }) => {
    expect(sent(frame)).toBe(JSON.stringify(frame))
  })

  it("has a frame of each message and each command", () => {
    const shown = outbound.map(({ frame }) => (frame["type"] === "command" ? frame["name"] : frame["type"]))
    expect(new Set(shown)).toEqual(
      new Set(["reply:chunk", "reply:done", "tool:call", "hangup", "transfer", "record", "barge_in", "listen"])
    )
  })
})

it("the example call is read and written frame for frame", () => {
  expect(aWholeCall).toHaveLength(17)
  for (const { direction, frame } of aWholeCall) {
    if (direction === "jambonz → harness") expect(encoded(decoded(frame))).toMatchObject(frame)
    else expect(sent(frame)).toBe(JSON.stringify(frame))
  }
})

it("is offered as @harness/protocol/jambonz, and there alone", async () => {
  const subpath = await import("@harness/protocol/jambonz")
  expect(subpath.SUBPROTOCOL).toBe("harness.jambonz.org")
  expect(Either.isLeft(subpath.readInbound("{"))).toBe(true)
  expect(await import("@harness/protocol")).not.toHaveProperty("readInbound")
})
