import { assert, describe, it } from "@effect/vitest"
import { CallId, EntryId, type Part } from "@harness/protocol"
import { FastCheck as fc } from "effect"
import { headOf, pruned, unitsOf } from "../../src/compaction/plan.ts"
import { tokensOf, totalTokens } from "../../src/compaction/tokens.ts"
import type { StoredEntry } from "../../src/history/HistoryRepo.ts"
import { callsIn, history, keep, resultsIn } from "./histories.ts"

const EVERYTHING = { tokens: 0, units: 0 }

/** Whether a call is on one side, and its result on the other. */
const parted = (one: ReadonlyArray<StoredEntry>, other: ReadonlyArray<StoredEntry>): boolean => {
  const [calls, results] = [new Set(callsIn(one)), new Set(resultsIn(one))]
  return resultsIn(other).some((id) => calls.has(id)) || callsIn(other).some((id) => results.has(id))
}

const entry = (ord: number, role: StoredEntry["role"], ...content: ReadonlyArray<Part>): StoredEntry => ({
  entryId: EntryId.make(`e${ord}`),
  ord,
  role,
  content
})
const said = (ord: number, text: string, role: StoredEntry["role"] = "user") => entry(ord, role, { type: "text", text })
const callId = (number: number) => CallId.make(`call_${String(number).padStart(26, "0")}`)
const asks = (ord: number, ...calls: ReadonlyArray<number>) =>
  entry(
    ord,
    "assistant",
    ...calls.map((number): Part => ({ type: "call", callId: callId(number), name: "read", arguments: {} }))
  )
const result = (ord: number, call: number, text: string) =>
  entry(ord, "tool", { type: "result", callId: callId(call), content: [{ type: "text", text }], isError: false })

const ords = (entries: ReadonlyArray<StoredEntry>) => entries.map(({ ord }) => ord)

describe("units", () => {
  it("are the history in its order, and never part a call from its result", () => {
    fc.assert(
      fc.property(history, (entries) => {
        const units = unitsOf(entries)
        assert.deepStrictEqual(units.flat(), entries)
        assert.isTrue(units.every((unit) => unit.length > 0))
        units.forEach((unit, index) => {
          assert.isFalse(parted(unit, units.slice(index + 1).flat()))
        })
      })
    )
  })

  it("are as small as that allows", () => {
    const entries = [said(1, "a"), asks(2, 1, 2), result(3, 2, "x"), said(4, "wait"), result(5, 1, "y"), said(6, "b")]
    assert.deepStrictEqual(unitsOf(entries).map(ords), [[1], [2, 3, 4, 5], [6]])
    assert.deepStrictEqual(unitsOf([asks(1, 1), asks(2, 2), result(3, 2, "x"), result(4, 1, "y")]).map(ords), [
      [1, 2, 3, 4]
    ])
    assert.deepStrictEqual(unitsOf([result(1, 9, "of no call"), said(2, "a")]).map(ords), [[1], [2]])
  })
})

describe("the head", () => {
  it("begins the history, and never parts a call from its result, whatever is to be kept", () => {
    fc.assert(
      fc.property(history, keep, (entries, kept) => {
        const head = headOf(entries, kept)
        const rest = entries.slice(head.length)
        assert.deepStrictEqual(head, entries.slice(0, head.length))
        assert.isFalse(parted(head, rest))
      })
    )
  })

  it("leaves what was to be kept, and no more", () => {
    fc.assert(
      fc.property(history, keep, (entries, kept) => {
        const head = headOf(entries, kept)
        if (head.length === 0) return
        const rest = unitsOf(entries.slice(head.length))
        const next = unitsOf(head).at(-1) ?? []
        assert.isAtLeast(rest.length, Math.min(kept.units, unitsOf(entries).length))
        if (rest.length > kept.units) assert.isAtMost(totalTokens(rest.flat()), kept.tokens)
        assert.isAbove(totalTokens(rest.flat()) + totalTokens(next), kept.tokens)
      })
    )
  })

  it("is everything, for whoever keeps nothing", () => {
    const entries = [said(1, "a"), asks(2, 1), result(3, 1, "x"), said(4, "b", "assistant")]
    assert.deepStrictEqual(headOf(entries, EVERYTHING), entries)
  })

  it("ends before what stands from a place on", () => {
    const entries = [said(1, "a"), asks(2, 1), result(3, 1, "x"), said(4, "b", "assistant"), said(5, "c")]
    const headTo = (from: number) => ords(headOf(entries, { ...EVERYTHING, from }))
    assert.deepStrictEqual(headTo(5), [1, 2, 3, 4])
    assert.deepStrictEqual(headTo(4), [1, 2, 3])
    // A call is not parted from its result for that.
    assert.deepStrictEqual(headTo(3), [])
    assert.deepStrictEqual(headTo(9), [1, 2, 3, 4, 5])
  })

  it("is nothing where a summary has nothing to gain", () => {
    assert.deepStrictEqual(headOf([], EVERYTHING), [])
    assert.deepStrictEqual(headOf([said(1, "hi")], EVERYTHING), [])
    assert.deepStrictEqual(headOf([said(1, "sum ".repeat(9_000), "system")], EVERYTHING), [])
    assert.deepStrictEqual(headOf([said(1, "a"), said(2, "b")], { tokens: 1_000, units: 0 }), [])
    assert.deepStrictEqual(headOf([said(1, "a"), said(2, "b")], { tokens: 0, units: 2 }), [])
  })

  it("is one entry alone when that is long", () => {
    const long = said(1, "long ".repeat(2_000))
    assert.deepStrictEqual(headOf([long, said(2, "b"), said(3, "c")], { tokens: 0, units: 2 }), [long])
  })
})

describe("pruning", () => {
  const long = "x".repeat(9_000)

  it("changes old results alone, and each only to something shorter", () => {
    fc.assert(
      fc.property(history, fc.nat({ max: 6 }), (entries, units) => {
        const shorter = pruned(entries, units)
        assert.deepStrictEqual(callsIn(shorter), callsIn(entries))
        assert.deepStrictEqual(resultsIn(shorter), resultsIn(entries))
        const answers = unitsOf(entries).filter((unit) => unit.some(({ role }) => role === "assistant"))
        const newest = new Set(ords(units === 0 ? [] : answers.slice(-units).flat()))
        entries.forEach((before, index) => {
          const after = shorter[index]
          if (after === undefined) throw new Error(`entry ${before.ord} is gone`)
          if (before.role !== "tool" || newest.has(before.ord)) assert.strictEqual(after, before)
          assert.isAtMost(tokensOf(after), tokensOf(before))
        })
        assert.deepStrictEqual(pruned(shorter, units), shorter)
      })
    )
  })

  it("leaves the newest steps whole, however many came before", () => {
    const entries = [1, 2, 3].flatMap((step) => [asks(step * 2, step), result(step * 2 + 1, step, long)])
    const whole = (units: number) =>
      pruned(entries, units).flatMap((one) => (one.role === "tool" && tokensOf(one) > 1_000 ? [one.ord] : []))
    assert.deepStrictEqual(whole(0), [])
    assert.deepStrictEqual(whole(1), [7])
    assert.deepStrictEqual(whole(2), [5, 7])
    assert.deepStrictEqual(whole(9), [3, 5, 7])
  })
})
