import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { alignSpoken, remainderOf } from "../../src/voice/align.ts"
import { lettersOf } from "../../src/voice/letters.ts"

const letters = (text: string) => lettersOf(text).map(({ letter }) => letter)

describe("what was heard of a reply", () => {
  const steps = ["Let me look that up.", "We're open eight to six, on weekdays.", "Anything else?"]

  it.each([
    ["Let me look that up. We're open eight to six", [steps[0], "We're open eight to six", ""]],
    ["let me LOOK  that up we're open, eight", [steps[0], "We're open eight", ""]],
    ["Let me look that up. We're open eight to six,", [steps[0], "We're open eight to six,", ""]],
    ["Let me look that up", [steps[0], "", ""]],
    ["Let me", ["Let me", "", ""]],
    ["Let me look that up. We re open eight to six on weekdays", [steps[0], steps[1], ""]],
    [steps.join(" "), steps],
    [steps.join(""), steps],
    ["", ["", "", ""]],
    [" \n", ["", "", ""]],
    ["Let me look that up. We're open eig", [steps[0], "We're open", ""]]
  ])("%j", (spoken, heard) => {
    expect(alignSpoken(steps, spoken)).toEqual(heard)
  })

  it.each(["Let us look", "We're open", `${steps.join(" ")} Bye`, "Le", "me look"])(
    "%j is no beginning of it",
    (spoken) => {
      expect(alignSpoken(steps, spoken)).toBeUndefined()
      expect(remainderOf(steps, spoken)).toBeUndefined()
    }
  )

  it("looks through hyphens, widths and composition", () => {
    expect(alignSpoken(["Send an e-mail to José."], "send an email")).toEqual(["Send an e-mail"])
    expect(alignSpoken(["José is here"], "Jose\u0301")).toEqual(["José"])
    expect(alignSpoken(["Jose\u0301 is here"], "José")).toEqual(["Jose\u0301"])
    expect(alignSpoken(["Room 12 is free"], "Room 12")).toEqual(["Room 12"])
    expect(alignSpoken(["Room 12 is free"], "Room 1")).toEqual(["Room"])
  })

  it("goes by characters where words are not parted", () => {
    expect(alignSpoken(["営業時間は九時から六時までです。"], "営業時間は九時")).toEqual(["営業時間は九時"])
    expect(alignSpoken(["はい。", "お待ちください。"], "はいお待ち")).toEqual(["はい。", "お待ち"])
    expect(alignSpoken(["เปิดเก้าโมงเช้า"], "เปิดเก้าโมง")).toEqual(["เปิดเก้าโมง"])
    expect(alignSpoken(["เปิดเก้าโมงเช้า"], "เปิดเก")).toEqual(["เปิดเ"])
    expect(alignSpoken(["영업 시간은 아홉 시입니다"], "영업 시간은 아홉")).toEqual(["영업 시간은 아홉"])
  })

  it("keeps a step that has nothing to hear when a later one was heard", () => {
    expect(alignSpoken(["…", "Hello there", ""], "Hello")).toEqual(["…", "Hello", ""])
    expect(alignSpoken([], "")).toEqual([])
    expect(alignSpoken([], "Hello")).toBeUndefined()
    expect(alignSpoken(["…"], "…")).toEqual(["…"])
  })
})

describe("the rest of a reply", () => {
  it.each([
    ["We're open eight to six. On Sunday", "On Sunday we are closed, sorry."],
    ["We're open eight to six. On Sunday we are closed", "sorry."],
    ["We're open eight to six", "On Sunday we are closed, sorry."],
    ["We're open", "We're open eight to six. On Sunday we are closed, sorry."],
    ["", "We're open eight to six. On Sunday we are closed, sorry."],
    ["We're open eight to six. On Sunday we are closed, sorry", ""]
  ])("after %j", (spoken, rest) => {
    expect(remainderOf(["We're open eight to six.", "On Sunday we are closed, sorry."], spoken)).toBe(rest)
  })

  it("begins at no decimal point, and at an ideographic comma", () => {
    expect(remainderOf(["It costs 1,299.50 euros, all told"], "It costs 1,299.50")).toBe(
      "It costs 1,299.50 euros, all told"
    )
    expect(remainderOf(["平日は九時から、土曜は十時からです。"], "平日は九時から、土曜は")).toBe("土曜は十時からです。")
  })
})

const word = fc.constantFrom("we", "are", "Open", "it's", "e-mail", "42", "naïve", "あい", "日", "Straße", "não")
const mark = fc.constantFrom(" ", ", ", ". ", "? ", " — ", "\n")
const pieces = fc.array(
  fc.array(fc.tuple(word, mark), { minLength: 1, maxLength: 6 }).map((pairs) => pairs.flat().join("").trim()),
  { minLength: 1, maxLength: 4 }
)

describe("of any reply", () => {
  it("all of it is all of it, whatever the spaces, case and punctuation", () => {
    fc.assert(
      fc.property(pieces, (steps) => {
        const text = steps.join(" ")
        for (const spoken of [text, text.toUpperCase().replaceAll("SS", "ß"), text.replace(/[^\p{L}\p{N}]/gu, "")]) {
          expect(alignSpoken(steps, spoken)).toEqual(steps)
          expect(remainderOf(steps, spoken)).toBe("")
        }
      })
    )
  })

  it("what a beginning of it leaves is a beginning of each step, whole ones first, and never more than was spoken", () => {
    fc.assert(
      fc.property(pieces, fc.nat({ max: 200 }), (steps, at) => {
        const text = steps.join(" ")
        const spoken = text.slice(0, at)
        const heard = alignSpoken(steps, spoken)
        if (heard === undefined) {
          // Inside the first word.
          expect(spoken.trim()).not.toMatch(/\s/)
          return
        }
        expect(heard).toHaveLength(steps.length)
        const cut = heard.findIndex((piece, index) => piece !== steps[index])
        heard.forEach((piece, index) => {
          expect(steps[index]?.startsWith(piece)).toBe(true)
          if (cut >= 0 && index > cut) expect(piece).toBe("")
        })
        expect(
          letters(spoken)
            .join("")
            .startsWith(letters(heard.join(" ")).join(""))
        ).toBe(true)
      }),
      { numRuns: 500 }
    )
  })

  it("what was heard and what is left miss no letter", () => {
    fc.assert(
      fc.property(pieces, fc.nat({ max: 200 }), (steps, at) => {
        const text = steps.join(" ")
        const spoken = text.slice(0, at)
        const rest = remainderOf(steps, spoken)
        const heard = alignSpoken(steps, spoken)
        expect(rest === undefined).toBe(heard === undefined)
        if (rest === undefined || heard === undefined) return
        expect(text.trim().endsWith(rest)).toBe(true)
        expect(letters(heard.join(" ")).length + letters(rest).length).toBeGreaterThanOrEqual(letters(text).length)
      }),
      { numRuns: 500 }
    )
  })
})
