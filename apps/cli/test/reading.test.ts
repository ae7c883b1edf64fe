import { assert, describe, it } from "@effect/vitest"
import type { QuestionItem } from "@harness/protocol"
import { Either } from "effect"
import { readAnswer, readReply } from "../src/asking/reading.ts"

const red = { label: "Red", description: "" }
const blue = { label: "Blue", description: "" }
const item = (more: Partial<QuestionItem> = {}): QuestionItem => ({
  question: "Which?",
  header: "",
  options: [red, blue],
  ...more
})

describe("a line typed at a permission request", () => {
  for (const [line, meant] of [
    ["o", { reply: "once" }],
    [" Once ", { reply: "once" }],
    ["yes", { reply: "once" }],
    ["a", { reply: "always" }],
    ["ALWAYS", { reply: "always" }],
    ["r", { reply: "reject" }],
    ["no", { reply: "reject" }],
    ["r  use npm ci ", { reply: "reject", message: "use npm ci" }]
  ] as const) {
    it(`"${line}" means ${JSON.stringify(meant)}`, () => {
      assert.deepStrictEqual(readReply(line, true), Either.right(meant))
    })
  }

  it("means nothing unless it is exactly one of them: nothing is allowed by accident", () => {
    for (const line of ["", " ", "ok", "o please", "always not", "yes, but", "1", "\u001b[A", "oo", "y\u0000"]) {
      assert.isTrue(Either.isLeft(readReply(line, true)), line)
    }
    assert.isTrue(Either.isLeft(readReply("a", false)))
  })
})

describe("a line typed at a question", () => {
  const read = (line: string, more: Partial<QuestionItem> = {}) =>
    Either.getOrElse(readAnswer(line, item(more)), () => "?")

  it("names an option by number or label", () => {
    assert.deepStrictEqual(
      ["2", "blue", " Blue "].map((line) => read(line)),
      [["Blue"], ["Blue"], ["Blue"]]
    )
    assert.deepStrictEqual(
      ["0", "3", "green", "1,2", "", "1 2"].map((line) => read(line)),
      ["?", "?", "?", "?", "?", "?"]
    )
  })

  it("names several where several are asked for", () => {
    assert.deepStrictEqual(read("2, red", { multiple: true }), ["Blue", "Red"])
    assert.deepStrictEqual(read("2,2", { multiple: true }), ["Blue"])
    assert.deepStrictEqual(read("2, green", { multiple: true }), "?")
  })

  it("is the answer itself where own words are asked for, or where there is nothing to choose", () => {
    assert.deepStrictEqual(read("green, and more", { custom: true }), ["green, and more"])
    assert.deepStrictEqual(read("1", { custom: true }), ["Red"])
    assert.deepStrictEqual(read("7", { custom: true }), ["7"])
    assert.deepStrictEqual(read("why not", { options: [] }), ["why not"])
    assert.deepStrictEqual(read(" ", { options: [] }), "?")
  })

  it("may name a label that is a number, or holds a comma", () => {
    const options = [
      { label: "2", description: "" },
      { label: "a, b", description: "" }
    ]
    assert.deepStrictEqual(read("2", { options }), ["2"])
    assert.deepStrictEqual(read("a, b", { options, multiple: true }), ["a, b"])
  })
})
