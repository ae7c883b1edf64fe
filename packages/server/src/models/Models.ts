import { ConflictError, ValidationError } from "@harness/protocol"
import { Context, Effect, Layer, Option } from "effect"
import type { SettingsValues } from "../config/Config.ts"
import { LiveSettings } from "../config/LiveSettings.ts"
import { over } from "../providers/describe.ts"
import type { ResolvedModel } from "../providers/Model.ts"
import { ProviderSettings } from "../providers/ProviderSettings.ts"
import { type Provider, providersOf } from "../providers/Providers.ts"
import { RETRY_BASE_MILLIS } from "../providers/retry.ts"
import { listed } from "./catalogue.ts"

/** A provider as a person is shown it: never its key. */
export type ProviderSummary = Pick<Provider, "providerId" | "name" | "connected" | "source">

const unknown = () =>
  new ValidationError({ code: "model.unknown", message: "No provider here has a model of this name." })

/** What is known of models with some settings. */
const withSettings = (settings: typeof ProviderSettings.Service) => {
  const all = providersOf(settings)
  const resolve = (name: string): Effect.Effect<ResolvedModel, ValidationError | ConflictError> => {
    const slash = name.indexOf("/")
    const provider = all.find(({ providerId }) => slash > 0 && providerId === name.slice(0, slash))
    const model = name.slice(slash + 1)
    if (provider === undefined || model === "") return Effect.fail(unknown())
    if (!provider.connected) {
      return Effect.fail(
        new ConflictError({
          code: "model.not_connected",
          message: `The provider ${provider.name} is not connected: it has no key.`
        })
      )
    }
    const known = over(listed(provider.providerId, model), settings.models?.[name] ?? {})
    return Option.match(provider.model(model, known), {
      onNone: () => Effect.fail(unknown()),
      onSome: Effect.succeed
    })
  }
  const first = all.find(
    ({ connected, defaultModel, source }) => source !== "builtin" && connected && defaultModel !== undefined
  )
  const fallback = first === undefined ? "demo/demo" : `${first.providerId}/${first.defaultModel}`
  return {
    resolve,
    defaultModel: settings.model ?? fallback,
    providers: all.map(({ connected, name, providerId, source }) => ({ providerId, name, connected, source })),
    retryBaseMillis: settings.retryBaseMillis ?? RETRY_BASE_MILLIS
  }
}

/** `current` may be another value each time; what is made of one is kept until the next. */
const make = <A>(current: Effect.Effect<A>, toSettings: (value: A) => typeof ProviderSettings.Service) =>
  Effect.gen(function* () {
    const made = (of: A) => ({ of, ...withSettings(toSettings(of)) })
    let held = made(yield* current)
    const now = Effect.map(current, (value) => {
      if (value !== held.of) held = made(value)
      return held
    })
    const resolve = Effect.fn("Models.resolve")((name: string) => Effect.flatMap(now, (models) => models.resolve(name)))
    return {
      resolve,
      check: (name: string) => Effect.asVoid(resolve(name)),
      defaultModel: Effect.map(now, ({ defaultModel }) => defaultModel),
      providers: Effect.map(now, ({ providers }) => providers),
      retryBaseMillis: held.retryBaseMillis
    }
  })

/** The models this process can ask, by `provider/model`. */
export class Models extends Context.Tag("@harness/server/Models")<
  Models,
  {
    /** Unknown provider or model: `model.unknown`; a known provider without a key: `model.not_connected`. */
    readonly resolve: (name: string) => Effect.Effect<ResolvedModel, ValidationError | ConflictError>
    /** As `resolve`, for its errors alone. */
    readonly check: (name: string) => Effect.Effect<void, ValidationError | ConflictError>
    /** What a session without a model uses: `HARNESS_MODEL`, else the first connected provider's default, else demo/demo. */
    readonly defaultModel: Effect.Effect<string>
    readonly providers: Effect.Effect<ReadonlyArray<ProviderSummary>>
    /** First delay of `withRetries`. */
    readonly retryBaseMillis: number
  }
>() {
  static readonly layer = Layer.effect(
    Models,
    Effect.flatMap(ProviderSettings, (settings) => make(Effect.succeed(settings), (same) => same))
  )
  /** With the settings as they are at the time. */
  static readonly layerLive = (toSettings: (settings: SettingsValues) => typeof ProviderSettings.Service) =>
    Layer.effect(
      Models,
      Effect.flatMap(LiveSettings, ({ current }) => make(current, toSettings))
    )
}
