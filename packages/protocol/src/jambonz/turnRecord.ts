import { Schema } from "effect"
import { JsonObject } from "../schema/Json.ts"
import { TURN_RECORD_MAX } from "./limits.ts"

const ms = Schema.NonNegative.pipe(Schema.finite())
const tokens = Schema.NonNegativeInt

/** One stage of a turn. */
export const RecordedStep = Schema.Struct({
  name: Schema.String,
  ms: Schema.optional(ms),
  detail: Schema.optional(JsonObject)
})
export type RecordedStep = typeof RecordedStep.Type

/** One request to a model. */
export const RecordedModelCall = Schema.Struct({
  model: Schema.String,
  purpose: Schema.optional(Schema.String),
  input_tokens: Schema.optional(tokens),
  output_tokens: Schema.optional(tokens),
  first_token_ms: Schema.optional(ms),
  ms: Schema.optional(ms)
})
export type RecordedModelCall = typeof RecordedModelCall.Type

/** One tool we ran ourselves. */
export const RecordedTool = Schema.Struct({
  name: Schema.String,
  ok: Schema.Boolean,
  ms: Schema.optional(ms)
})
export type RecordedTool = typeof RecordedTool.Type

/** How a turn was handled, as jambonz stores it. Never arguments, results, digits or the caller's words. */
export const TurnRecord = Schema.Struct({
  route: Schema.optional(Schema.String),
  procedures: Schema.optional(Schema.Array(Schema.String)),
  steps: Schema.optional(Schema.Array(RecordedStep)),
  model_calls: Schema.optional(Schema.Array(RecordedModelCall)),
  own_tools: Schema.optional(Schema.Array(RecordedTool)),
  flags: Schema.optional(Schema.Array(Schema.String)),
  note: Schema.optional(Schema.String)
}).annotations({ identifier: "TurnRecord" })
export type TurnRecord = typeof TurnRecord.Type

/** What a value weighs on the wire: UTF-8 bytes of its JSON. */
export const jsonBytes = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value) ?? "").length

const overweight = (record: TurnRecord) => jsonBytes(record) - TURN_RECORD_MAX

/** The list without as many of its first members as weigh `excess`. */
const newest = <A>(list: ReadonlyArray<A>, excess: number): ReadonlyArray<A> => {
  let freed = 0
  let from = 0
  while (from < list.length && freed < excess) freed += jsonBytes(list[from++]) + 1
  return list.slice(from)
}

type Cut = (record: TurnRecord, excess: number) => TurnRecord

const withoutOldest =
  (field: "steps" | "model_calls" | "own_tools" | "procedures" | "flags"): Cut =>
  (record, excess) => {
    const list: ReadonlyArray<unknown> | undefined = record[field]
    return list === undefined ? record : { ...record, [field]: newest(list, excess) }
  }

const ROUTE_KEPT = 1_000

/** What goes first is what a reader misses least. */
const cuts: ReadonlyArray<Cut> = [
  ({ steps, ...record }) =>
    steps === undefined ? record : { ...record, steps: steps.map(({ detail: _, ...step }) => step) },
  ({ note: _, ...record }) => record,
  withoutOldest("steps"),
  withoutOldest("own_tools"),
  withoutOldest("model_calls"),
  withoutOldest("flags"),
  withoutOldest("procedures"),
  ({ route, ...record }) =>
    route === undefined ? record : { ...record, route: [...route].slice(0, ROUTE_KEPT).join("") }
]

/** The record, cut until jambonz takes it: first the steps' details, then the note, then the oldest of each list. */
export const fitTurnRecord = (record: TurnRecord): TurnRecord => {
  let fitted = record
  for (const cut of cuts) {
    const excess = overweight(fitted)
    if (excess <= 0) return fitted
    fitted = cut(fitted, excess)
  }
  return fitted
}
