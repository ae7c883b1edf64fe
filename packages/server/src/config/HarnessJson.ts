import { readFileSync } from "node:fs"
import { decodeProtocol } from "@harness/protocol"
import { Effect, Schema } from "effect"
import { SettingsError } from "./SettingsError.ts"

/** An OpenAI-compatible provider. Its key stays in the environment: `apiKeyEnv` names the variable. */
export const HarnessJsonProvider = Schema.Struct({
  id: Schema.String,
  name: Schema.optional(Schema.String),
  baseUrl: Schema.String,
  apiKeyEnv: Schema.optional(Schema.String),
  models: Schema.optional(Schema.Array(Schema.NonEmptyString))
}).annotations({ identifier: "HarnessJsonProvider" })

/** The file `harness.json`: what the environment may say too, but no secret. Unknown keys are refused. */
export const HarnessJson = Schema.Struct({
  $schema: Schema.optional(Schema.String),
  port: Schema.optional(Schema.Number),
  host: Schema.optional(Schema.String),
  data: Schema.optional(Schema.String),
  root: Schema.optional(Schema.String),
  durability: Schema.optional(Schema.Literal("full", "normal")),
  allowedOrigins: Schema.optional(Schema.Array(Schema.String)),
  allowedHosts: Schema.optional(Schema.Array(Schema.String)),
  allowPrivateUrls: Schema.optional(Schema.Boolean),
  model: Schema.optional(Schema.String),
  logLevel: Schema.optional(Schema.Literal("trace", "debug", "info", "warn", "error")),
  providers: Schema.optional(Schema.Array(HarnessJsonProvider))
}).annotations({
  identifier: "HarnessJson",
  parseOptions: { errors: "all", onExcessProperty: "error" }
})
export type HarnessJsonValue = typeof HarnessJson.Type

const decode = decodeProtocol(HarnessJson)

const isMissing = (cause: unknown) =>
  cause instanceof Error && "code" in cause && (cause.code === "ENOENT" || cause.code === "ENOTDIR")

/** Reads one `harness.json`; undefined when there is none. */
export const readHarnessJson = (path: string): Effect.Effect<HarnessJsonValue | undefined, SettingsError> =>
  Effect.gen(function* () {
    const refused = (key: string, reason: string) => new SettingsError({ key, source: path, reason })
    const text = yield* Effect.try(() => readFileSync(path, "utf8")).pipe(
      Effect.catchAll(({ error }) =>
        isMissing(error) ? Effect.succeed(undefined) : Effect.fail(refused("harness.json", "cannot be read"))
      )
    )
    if (text === undefined) return undefined
    const json = yield* Effect.try({
      try: (): unknown => JSON.parse(text),
      catch: () => refused("harness.json", "is not valid JSON")
    })
    return yield* decode(json).pipe(
      Effect.mapError(({ issues }) => {
        const first = issues[0]
        return refused(first?.path || "harness.json", first?.reason ?? "is invalid")
      })
    )
  })
