import * as fc from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import { textChanges } from "../src/Client.ts"
import { snapshot, text } from "./kit/log.ts"

const change = (before: string, after: string) =>
  textChanges(snapshot(1, { parts: [text("p1", before)] }), snapshot(2, { parts: [text("p1", after)] }))

describe("what changed in a turn's text", () => {
  it("is what was added, or what stands now from where it differs", () => {
    expect(change("Hello", "Hello world")).toEqual([{ kind: "text", partId: "p1", offset: 5, text: " world" }])
    expect(change("Hello world", "Hello you")).toEqual([{ kind: "text", partId: "p1", offset: 6, text: "you" }])
    expect(change("Hello", "Hell")).toEqual([{ kind: "text", partId: "p1", offset: 4, text: "" }])
    expect(change("Hello", "Hello")).toEqual([])
    expect(textChanges(undefined, snapshot(1, { parts: [text("p1", "x")] }))).toEqual([
      { kind: "text", partId: "p1", offset: 0, text: "x" }
    ])
  })

  it("never begins inside a character", () => {
    expect(change("a👍", "a👎")).toEqual([{ kind: "text", partId: "p1", offset: 1, text: "👎" }])
  })

  it("finds parts by their id, and leaves out what has no text", () => {
    const note = { type: "notice", partId: "p0", code: "n", message: "m" } as const
    const before = snapshot(1, { parts: [text("p1", "a")] })
    expect(textChanges(before, snapshot(2, { parts: [note, text("p1", "ab")] }))).toEqual([
      { kind: "text", partId: "p1", offset: 1, text: "b" }
    ])
  })

  it("makes of what is shown what is true, whatever both are", () => {
    fc.assert(
      fc.property(fc.fullUnicodeString(), fc.fullUnicodeString(), fc.nat(), (a, b, kept) => {
        const before = a + b
        const after = before.slice(0, kept % (before.length + 1)) + b
        const [found] = change(before, after)
        expect(found === undefined ? before : before.slice(0, found.offset) + found.text).toBe(after)
      })
    )
  })
})
