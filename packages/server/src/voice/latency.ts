import type { JsonObject } from "@harness/protocol"
import type { Measured } from "./FactsRepo.ts"

/** The smallest of the values that so large a share of them does not exceed. */
export const percentile = (values: ReadonlyArray<number>, share: number): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)]

const measures = ["model_first_token_ms", "first_chunk_ms", "jambonz_first_chunk_ms"] as const

/** How long the turns of a call were waited for: of each measure in how many turns, the middle, and the 95th of a hundred. */
export const latencyOf = (turns: ReadonlyArray<Measured>): JsonObject =>
  Object.fromEntries(
    measures.flatMap((measure) => {
      const values = turns.map((turn) => turn[measure]).filter((value) => typeof value === "number")
      const p50 = percentile(values, 0.5)
      const p95 = percentile(values, 0.95)
      return p50 === undefined || p95 === undefined ? [] : [[measure, { turns: values.length, p50, p95 }]]
    })
  )
