import { assert, describe, it } from "@effect/vitest"
import { CallId, type Part } from "@harness/protocol"
import { FastCheck as fc } from "effect"
import { roomOf, tokensOf, tokensOfText } from "../../src/compaction/tokens.ts"

const base64 = (text: string) => Buffer.from(text, "utf8").toString("base64")
const file = (mime: string, text: string): Part => ({ type: "file", mime, name: "f", data: base64(text) })
const of = (part: Part) => tokensOf({ content: [part] })

describe("counting tokens", () => {
  it("four ASCII characters are one, any other character is one of its own", () => {
    assert.strictEqual(tokensOfText(""), 0)
    assert.strictEqual(tokensOfText("abcde"), 2)
    assert.strictEqual(tokensOfText("漢字かな"), 4)
    assert.strictEqual(tokensOfText("abcd漢字"), 3)
    assert.isAtLeast(tokensOfText("🌍"), 2)
  })

  it("a text is never fewer than a quarter of its characters, nor fewer than its characters beyond ASCII", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const tokens = tokensOfText(text)
        return tokens >= text.length / 4 && tokens >= [...text].filter((one) => one > "\x7f").length
      })
    )
  })

  it("two texts together are at most one less than apart", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (one, other) => {
        const apart = tokensOfText(one) + tokensOfText(other)
        const together = tokensOfText(one + other)
        return together === apart || together === apart - 1
      })
    )
  })

  it("a picture costs the same whatever its bytes, a text file what it says", () => {
    const picture = (size: number): Part => ({ type: "image", mime: "image/png", data: "A".repeat(size) })
    assert.strictEqual(of(picture(4)), of(picture(400_000)))
    const text = "漢".repeat(3_000)
    assert.isAtLeast(of(file("text/plain", text)), tokensOfText(text))
    assert.isAtLeast(of(file("application/json", "x".repeat(9_000))), 2_250)
    assert.strictEqual(of(file("application/zip", "x".repeat(9_000))), of(file("application/pdf", "x")))
  })

  it("every part costs something", () => {
    const callId = CallId.make("call_00000000000000000000000001")
    const parts: ReadonlyArray<Part> = [
      { type: "text", text: "" },
      { type: "reasoning", text: "" },
      { type: "redacted_reasoning", data: "" },
      { type: "call", callId, name: "", arguments: null },
      { type: "result", callId, content: [], isError: false },
      file("text/plain", "")
    ]
    for (const part of parts) assert.isAbove(of(part), 0, part.type)
  })
})

describe("the room of a request", () => {
  it("is the window without the longest answer and a reserve", () => {
    assert.isUndefined(roomOf({}))
    assert.isUndefined(roomOf({ maxOutputTokens: 100 }))
    assert.strictEqual(roomOf({ contextWindow: 200_000, maxOutputTokens: 64_000 }), 200_000 - 64_000 - 512)
    assert.strictEqual(roomOf({ contextWindow: 400_000, maxOutputTokens: 128_000 }), 272_000 - 512)
    assert.strictEqual(roomOf({ contextWindow: 200_000 }), 200_000 - 4_096 - 512)
  })

  it("is there for any window, and leaves an answer its own", () => {
    const tokens = fc.integer({ min: 1, max: 2_000_000 })
    fc.assert(
      fc.property(tokens, fc.option(tokens, { nil: undefined }), (contextWindow, maxOutputTokens) => {
        const room = roomOf({ contextWindow, ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }) }) ?? -1
        assert.isAtLeast(room, contextWindow / 3)
        assert.isAtMost(room, contextWindow)
        if (maxOutputTokens !== undefined && maxOutputTokens <= contextWindow / 2) {
          assert.isAtMost(room + maxOutputTokens, contextWindow)
        }
      })
    )
  })
})
