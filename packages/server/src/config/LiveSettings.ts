import { type Stats, statSync } from "node:fs"
import { join } from "node:path"
import type { RuntimeReloadResponseValue } from "@harness/protocol"
import { Context, Effect, Layer, Redacted, Ref } from "effect"
import { Settings, type SettingsValues } from "./Config.ts"
import { Redaction } from "./Redaction.ts"
import type { SettingsError } from "./SettingsError.ts"

/** How often the file is looked at. */
const LOOK = "1 second"

/** What changes while the process runs. */
const live = ["providers", "models", "model", "hooks", "limits"] as const
type LiveKey = (typeof live)[number]
/** Needs a start: ports and folders are held, doors are built. */
const fixed = [
  "port",
  "host",
  "data",
  "root",
  "durability",
  "allowedOrigins",
  "allowedHosts",
  "allowPrivateUrls",
  "logLevel"
] as const

/** Whether two values say the same, secrets included. */
const same = (a: unknown, b: unknown): boolean => text(a) === text(b)
const text = (value: unknown): string =>
  JSON.stringify(value, function (this: Record<string, unknown>, key: string, shown: unknown) {
    const held = this[key]
    return Redacted.isRedacted(held) ? Redacted.value(held) : shown
  }) ?? ""

/** The parts of `now` that may change, on what was there. */
const renewed = (held: SettingsValues, read: SettingsValues): SettingsValues => {
  const { model: _, ...rest } = held
  return {
    ...rest,
    providers: read.providers,
    models: read.models,
    hooks: read.hooks,
    limits: read.limits,
    ...(read.model === undefined ? {} : { model: read.model }),
    ...(read.file === undefined ? {} : { file: read.file })
  }
}

/** Tells a file from what it was; nothing where there is none. */
const stampOf = (path: string): string => {
  const stats: Stats | undefined = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? "" : `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`
}

/** Reads the settings again, by the rules of the start. */
export type Reread = Effect.Effect<SettingsValues, SettingsError>

const make = (files: ReadonlyArray<string>, reread: Reread | undefined) =>
  Effect.gen(function* () {
    const redaction = yield* Redaction
    const held = yield* Ref.make(yield* Settings)
    const one = yield* Effect.makeSemaphore(1)
    let revision = 0
    const stamps = () => files.map(stampOf).join("\n")
    let applied = stamps()

    const apply = (read: SettingsValues) =>
      Effect.gen(function* () {
        const before = yield* Ref.get(held)
        const changed: ReadonlyArray<LiveKey> = live.filter((key) => !same(before[key], read[key]))
        const later = fixed.filter((key) => !same(before[key], read[key]))
        if (later.length > 0) {
          yield* Effect.annotateLogs(Effect.logWarning("some settings change with the next start"), { keys: later })
        }
        if (changed.length === 0) return changed
        for (const { apiKey } of read.providers) if (apiKey !== undefined) yield* redaction.add(apiKey)
        for (const { secret } of read.hooks) yield* redaction.add(secret)
        yield* Ref.set(held, renewed(before, read))
        revision++
        yield* Effect.annotateLogs(Effect.logInfo("settings changed"), { keys: changed, revision })
        return changed
      })

    const refused = (error: SettingsError) =>
      Effect.as(
        Effect.annotateLogs(Effect.logError("harness.json is not used, and nothing changed"), {
          key: error.key,
          reason: error.reason
        }),
        {
          name: "harness.json",
          failure: {
            kind: "permanent",
            code: "settings.invalid",
            message: `${error.key} ${error.reason}`,
            retryable: false
          }
        } as const
      )

    const reload: Effect.Effect<RuntimeReloadResponseValue> = Effect.gen(function* () {
      if (reread === undefined) return { revision, changed: [], failures: [] }
      applied = stamps()
      const read = yield* Effect.either(reread)
      if (read._tag === "Left") return { revision, changed: [], failures: [yield* refused(read.left)] }
      const changed = yield* apply(read.right)
      return { revision, changed, failures: [] }
    }).pipe(one.withPermits(1), Effect.withSpan("LiveSettings.reload"))

    // A change is taken once it has stood for one look: whoever writes may be in the middle of it.
    let seen = applied
    const look = Effect.suspend(() => {
      const now = stamps()
      const settled = now === seen && now !== applied
      seen = now
      return settled ? Effect.asVoid(reload) : Effect.void
    }).pipe(Effect.catchAllCause((cause) => Effect.logWarning("harness.json could not be looked at", cause)))
    if (reread !== undefined) {
      yield* look.pipe(Effect.delay(LOOK), Effect.forever, Effect.withTracerEnabled(false), Effect.forkScoped)
    }

    return { current: Ref.get(held), reload }
  })

/**
 * The settings as they are now: what `harness.json` says of providers, models, hooks and limits applies from the next step,
 * when the file changes or when it is asked for. A file that cannot be used changes nothing.
 */
export class LiveSettings extends Context.Tag("@harness/server/LiveSettings")<
  LiveSettings,
  {
    readonly current: Effect.Effect<SettingsValues>
    readonly reload: Effect.Effect<RuntimeReloadResponseValue>
  }
>() {
  /** Without a way to read them again they stay as they are. `cwd`: where the file is looked for first. */
  static readonly layer = (again?: { readonly cwd: string; readonly reread: Reread }) =>
    Layer.scoped(
      LiveSettings,
      Effect.flatMap(Settings, ({ data }) => {
        const files = again === undefined ? [] : [join(again.cwd, "harness.json"), join(data, "harness.json")]
        return make(files, again?.reread)
      })
    )
}
