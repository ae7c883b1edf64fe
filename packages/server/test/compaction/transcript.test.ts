import { assert, describe, it } from "@effect/vitest"
import { EntryId } from "@harness/protocol"
import { FastCheck as fc } from "effect"
import { tokensOfText } from "../../src/compaction/tokens.ts"
import { transcriptOf } from "../../src/compaction/transcript.ts"
import type { StoredEntry } from "../../src/history/HistoryRepo.ts"
import { history } from "./histories.ts"

const said = (role: StoredEntry["role"], text: string, ord = 1): StoredEntry => ({
  entryId: EntryId.make(`e${ord}`),
  ord,
  role,
  content: [{ type: "text", text }]
})

describe("a transcript", () => {
  it("has every text whole when there is room", () => {
    fc.assert(
      fc.property(history, (entries) => {
        const whole = transcriptOf(entries)
        for (const { content, role } of entries) {
          if (role === "tool") continue
          for (const part of content) {
            if (part.type === "text" && part.text.trim() !== "") assert.include(whole, part.text)
          }
        }
      })
    )
  })

  it("never has more tokens than there is room", () => {
    fc.assert(
      fc.property(history, fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 20_000 })), (entries, room) => {
        assert.isAtMost(tokensOfText(transcriptOf(entries, room)), Math.max(room, 5))
      })
    )
  })

  it("says who spoke, and shows long things in part rather than leaving any out", () => {
    const entries = Array.from({ length: 20 }, (_, index) =>
      said(index % 2 === 0 ? "user" : "assistant", `begin-${index} ${"word ".repeat(2_000)} end-${index}`, index + 1)
    )
    const short = transcriptOf(entries, 8_000)
    assert.isAtMost(tokensOfText(short), 8_000)
    for (let index = 0; index < 20; index++) {
      assert.include(short, `begin-${index} `)
      assert.include(short, `end-${index}`)
    }
    assert.strictEqual(short.match(/^User:$/gm)?.length, 10)
    assert.strictEqual(short.match(/^Assistant:$/gm)?.length, 10)
  })

  it("leaves out entries that say nothing", () => {
    assert.strictEqual(transcriptOf([said("user", " "), said("assistant", "yes")]), "Assistant:\nyes")
  })
})
