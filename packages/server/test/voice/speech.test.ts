import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { HOLD_MAX } from "../../src/voice/markup/ahead.ts"
import { SpeechCleaner, spokenText } from "../../src/voice/speech.ts"

/** What each piece lets out, the end's share last. */
const said = (pieces: ReadonlyArray<string>): ReadonlyArray<string> => {
  const cleaner = new SpeechCleaner()
  return [...pieces.map((piece) => cleaner.push(piece)), cleaner.end()]
}

describe("markup goes, its words stay", () => {
  it.each([
    ["**Bold**, *slanted*, ***both*** and __under__ _scores_.", "Bold, slanted, both and under scores."],
    ["~~old~~ new", "old new"],
    ["Cut off at **", "Cut off at"],
    ["これは**重要**です。", "これは重要です。"],
    ["# Opening hours\nNine to five.", "Opening hours. Nine to five."],
    ["## Title ##\nText", "Title. Text"],
    ["Title\n=====\nText", "Title. Text"],
    ["We have:\n- apples\n- pears\n\nWhich one?", "We have: apples. pears. Which one?"],
    ["* one\n+ two\n• three", "one. two. three"],
    ["1. First\n2. Second\n3) Third", "First. Second. Third"],
    ["- [x] done\n- [ ] open", "done. open"],
    ["> Quoted\n> words\n\nMine", "Quoted words. Mine"],
    ["> - in a quotation", "in a quotation"],
    ["One.\n\n---\n\nTwo.", "One. Two."],
    ["| Name | Price |\n|------|:-----:|\n| Tea | $2 |\n", "Name, Price. Tea, $2"],
    ["Name | Price\n--- | ---\nTea | $2", "Name, Price. Tea, $2"],
    ["Press `start` now", "Press start now"],
    ["``a `b` c``", "a b c"],
    ["Run this:\n```sh\nrm -rf *\n```\nDone.", "Run this: Done."],
    ["~~~\ncode\n~~~\nDone.", "Done."],
    ["```one line``` stays", "one line stays"],
    ["Before\n```\nnever closed", "Before"],
    ['See [our page](https://example.com/a_(b)?c=d "title").', "See our page."],
    ["See [**our** page][home], please.", "See our page, please."],
    ["![A red door](door.png) opens", "A red door opens"],
    ["[![Logo](a.png)](https://example.com) here", "Logo here"],
    ["Line<br>next <b>bold</b> H<sub>2</sub>O<!-- hidden -->", "Line next bold H2O"],
    ["<p>One</p><p>Two</p>", "One. Two"],
    ['<answer lang="en">Yes.</answer>', "Yes."],
    ["Fish &amp; chips&nbsp;&#33; R&D", "Fish & chips ! R&D"],
    ["\\*not slanted\\* and 1\\. two", "*not slanted* and 1. two"],
    ["a  b\n c\td", "a b c d"],
    ["  \n\n lead and trail \n\n", "lead and trail"],
    ["一つ目\n\n二つ目", "一つ目。二つ目"]
  ])("%j is spoken %j", (text, speech) => {
    expect(spokenText(text)).toBe(speech)
  })
})

describe("an address is its host", () => {
  it.each([
    ["Visit https://www.example.com/path/to?x=1&y=2#top.", "Visit example.com."],
    ["Visit http://example.com, or www.example.org!", "Visit example.com, or example.org!"],
    ["(see https://example.com/a_(b))", "(see example.com)"],
    ["**https://example.com/a**", "example.com"],
    ["<https://example.com/a> and <desk@example.com>", "example.com and desk@example.com"],
    ["https://user:secret@example.com:8443/x", "example.com"],
    ["詳細はhttps://example.com/aをどうぞ。", "詳細はexample.comをどうぞ。"],
    ["`https://example.com/x`", "example.com"],
    ["[https://example.com/x](https://example.com/x)", "example.com"],
    ["Is it https://example.com/a?b? Yes", "Is it example.com? Yes"],
    ["We use http:// and www. here, who knows", "We use http:// and www. here, who knows"]
  ])("%j is spoken %j", (text, speech) => {
    expect(spokenText(text)).toBe(speech)
  })
})

describe("pictures are not spoken", () => {
  it.each([
    ["Hi 👋🏽 there", "Hi there"],
    ["Great 🎉!", "Great!"],
    ["👩‍👩‍👧‍👦 family, 🏳️‍🌈 flag, 🇩🇪 too", "family, flag, too"],
    ["1️⃣ First #️⃣ *️⃣", "First"],
    ["I ❤️ it ✅ ✓ ★ ● in C♯", "I it in C♯"],
    ["Acme® and ©2024™", "Acme® and ©2024™"],
    ["🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F} goal", "goal"]
  ])("%j is spoken %j", (text, speech) => {
    expect(spokenText(text)).toBe(speech)
  })
})

