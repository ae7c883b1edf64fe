import { FastCheck as fc } from "effect"
import { expect, it } from "vitest"
import { wordAt, wordCount } from "../src/words.ts"

const wordsOf = (text: string, complete: boolean) => {
  const words: Array<string> = []
  let offset = 0
  for (let word = wordAt(text, offset, complete); word !== undefined; word = wordAt(text, offset, complete)) {
    words.push(word)
    offset += word.length
  }
  return words
}

it("a word comes with the space before it, the last one also with what follows", () => {
  expect(wordsOf("We're open  eight. ", true)).toEqual(["We're", " open", "  eight. "])
})

it("a word that may still grow is no word yet", () => {
  expect(wordsOf("We're op", false)).toEqual(["We're"])
  expect(wordsOf("We're open ", false)).toEqual(["We're", " open"])
})

it("scripts without spaces are spoken sign by sign", () => {
  expect(wordsOf("営業は8時 です", true)).toEqual(["営", "業", "は", "8", "時", " で", "す"])
  expect(wordCount("営業は8時")).toBe(5)
})

it("the words of any text are the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(wordsOf(text, true).join("")).toBe(text.trim() === "" ? "" : text)
    })
  )
})
