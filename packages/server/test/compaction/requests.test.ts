import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Predicate, Runtime } from "effect"
import { headOf, pruned } from "../../src/compaction/plan.ts"
import type { StoredEntry } from "../../src/history/HistoryRepo.ts"
import { toMessages, withPartial } from "../../src/loop/context.ts"
import { factsOf } from "../../src/providers/facts.ts"
import type { ModelMessage } from "../../src/providers/Model.ts"
import { toPrompt } from "../../src/providers/prompt.ts"
import { assertValidRequest } from "../kit/scriptedModel.ts"
import { ask, collect, openaiOver, scripted } from "../providers/support.ts"
import { callsIn, history, keep, resultsIn, summarised } from "./histories.ts"

const families = ["responses", "chat", "anthropic", "google"] as const

/** Everything a history may be sent as: whole, pruned, and with a summary for its head. */
const forms = (entries: ReadonlyArray<StoredEntry>, kept: { readonly tokens: number; readonly units: number }) => {
  const shorter = summarised(entries, headOf(entries, kept))
  return [entries, pruned(entries, kept.units), shorter, pruned(shorter, kept.units)]
}

const sent = (entries: ReadonlyArray<StoredEntry>, partial: string): ReadonlyArray<ModelMessage> =>
  withPartial(
    toMessages(entries, "openai", (name) => name.replaceAll(".", "__")),
    partial
  )

const partial = fc.constantFrom("", " \n", "an answer that was cut o")

describe("requests of any history", () => {
  it.scoped("are valid: whole, pruned, and with a summary for any head", () =>
    Effect.gen(function* () {
      const stub = yield* scripted()
      const model = yield* openaiOver(stub)
      const run = Runtime.runPromise(yield* Effect.runtime())
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(history, keep, partial, async (entries, kept, cut) => {
            for (const form of forms(entries, kept)) {
              await run(collect(model, ask(...sent(form, cut))))
              assertValidRequest(stub.requests.at(-1)?.body)
            }
          }),
          { numRuns: 25 }
        )
      )
    })
  )

  it("have each call followed by its one result: the recorded one, or one that says that there is none", () => {
    fc.assert(
      fc.property(history, keep, (entries, kept) => {
        for (const form of forms(entries, kept)) {
          const recorded = new Set(resultsIn(form))
          let open: ReadonlyArray<string> = []
          for (const message of sent(form, "")) {
            if (message.role === "tool") {
              assert.strictEqual(message.callId, open[0])
              open = open.slice(1)
              if (!recorded.has(message.callId)) assert.isTrue(message.isError)
              continue
            }
            assert.deepStrictEqual(open, [])
            assert.isNotEmpty(message.content)
            open = message.content.flatMap((part) => (part.type === "call" ? [part.callId] : []))
          }
          assert.deepStrictEqual(open, [])
        }
      })
    )
  })

  it("lose no result to a summary of the call alone", () => {
    fc.assert(
      fc.property(history, keep, (entries, kept) => {
        const head = headOf(entries, kept)
        const calls = new Set(callsIn(entries))
        const told = sent(summarised(entries, head), "").flatMap((message) =>
          message.role === "tool" ? [message.callId] : []
        )
        const owed = resultsIn(entries.slice(head.length)).filter((id) => calls.has(id))
        assert.includeMembers(told, owed)
      })
    )
  })

  it("show a provider its own reasoning alone", () => {
    fc.assert(
      fc.property(history, (entries) => {
        const foreign = entries.map((entry) => ({ ...entry, provider: "another" }))
        for (const { content } of sent(foreign, "")) {
          assert.isFalse(content.some(({ type }) => type === "reasoning" || type === "redacted_reasoning"))
        }
      })
    )
  })

  for (const family of families) {
    it(`have, for ${family}, nothing empty, and each call's result in the message behind it`, () => {
      const target = { family, facts: factsOf(family, "any-name") }
      fc.assert(
        fc.property(history, keep, partial, (entries, kept, cut) => {
          for (const form of forms(entries, kept)) {
            const prompt = toPrompt(ask(...sent(form, cut)), target)
            let open: ReadonlyArray<string> = []
            for (const { content, role } of prompt) {
              assert.isNotEmpty(content)
              const parts = typeof content === "string" ? [] : content
              for (const part of parts) {
                if (part.type === "text") assert.notStrictEqual(part.text.trim(), "")
              }
              if (role === "tool") {
                assert.deepStrictEqual(
                  parts.map((part) => (Predicate.hasProperty(part, "toolCallId") ? part.toolCallId : part.type)),
                  open
                )
                open = []
                continue
              }
              assert.deepStrictEqual(open, [])
              if (role !== "assistant") continue
              open = parts.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []))
              assert.notStrictEqual(parts.at(-1)?.type, "reasoning")
            }
            assert.deepStrictEqual(open, [])
            const first = prompt.find(({ role }) => role !== "system")
            if (family === "anthropic" || family === "google") assert.notStrictEqual(first?.role, "assistant")
          }
        })
      )
    })
  }
})
