import { readFileSync } from "node:fs"
import { isAbsolute, resolve } from "node:path"
import { decodeProtocol, Json, type TurnMode, type TurnOptions } from "@harness/protocol"
import { Effect } from "effect"
import { misused } from "./failures.ts"
import { withoutUndefined } from "./present.ts"
import { Surroundings } from "./Surroundings.ts"

/** How a turn is to run, as the command line says it. */
export interface TurnFlags {
  readonly mode: TurnMode | undefined
  readonly maxSteps: number | undefined
  readonly outputSchema: string | undefined
  readonly budgetTokens: number | undefined
  readonly budgetUsd: number | undefined
  readonly budgetMillis: number | undefined
}

const reasonOf = (error: unknown): string =>
  error instanceof SyntaxError
    ? "holds no JSON"
    : error instanceof Error && "code" in error && error.code === "ENOENT"
      ? "is not there"
      : "cannot be read"

const schemaIn = (file: string) =>
  Effect.gen(function* () {
    const { cwd } = yield* Surroundings
    const path = isAbsolute(file) ? file : resolve(cwd, file)
    const value = yield* Effect.try({
      try: (): unknown => JSON.parse(readFileSync(path, "utf8").replace(/^\ufeff/, "")),
      catch: (error) => misused(`--output-schema: ${file} ${reasonOf(error)}`)
    })
    return yield* decodeProtocol(Json)(value).pipe(
      Effect.mapError(() => misused(`--output-schema: ${file} holds no JSON`))
    )
  })

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
        : { output: { type: "json", schema: yield* schemaIn(flags.outputSchema) } })
    }
    return Object.keys(options).length === 0 ? undefined : options
  })
