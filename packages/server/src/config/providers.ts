import type { ThinkingLevel } from "@harness/protocol"
import { Effect, Either, Redacted } from "effect"
import type { HarnessJsonModelValue, HarnessJsonValue } from "./HarnessJson.ts"
import { SettingsError } from "./SettingsError.ts"
import { baseUrl } from "./values.ts"

/** A provider of `harness.json`, its key already looked up in the environment. */
export interface ConfiguredProvider {
  readonly id: string
  readonly name?: string
  readonly baseUrl: string
  readonly apiKey?: Redacted.Redacted
  readonly models?: ReadonlyArray<string>
}

/** What `harness.json` says of one model; prices in US dollars per million tokens. */
export interface ConfiguredModel {
  readonly contextWindow?: number
  readonly maxOutputTokens?: number
  readonly takesImages?: boolean
  readonly nativeJson?: boolean
  readonly thinking?: ReadonlyArray<ThinkingLevel>
  readonly prices?: {
    readonly inputUsd: number
    readonly outputUsd: number
    readonly cacheReadUsd?: number
    readonly cacheWriteUsd?: number
  }
}

const builtIn = ["demo", "openai", "anthropic", "google"]

const priceKeys = ["inputUsd", "outputUsd", "cacheReadUsd", "cacheWriteUsd"] as const

/** A model's prices as one; left is the price that is missing beside those that were given. */
const pricesOf = (model: HarnessJsonModelValue): Either.Either<Pick<ConfiguredModel, "prices">, string> => {
  if (priceKeys.every((key) => model[key] === undefined)) return Either.right({})
  const { cacheReadUsd, cacheWriteUsd, inputUsd, outputUsd } = model
  if (inputUsd === undefined) return Either.left("inputUsd")
  if (outputUsd === undefined) return Either.left("outputUsd")
  const cached = {
    ...(cacheReadUsd === undefined ? {} : { cacheReadUsd }),
    ...(cacheWriteUsd === undefined ? {} : { cacheWriteUsd })
  }
  return Either.right({ prices: { inputUsd, outputUsd, ...cached } })
}

/** The providers of a `harness.json`, and what it says of models by `provider/model`. The first bad value is refused. */
export const readProviders = (
  file: { readonly path: string; readonly json: HarnessJsonValue } | undefined,
  env: Readonly<Record<string, string | undefined>>
) =>
  Effect.gen(function* () {
    const refused = (key: string, reason: string) => new SettingsError({ key, source: file?.path ?? "", reason })
    const providers: Array<ConfiguredProvider> = []
    const models: Record<string, ConfiguredModel> = {}

    const describe = (at: string, name: string, model: HarnessJsonModelValue) =>
      Effect.gen(function* () {
        if (Object.hasOwn(models, name)) return yield* refused(at, "is described already")
        const prices = yield* Either.mapLeft(pricesOf(model), (missing) =>
          refused(`${at}.${missing}`, "must be given too: one price alone prices nothing")
        )
        const { contextWindow, maxOutputTokens, nativeJson, takesImages, thinking } = model
        if (contextWindow !== undefined && maxOutputTokens !== undefined && maxOutputTokens > contextWindow) {
          return yield* refused(`${at}.maxOutputTokens`, "must not be more than contextWindow")
        }
        models[name] = {
          ...(contextWindow === undefined ? {} : { contextWindow }),
          ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
          ...(nativeJson === undefined ? {} : { nativeJson }),
          ...(takesImages === undefined ? {} : { takesImages }),
          ...(thinking === undefined ? {} : { thinking }),
          ...prices
        }
      })

    for (const [index, provider] of (file?.json.providers ?? []).entries()) {
      const at = `providers.${index}`
      if ([...builtIn, ...providers.map(({ id }) => id)].includes(provider.id)) {
        return yield* refused(`${at}.id`, "is already the name of a provider")
      }
      if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(provider.id)) {
        return yield* refused(`${at}.id`, "must be letters, digits, dots, dashes and underscores")
      }
      const url = yield* Either.mapLeft(baseUrl(provider.baseUrl), (reason) => refused(`${at}.baseUrl`, reason))
      const names: Array<string> = []
      for (const [place, model] of (provider.models ?? []).entries()) {
        const name = typeof model === "string" ? model : model.name
        names.push(name)
        if (typeof model !== "string") yield* describe(`${at}.models.${place}`, `${provider.id}/${name}`, model)
      }
      const key = provider.apiKeyEnv === undefined ? undefined : env[provider.apiKeyEnv]
      providers.push({
        id: provider.id,
        ...(provider.name === undefined ? {} : { name: provider.name }),
        baseUrl: url,
        ...(key === undefined || key === "" ? {} : { apiKey: Redacted.make(key) }),
        ...(provider.models === undefined ? {} : { models: names })
      })
    }

    const known = [...builtIn, ...providers.map(({ id }) => id)]
    for (const [name, model] of Object.entries(file?.json.models ?? {})) {
      if (!known.some((id) => name.startsWith(`${id}/`) && name.length > id.length + 1)) {
        return yield* refused(`models.${name}`, "must be named provider/model, of a provider that is known")
      }
      yield* describe(`models.${name}`, name, model)
    }
    return { providers, models }
  })
