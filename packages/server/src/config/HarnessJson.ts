import { readFileSync } from "node:fs"
import { Budget, decodeProtocol, HookId, HookOnError, HookPoint, ThinkingLevel } from "@harness/protocol"
import { Effect, Schema } from "effect"
import { SettingsError } from "./SettingsError.ts"

const tokens = Schema.Int.pipe(Schema.positive(), Schema.annotations({ description: "a whole number above 0" }))
const usd = Schema.Number.pipe(
  Schema.finite(),
  Schema.nonNegative(),
  Schema.annotations({ description: "a price in dollars, 0 or more" })
)

/** What somebody knows of a model better than the catalogue does. Prices are in US dollars per million tokens. */
export const HarnessJsonModel = Schema.Struct({
  contextWindow: Schema.optional(tokens),
  maxOutputTokens: Schema.optional(tokens),
  takesImages: Schema.optional(Schema.Boolean),
  nativeJson: Schema.optional(Schema.Boolean),
  thinking: Schema.optional(Schema.Array(ThinkingLevel)),
  inputUsd: Schema.optional(usd),
  outputUsd: Schema.optional(usd),
  cacheReadUsd: Schema.optional(usd),
  cacheWriteUsd: Schema.optional(usd)
}).annotations({ identifier: "HarnessJsonModel" })
export type HarnessJsonModelValue = typeof HarnessJsonModel.Type

/** An OpenAI-compatible provider. Its key stays in the environment: `apiKeyEnv` names the variable. */
export const HarnessJsonProvider = Schema.Struct({
  id: Schema.String,
  name: Schema.optional(Schema.String),
  baseUrl: Schema.String,
  apiKeyEnv: Schema.optional(Schema.String),
  models: Schema.optional(
    Schema.Array(
      Schema.Union(
        Schema.NonEmptyString,
        Schema.Struct({ name: Schema.NonEmptyString, ...HarnessJsonModel.fields }).annotations({
          description: "an object with a name"
        })
      )
    )
  )
}).annotations({ identifier: "HarnessJsonProvider" })

const glob = Schema.String.pipe(
  Schema.pattern(/^(?!!)[^\s\p{Cc}[\]{}\\]{1,256}$/u),
  Schema.annotations({ description: "a glob of * and ? over a tool's name" })
)

/** A hook of every server. Its secret stays in the environment: `secretEnv` names the variable. */
export const HarnessJsonHook = Schema.Struct({
  id: HookId,
  point: HookPoint,
  url: Schema.String,
  secretEnv: Schema.NonEmptyString,
  functions: Schema.optional(Schema.Array(glob)),
  priority: Schema.optional(Schema.Int),
  timeoutMillis: Schema.optional(Schema.Int.pipe(Schema.positive())),
  onError: Schema.optional(HookOnError)
}).annotations({ identifier: "HarnessJsonHook" })

/** What turns may use when they name nothing themselves; a session's and a tree's budget hold whatever a turn says. */
export const HarnessJsonLimits = Schema.Struct({
  maxSteps: Schema.optional(Schema.Int.pipe(Schema.between(1, 1000))),
  /** How long the summary of a compaction may take. */
  compactionMillis: Schema.optional(Schema.Int.pipe(Schema.between(1, 3_600_000))),
  turn: Schema.optional(Budget),
  session: Schema.optional(Budget),
  tree: Schema.optional(Budget)
}).annotations({ identifier: "HarnessJsonLimits" })
export type HarnessJsonLimitsValue = typeof HarnessJsonLimits.Type

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
  providers: Schema.optional(Schema.Array(HarnessJsonProvider)),
  /** By `provider/model`: of the built-in providers too. */
  models: Schema.optional(Schema.Record({ key: Schema.String, value: HarnessJsonModel })),
  hooks: Schema.optional(Schema.Array(HarnessJsonHook)),
  limits: Schema.optional(HarnessJsonLimits)
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
