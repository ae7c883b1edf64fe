import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { brief, makeDeltas, wellFormed, wellFormedJson } from "../../src/providers/text.ts"

/** Strings of any code units, halves of pairs among them, and where to cut them. */
const cut = fc.array(
  fc.array(fc.constantFrom("a", "é", "\ud83c", "\udf0d", "🌍", "漢"), { maxLength: 6 }).map((units) => units.join("")),
  { maxLength: 12 }
)

describe("text", () => {
  it("however a text is cut into deltas, they make the same well-formed text", () => {
    fc.assert(
      fc.property(cut, (pieces) => {
        const deltas = makeDeltas()
        const out = pieces.map((piece) => deltas.push("b", piece))
        const whole = [...out, deltas.end("b")].join("")
        assert.strictEqual(whole, wellFormed(pieces.join("")))
        for (const delta of out) assert.notMatch(delta, /\p{Surrogate}/u)
      })
    )
  })

  it("blocks do not lend each other their halves", () => {
    const deltas = makeDeltas()
    assert.strictEqual(deltas.push("a", "\ud83c"), "")
    assert.strictEqual(deltas.push("b", "\udf0d"), "\uFFFD")
    assert.strictEqual(deltas.end("a"), "\uFFFD")
    assert.strictEqual(deltas.end("a"), "")
  })

  it("well-formed text is not touched, and a cut never parts a pair", () => {
    const text = "plain 🌍 漢字 \u{1F468}\u200D\u{1F469}"
    assert.strictEqual(wellFormed(text), text)
    assert.strictEqual(brief("a🌍", 2), "a…")
    assert.strictEqual(brief("a🌍", 3), "a🌍")
    assert.deepStrictEqual(wellFormedJson({ "\ud83d": ["\ud83d", 1, null] }), { "\uFFFD": ["\uFFFD", 1, null] })
  })
})
