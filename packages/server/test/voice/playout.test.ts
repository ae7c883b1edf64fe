import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { speakingMillis, spokenAfter } from "../../src/voice/playout.ts"

describe("how long a text takes to say", () => {
  it.each([
    ["", 0],
    ["  \n", 0],
    ["123456", 1_200],
    ["a".repeat(30), 2_000],
    ["日本語日本語", 1_000],
    ["안녕하세요요", 1_000]
  ])("%j", (text, millis) => {
    expect(speakingMillis(text)).toBe(millis)
  })
})

describe("what was said by then", () => {
  it("ends with a word, and with the punctuation of its own", () => {
    const text = "We're open, eight to six. Bye!"
    expect(spokenAfter(text, 0)).toBe("")
    expect(spokenAfter(text, speakingMillis("We're open,"))).toBe("We're open,")
    expect(spokenAfter(text, speakingMillis("We're open, eig"))).toBe("We're open,")
    expect(spokenAfter(text, speakingMillis("We're open"))).toBe("We're")
    expect(spokenAfter(text, speakingMillis(text))).toBe(text)
    expect(spokenAfter(text, 1e9)).toBe(text)
    expect(spokenAfter("営業時間は九時からです。", speakingMillis("営業時間は"))).toBe("営業時間は")
  })

  it("is a beginning, fits the time, and grows with it", () => {
    const texts = fc.array(fc.constantFrom("word", " ", ", ", "日本", "です", "12", "é", "สวัสดี", ".", "\n"), {
      maxLength: 30
    })
    fc.assert(
      fc.property(texts, fc.nat({ max: 9_000 }), fc.nat({ max: 2_000 }), (parts, millis, more) => {
        const text = parts.join("")
        const said = spokenAfter(text, millis)
        expect(text.startsWith(said)).toBe(true)
        expect(speakingMillis(said)).toBeLessThanOrEqual(Math.max(millis, 0) + 1)
        expect(spokenAfter(text, millis + more).length).toBeGreaterThanOrEqual(said.length)
        expect(spokenAfter(text, speakingMillis(text))).toBe(text)
      }),
      { numRuns: 500 }
    )
  })
})
