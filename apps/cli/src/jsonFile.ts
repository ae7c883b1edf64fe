import { readFileSync } from "node:fs"
import { isAbsolute, resolve } from "node:path"
import { decodeProtocol, Json } from "@harness/protocol"
import { Effect, type Schema } from "effect"
import { type CliFailure, misused } from "./failures.ts"
import { Surroundings } from "./Surroundings.ts"

const reasonOf = (error: unknown): string =>
  error instanceof SyntaxError
    ? "holds no JSON"
    : error instanceof Error && "code" in error && error.code === "ENOENT"
      ? "is not there"
      : "cannot be read"

/** What a schema reads in a JSON file that an option names. */
export const readIn = <A, I>(
  schema: Schema.Schema<A, I>,
  option: string,
  file: string
): Effect.Effect<A, CliFailure, Surroundings> =>
  Effect.gen(function* () {
    const { cwd } = yield* Surroundings
    const path = isAbsolute(file) ? file : resolve(cwd, file)
    const value = yield* Effect.try({
      try: (): unknown => JSON.parse(readFileSync(path, "utf8").replace(/^\ufeff/, "")),
      catch: (error) => misused(`${option}: ${file} ${reasonOf(error)}`)
    })
    return yield* decodeProtocol(schema)(value).pipe(
      Effect.mapError(({ issues: [issue = { path: "", reason: "cannot be read" }] }) =>
        misused(`${option}: ${file}: ${issue.path === "" ? "it" : issue.path} ${issue.reason}`)
      )
    )
  })

/** Any JSON in a file that an option names. */
export const jsonIn = (option: string, file: string): Effect.Effect<unknown, CliFailure, Surroundings> =>
  readIn(Json, option, file)
