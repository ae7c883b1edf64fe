import { Arbitrary, FastCheck as fc, Schema } from "effect"
import { expect, it } from "vitest"
import { fitTurnRecord, jsonBytes, TURN_RECORD_MAX, TurnRecord } from "../../src/jambonz/index.ts"

const word = fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: "grapheme", maxLength: 400 }))
const long = fc.tuple(word, fc.nat(800)).map(([text, times]) => text.repeat(times))
const detail = fc.dictionary(fc.string({ maxLength: 10 }), long, { maxKeys: 3 })
const step = fc.record({ name: word, ms: fc.nat(), detail }, { requiredKeys: ["name"] })
const heavy: fc.Arbitrary<TurnRecord> = fc.record(
  {
    route: fc.oneof(word, long),
    procedures: fc.array(word, { maxLength: 30 }),
    steps: fc.array(step, { maxLength: 300, size: "max" }),
    model_calls: fc.array(fc.record({ model: word, ms: fc.nat() }), { maxLength: 200, size: "max" }),
    own_tools: fc.array(fc.record({ name: word, ok: fc.boolean() }), { maxLength: 200, size: "max" }),
    flags: fc.array(word, { maxLength: 60 }),
    note: long
  },
  { requiredKeys: [] }
)
const any = fc.oneof({ weight: 1, arbitrary: Arbitrary.make(TurnRecord) }, { weight: 3, arbitrary: heavy })

const isRecord = Schema.is(TurnRecord)
const isTail = (part: ReadonlyArray<unknown> | undefined, whole: ReadonlyArray<unknown> | undefined) =>
  JSON.stringify(part ?? []) === JSON.stringify((whole ?? []).slice((whole ?? []).length - (part ?? []).length))

const cutIn: Record<"not" | "details" | "note" | "steps" | "more", number> = {
  not: 0,
  details: 0,
  note: 0,
  steps: 0,
  more: 0
}

it("any record fits, keeps the newest of each list, and is not touched without need", () => {
  fc.assert(
    fc.property(any, (record) => {
      const fitted = fitTurnRecord(record)
      expect(jsonBytes(fitted)).toBeLessThanOrEqual(TURN_RECORD_MAX)
      expect(isRecord(fitted)).toBe(true)
      const bare = record.steps?.map(({ detail: _, ...rest }) => rest)
      const detailed = JSON.stringify(fitted.steps) === JSON.stringify(record.steps)
      expect(isTail(fitted.steps, detailed ? record.steps : bare)).toBe(true)
      for (const list of ["model_calls", "own_tools", "procedures", "flags"] as const) {
        expect(isTail(fitted[list], record[list])).toBe(true)
        expect(fitted[list] === undefined).toBe(record[list] === undefined)
      }
      if (jsonBytes(record) <= TURN_RECORD_MAX) {
        expect(fitted).toEqual(record)
        cutIn.not++
      } else if (fitted.note === record.note && fitted.steps?.length === record.steps?.length) cutIn.details++
      else if (fitted.steps?.length === record.steps?.length) cutIn.note++
      else if (fitted.model_calls?.length === record.model_calls?.length) cutIn.steps++
      else cutIn.more++
    }),
    { numRuns: 80, seed: 7, endOnFailure: true }
  )
  for (const [stage, times] of Object.entries(cutIn)) expect(times, stage).toBeGreaterThan(0)
})

it("details go first, then the note, then the oldest steps and only as many as must", () => {
  const steps = Array.from({ length: 200 }, (_, index) => ({ name: `step ${index}`, ms: index }))
  const detailed = steps.map((one) => ({ ...one, detail: { text: "d".repeat(100) } }))
  expect(fitTurnRecord({ steps: detailed, note: "kept" })).toEqual({ steps, note: "kept" })
  expect(fitTurnRecord({ steps, note: "n".repeat(TURN_RECORD_MAX) })).toEqual({ steps })

  const many = Array.from({ length: 2_000 }, (_, index) => ({ name: `step ${index}`, ms: 1 }))
  const fitted = fitTurnRecord({ route: "general", steps: many, model_calls: [] })
  expect(fitted.route).toBe("general")
  expect(fitted.model_calls).toEqual([])
  expect(fitted.steps?.at(-1)).toEqual(many.at(-1))
  expect(jsonBytes(fitted)).toBeGreaterThan(TURN_RECORD_MAX - 40)
})

it("bytes are counted, not characters", () => {
  expect(jsonBytes("é")).toBe(4)
  const note = "é".repeat(TURN_RECORD_MAX / 2)
  expect(fitTurnRecord({ note })).toEqual({})
})