describe("what is no markup stays right", () => {
  it.each([
    "It is 2 * 3, or 2*3, or 2**3, and a*b.",
    "Use snake_case and foo_bar_baz, or @_name.",
    "It's $5.00, €1,299.50, 50% or 3/4.",
    "On 2024-05-06, at 10:30, for 1-2 people.",
    "3. Oktober passt, am 24. Dezember nicht.",
    "2024. That was the year.",
    "1.",
    "#1 in C# and F#, tag #one.",
    "Press * or #, dial *67 or *21*0123#.",
    "A 5* hotel.",
    "-5 degrees, and > 5 < 6, x<y and z>w.",
    "List [1], matrix a[0][1], note [sic].",
    "AT&T; and Q&A.",
    "x|y, a||b",
    "~5 minutes",
    "Ist es „gut“? ¿Qué tal? C’est «bien» !",
    "你好,世界!今天好吗?",
    "สวัสดีครับ ยินดีต้อนรับ",
    "नमस्ते, क्‍ष, می‌خواهم",
    "john_doe@example.com",
    "Hello, how can I help who wants what?",
    "C:\\temp"
  ])("%j", (text) => {
    expect(spokenText(text)).toBe(text)
  })
})

describe("as it streams", () => {
  it("plain words go out at once", () => {
    expect(said(["Hello", " there,", " you", "."])).toEqual(["Hello", " there,", " you", ".", ""])
  })

  it("a mark waits for what makes it one, and no longer", () => {
    expect(said(["*", "*", "Y", "es", "*", "*", "."])).toEqual(["", "", "Y", "es", "", "", ".", ""])
    expect(said(["See ", "[the", " page]", "(http", "s://example.com)", " now"])).toEqual([
      "See",
      "",
      "",
      " the page",
      "",
      " now",
      ""
    ])
  })

  const fragments = fc.constantFrom(
    ..."*_`~#>|-+=.:!?,()[]<>&;\\/\"'@$%^ \n\t\r".split(""),
    ..."aB5é漢のก".split(""),
    "```",
    "```js\n",
    "\n\n",
    "\n- ",
    "1. ",
    "2. ",
    "](",
    "![",
    "https://",
    "www.",
    "example.com/",
    "<b>",
    "<br",
    "&amp;",
    "🎉",
    "👩‍👧",
    "🇩🇪",
    "\uFE0F",
    "\u20E3",
    "\u200D",
    "\ud83c",
    "\udf0d",
    "word",
    "|---|---|\n",
    "**",
    "x".repeat(70)
  )
  const texts = fc.array(fragments, { maxLength: 40 }).map((parts) => parts.join(""))

  it("is the same however the text was cut, and well-formed", () => {
    fc.assert(
      fc.property(texts, fc.array(fc.nat({ max: 120 }), { maxLength: 12 }), (text, places) => {
        const cuts = [0, ...places.filter((place) => place < text.length).sort((a, b) => a - b), text.length]
        const pieces = cuts.slice(1).map((to, index) => text.slice(cuts[index], to))
        const whole = spokenText(text)
        for (const way of [pieces, text.split("")]) {
          const out = said(way)
          expect(out.join("")).toBe(whole)
          for (const piece of out) expect(piece).not.toMatch(/\p{Surrogate}/u)
        }
        expect(whole).not.toMatch(/^\s|\s$|\s\s/)
      }),
      { numRuns: 1_500 }
    )
  })

  it("never holds much back", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const cleaner = new SpeechCleaner()
        for (const unit of text) {
          cleaner.push(unit)
          expect(cleaner.held).toBeLessThanOrEqual(HOLD_MAX + 10)
        }
        cleaner.end()
        expect(cleaner.held).toBe(0)
      }),
      { numRuns: 300 }
    )
    for (const opening of [
      "[",
      "<a",
      "**",
      "*1",
      "https://",
      "|",
      "=",
      "`",
      "```",
      "~",
      "_",
      "#",
      "&",
      "1",
      "](",
      "\\"
    ]) {
      const cleaner = new SpeechCleaner()
      let held = 0
      for (const unit of opening + opening.slice(-1).repeat(400) + "x".repeat(400)) {
        cleaner.push(unit)
        held = Math.max(held, cleaner.held)
      }
      expect(held, opening).toBeLessThanOrEqual(HOLD_MAX + 10)
    }
  })

  it("plain sentences in any script come out as they went in", () => {
    // One letter of Unicode, ℹ, is a pictograph too, and no voice says it.
    const word = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 8 })
      .filter((text) => /^[\p{L}\p{N}]+$/u.test(text) && !/\p{Extended_Pictographic}/u.test(text))
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), (words) => {
        const text = words.join(" ")
        fc.pre(!/^\d{1,2}$/.test(words[0] ?? ""))
        expect(spokenText(text)).toBe(text)
      })
    )
  })
})

describe("a text that was cut", () => {
  const text = "One two three. Four (and five), six – seven! Is it 8.5? Nine."
  it.each(Array.from(text, (_, at) => at))("is gone on with behind character %i as if it never was", (at) => {
    const before = new SpeechCleaner().push(text.slice(0, at))
    const after = new SpeechCleaner(before)
    const rest = after.push(text.slice(before.length)) + after.end()
    expect(before + rest).toBe(text)
  })
})
