import { statSync } from "node:fs"
import { join } from "node:path"
import { Context, Effect, Either, Layer, Redacted } from "effect"
import { fileTokens } from "../auth/Tokens.ts"
import { type HarnessJsonLimitsValue, type HarnessJsonValue, readHarnessJson } from "./HarnessJson.ts"
import { type ConfiguredHook, readHooks } from "./hooks.ts"
import { type ConfiguredModel, type ConfiguredProvider, readProviders } from "./providers.ts"
import { SettingsError } from "./SettingsError.ts"
import * as read from "./values.ts"

export { HarnessJson } from "./HarnessJson.ts"
export type { ConfiguredHook } from "./hooks.ts"
export type { ConfiguredModel, ConfiguredProvider } from "./providers.ts"
export { SettingsError } from "./SettingsError.ts"

/** What this process was told, checked: flags first, then the environment, then `harness.json`, then defaults. */
export interface SettingsValues {
  readonly port: number
  readonly host: string
  /** Folder of the databases and tokens. */
  readonly data: string
  /** Folder sessions work in; no workdir is outside it. */
  readonly root: string
  /** `HARNESS_TOKEN`: an admin's. */
  readonly token?: Redacted.Redacted
  readonly durability: "full" | "normal"
  readonly allowedOrigins: ReadonlyArray<string>
  readonly allowedHosts: ReadonlyArray<string>
  /** Tools, hooks and webhooks may call private addresses. */
  readonly allowPrivateUrls: boolean
  readonly model?: string
  readonly logLevel: "trace" | "debug" | "info" | "warn" | "error"
  readonly openaiApiKey?: Redacted.Redacted
  readonly openaiBaseUrl?: string
  readonly anthropicApiKey?: Redacted.Redacted
  readonly googleApiKey?: Redacted.Redacted
  /** `HARNESS_JAMBONZ_SECRET`: what calls must bring. */
  readonly jambonzSecret?: Redacted.Redacted
  /** `HARNESS_JAMBONZ_SECRET_<SERVER>`: what the calls of one server must bring instead, by the variable's last word. */
  readonly jambonzSecrets?: Readonly<Record<string, Redacted.Redacted>>
  readonly providers: ReadonlyArray<ConfiguredProvider>
  /** What `harness.json` says of models, by `provider/model`. */
  readonly models: Readonly<Record<string, ConfiguredModel>>
  /** Hooks of every server. */
  readonly hooks: ReadonlyArray<ConfiguredHook>
  readonly limits: HarnessJsonLimitsValue
  /** The `harness.json` that was read. */
  readonly file?: string
}

/** The settings of this process. */
export class Settings extends Context.Tag("@harness/server/Settings")<Settings, SettingsValues>() {
  static readonly layer = (values: SettingsValues) => Layer.succeed(Settings, values)
}

/** Settings given on the command line; text or already typed. */
export type SettingsFlags = {
  readonly [K in FlagKey]?: string | number | boolean | ReadonlyArray<string> | undefined
}
type FlagKey = (typeof named)[number]["key"]

const named = [
  { key: "port", flag: "--port", env: "HARNESS_PORT" },
  { key: "host", flag: "--host", env: "HARNESS_HOST" },
  { key: "data", flag: "--data", env: "HARNESS_DATA" },
  { key: "root", flag: "--root", env: "HARNESS_ROOT" },
  { key: "token", flag: "--token", env: "HARNESS_TOKEN" },
  { key: "durability", flag: "--durability", env: "HARNESS_DURABILITY" },
  { key: "allowedOrigins", flag: "--allowed-origins", env: "HARNESS_ALLOWED_ORIGINS" },
  { key: "allowedHosts", flag: "--allowed-hosts", env: "HARNESS_ALLOWED_HOSTS" },
  { key: "allowPrivateUrls", flag: "--allow-private-urls", env: "HARNESS_ALLOW_PRIVATE_URLS" },
  { key: "model", flag: "--model", env: "HARNESS_MODEL" },
  { key: "logLevel", flag: "--log-level", env: "HARNESS_LOG_LEVEL" }
] as const

const JAMBONZ_OF_SERVER = "HARNESS_JAMBONZ_SECRET_"

/** Where settings come from. `env` and the folders are handed in: nothing here looks at the process. */
export interface SettingsSources {
  readonly flags?: SettingsFlags
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly home: string
}

