import type { TurnMode, TurnOptions } from "@harness/protocol"
import { Effect } from "effect"
import { jsonIn } from "./jsonFile.ts"
import { withoutUndefined } from "./present.ts"

/** How a turn is to run, as the command line says it. */
export interface TurnFlags {
  readonly mode: TurnMode | undefined
  readonly maxSteps: number | undefined
  readonly outputSchema: string | undefined
  readonly budgetTokens: number | undefined
  readonly budgetUsd: number | undefined
  readonly budgetMillis: number | undefined
}

/** The options of a turn; undefined when the command line names none. */
export const turnOptions = (flags: TurnFlags) =>
  Effect.gen(function* () {
    const { budgetMillis: maxMillis, budgetTokens: maxTokens, budgetUsd: maxCostUsd, maxSteps, mode } = flags
    const budget = withoutUndefined({ maxCostUsd, maxMillis, maxTokens })
    const options: TurnOptions = {
      ...withoutUndefined({ mode, maxSteps }),
      ...(Object.keys(budget).length === 0 ? {} : { budget }),
      ...(flags.outputSchema === undefined
        ? {}
        : { output: { type: "json", schema: yield* jsonIn("--output-schema", flags.outputSchema) } })
    }
    return Object.keys(options).length === 0 ? undefined : options
  })