/** Reads and checks every setting. The first bad one stops the start. */
export const loadSettings = Effect.fn("Settings.load")(function* (sources: SettingsSources) {
  const { env, cwd, home, flags = {} } = sources
  let file: { readonly path: string; readonly json: HarnessJsonValue } | undefined

  const raw = (
    key: FlagKey
  ): { readonly key: string; readonly value: unknown; readonly source: string } | undefined => {
    const names = named.find((name) => name.key === key)
    const given = flags[key]
    if (given !== undefined && given !== "") return { key: names?.flag ?? key, value: given, source: "command line" }
    const text = env[names?.env ?? ""]
    if (text !== undefined && text !== "") return { key: names?.env ?? key, value: text, source: "environment" }
    const value = key === "token" ? undefined : file?.json[key]
    return value === undefined || file === undefined ? undefined : { key, value, source: file.path }
  }
  const checked = <A>(key: string, source: string, result: Either.Either<A, string>) =>
    Either.mapLeft(result, (reason) => new SettingsError({ key, source, reason }))
  const setting = <A>(key: FlagKey, reader: read.Reader<A>) => {
    const found = raw(key)
    return found === undefined ? Either.right(undefined) : checked(found.key, found.source, reader(found.value))
  }
  const variable = <A>(key: string, reader: read.Reader<A>) => {
    const text = env[key]
    return text === undefined || text === "" ? Either.right(undefined) : checked(key, "environment", reader(text))
  }
  const path = (key: "data" | "root") => {
    const found = raw(key)
    const base = found?.source === file?.path && file !== undefined ? join(file.path, "..") : cwd
    return setting(key, read.folder(base, home))
  }
  const load = (at: string) =>
    Effect.map(readHarnessJson(at), (json) => (json === undefined ? undefined : { path: at, json }))

  file = yield* load(join(cwd, "harness.json"))
  const data = (yield* path("data")) ?? join(home, ".harness")
  if (file === undefined) {
    file = yield* load(join(data, "harness.json"))
    if (file?.json.data !== undefined) {
      const reason = "cannot be set by the harness.json in the data folder"
      return yield* new SettingsError({ key: "data", source: file.path, reason })
    }
  }
  const root = (yield* path("root")) ?? cwd
  for (const [key, folder] of [
    ["root", root],
    ["data", data]
  ] as const) {
    const stat = statSync(folder, { throwIfNoEntry: false })
    if (stat === undefined && key === "data") continue // made at start
    if (stat?.isDirectory() !== true) {
      const found = raw(key)
      return yield* new SettingsError({
        key: found?.key ?? key,
        source: found?.source ?? "default",
        reason: "is not a folder"
      })
    }
  }

  const { models, providers } = yield* readProviders(file, env)
  const hidden = (value: string | undefined) => (value === undefined ? undefined : Redacted.make(value))
  const secretsOfServers = Effect.gen(function* () {
    const found: Record<string, Redacted.Redacted> = {}
    for (const key of Object.keys(env).filter((name) => name.startsWith(JAMBONZ_OF_SERVER))) {
      const secret = hidden(yield* variable(key, read.secret))
      if (secret !== undefined) found[key.slice(JAMBONZ_OF_SERVER.length)] = secret
    }
    return Object.keys(found).length === 0 ? undefined : found
  })
  const settings: SettingsValues = {
    port: (yield* setting("port", read.port)) ?? 4700,
    host: (yield* setting("host", read.host)) ?? "127.0.0.1",
    data,
    root,
    durability: (yield* setting("durability", read.oneOf("full", "normal"))) ?? "full",
    allowedOrigins: (yield* setting("allowedOrigins", read.list(read.origin))) ?? [],
    allowedHosts: (yield* setting("allowedHosts", read.list(read.allowedHost))) ?? [],
    allowPrivateUrls: (yield* setting("allowPrivateUrls", read.flag)) ?? false,
    logLevel: (yield* setting("logLevel", read.oneOf("trace", "debug", "info", "warn", "error"))) ?? "info",
    providers,
    models,
    hooks: yield* readHooks(file, env),
    limits: file?.json.limits ?? {},
    ...present({
      token: hidden(yield* setting("token", read.secret)),
      model: yield* setting("model", read.model),
      jambonzSecrets: yield* secretsOfServers,
      jambonzSecret: hidden(yield* variable("HARNESS_JAMBONZ_SECRET", read.secret)),
      openaiApiKey: hidden(yield* variable("OPENAI_API_KEY", read.secret)),
      openaiBaseUrl: yield* variable("OPENAI_BASE_URL", read.baseUrl),
      anthropicApiKey: hidden(yield* variable("ANTHROPIC_API_KEY", read.secret)),
      googleApiKey: hidden(yield* variable("GOOGLE_API_KEY", read.secret)),
      file: file?.path
    })
  }
  yield* mayBind(settings, raw("host"))
  return settings
})

type Present<T> = { -readonly [K in keyof T]?: Exclude<T[K], undefined> }

const present = <T extends object>(fields: T): Present<T> => {
  const kept: Present<T> = {}
  for (const key in fields) {
    const value = fields[key]
    if (isPresent(value)) kept[key] = value
  }
  return kept
}
const isPresent = <A>(value: A): value is Exclude<A, undefined> => value !== undefined

/** Other machines may only reach us when somebody chose a token: the one made at start does not count. */
const mayBind = (settings: SettingsValues, host: { readonly key: string; readonly source: string } | undefined) =>
  Effect.gen(function* () {
    if (read.isLoopback(settings.host) || settings.token !== undefined) return
    const refused = (reason: string) =>
      new SettingsError({ key: host?.key ?? "host", source: host?.source ?? "default", reason })
    const tokens = yield* Effect.mapError(fileTokens(settings.data), (error) => refused(error.message))
    if (tokens.length > 0) return
    return yield* refused(
      "is not a loopback address, and no token is configured: set HARNESS_TOKEN or add one with `harness token add`"
    )
  })
