import { type Context, Option, Redacted } from "effect"
import { generateWith, type Source } from "./adapter.ts"
import { demoModel } from "./demo.ts"
import { type ModelDescription, pricing } from "./describe.ts"
import { type Family, factsOf, type ModelFacts } from "./facts.ts"
import { makeScrub } from "./failure.ts"
import { providerFetch } from "./framing.ts"
import type { ResolvedModel } from "./Model.ts"
import type { CustomProvider, ProviderSettings } from "./ProviderSettings.ts"

const STALL_MILLIS = 120_000

type Settings = Context.Tag.Service<ProviderSettings>

/** Where models come from. */
export interface Provider {
  readonly providerId: string
  readonly name: string
  readonly connected: boolean
  readonly source: "builtin" | "environment" | "file"
  /** The model a session gets that names none. */
  readonly defaultModel?: string
  /** A model, with what is known of it. None: this provider has no such model. */
  readonly model: (model: string, known: ModelDescription) => Option.Option<ResolvedModel>
}

// Each package is loaded when its first model is asked: together they take a tenth of a second and 8 MiB.

/** Named here, so that the packages do not look for others in the environment. */
const OPENAI_URL = "https://api.openai.com/v1"
const ANTHROPIC_URL = "https://api.anthropic.com/v1"
const GOOGLE_URL = "https://generativelanguage.googleapis.com/v1beta"

const valueOf = (key: Redacted.Redacted | undefined): string => (key === undefined ? "" : Redacted.value(key))

type Connect = (model: string) => Source["connect"]

/** Models of a provider that are kept made; the one longest made goes first. */
const MADE_MAX = 64

/** A package's model takes a while to make, and serves any number of requests. */
const keeping = (connect: Connect): Connect => {
  const made = new Map<string, ReturnType<Source["connect"]>>()
  return (model) => () => {
    const known = made.get(model)
    if (known !== undefined) return known
    const [oldest] = made.keys()
    if (made.size >= MADE_MAX && oldest !== undefined) made.delete(oldest)
    const fresh = connect(model)()
    made.set(model, fresh)
    return fresh
  }
}

interface Spoken {
  readonly providerId: string
  readonly family: Family
  readonly connect: Connect
  readonly facts?: Partial<ModelFacts>
}

/** What a model holds and costs, where that is known. */
const limits = (known: ModelDescription): Pick<ResolvedModel, "contextWindow" | "maxOutputTokens" | "costUsd"> => {
  const { contextWindow, maxOutputTokens } = known
  const costUsd = pricing(known)
  return {
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(costUsd === undefined ? {} : { costUsd })
  }
}

/** What is known of a model goes before what its name tells. */
const describedFacts = ({ nativeJson, takesImages, thinking }: ModelDescription): Partial<ModelFacts> => ({
  ...(nativeJson === undefined ? {} : { nativeJson }),
  ...(takesImages === undefined ? {} : { takesImages }),
  ...(thinking === undefined ? {} : { thinkingLevels: thinking })
})

const speak =
  (settings: Settings) =>
  ({ connect: make, facts: usual, family, providerId }: Spoken) => {
    const connect = keeping(make)
    const scrub = makeScrub(
      [
        settings.openaiApiKey,
        settings.anthropicApiKey,
        settings.googleApiKey,
        ...(settings.custom ?? []).map((provider) => provider.apiKey)
      ].filter((key) => key !== undefined)
    )
    return (model: string, known: ModelDescription): ResolvedModel => {
      const facts: ModelFacts = { ...factsOf(family, model), ...usual, ...describedFacts(known) }
      const stallMillis = settings.stallMillis ?? STALL_MILLIS
      return {
        name: `${providerId}/${model}`,
        provider: providerId,
        model,
        thinkingLevels: facts.thinkingLevels,
        takesImages: facts.takesImages,
        nativeJson: facts.nativeJson,
        ...limits(known),
        generate: generateWith({ family, facts, connect: connect(model), scrub, stallMillis })
      }
    }
  }

const reasoningName = /^(o\d|gpt-[5-9])/

const chat =
  (baseURL: string, apiKey: Redacted.Redacted | undefined): Connect =>
  (model) =>
  async () => {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible")
    return createOpenAICompatible({
      name: "openaiCompatible",
      baseURL,
      includeUsage: true,
      supportsStructuredOutputs: true,
      fetch: providerFetch,
      // Models that reason know the limit under its newer name only.
      transformRequestBody: ({ max_tokens, ...body }) =>
        max_tokens === undefined
          ? body
          : reasoningName.test(model)
            ? { ...body, max_completion_tokens: max_tokens }
            : { ...body, max_tokens },
      ...(valueOf(apiKey) === "" ? {} : { apiKey: valueOf(apiKey) })
    })(model)
  }

/** A provider of the environment: any model name is passed on, the provider knows its own. */
const environment = (
  settings: Settings,
  spoken: Spoken,
  shown: { readonly name: string; readonly connected: boolean; readonly defaultModel: string }
): Provider => {
  const model = speak(settings)(spoken)
  return {
    ...shown,
    providerId: spoken.providerId,
    source: "environment",
    model: (id, known) => Option.some(model(id, known))
  }
}

const openai = (settings: Settings): Provider => {
  const apiKey = valueOf(settings.openaiApiKey)
  const base = settings.openaiBaseUrl ?? ""
  return environment(
    settings,
    base === ""
      ? {
          providerId: "openai",
          family: "responses",
          connect: (id) => async () => {
            const { createOpenAI } = await import("@ai-sdk/openai")
            return createOpenAI({ apiKey, baseURL: OPENAI_URL, fetch: providerFetch }).responses(id)
          }
        }
      : { providerId: "openai", family: "chat", connect: chat(base, settings.openaiApiKey) },
    { name: "OpenAI", connected: apiKey !== "" || base !== "", defaultModel: "gpt-5.1" }
  )
}

const anthropic = (settings: Settings): Provider => {
  const apiKey = valueOf(settings.anthropicApiKey)
  const baseURL = settings.anthropicBaseUrl ?? ANTHROPIC_URL
  return environment(
    settings,
    {
      providerId: "anthropic",
      family: "anthropic",
      connect: (id) => async () => {
        const { createAnthropic } = await import("@ai-sdk/anthropic")
        return createAnthropic({ apiKey, baseURL, fetch: providerFetch })(id)
      }
    },
    { name: "Anthropic", connected: apiKey !== "", defaultModel: "claude-sonnet-4-5" }
  )
}

const google = (settings: Settings): Provider => {
  const apiKey = valueOf(settings.googleApiKey)
  const baseURL = settings.googleBaseUrl ?? GOOGLE_URL
  return environment(
    settings,
    {
      providerId: "google",
      family: "google",
      connect: (id) => async () => {
        const { createGoogleGenerativeAI } = await import("@ai-sdk/google")
        return createGoogleGenerativeAI({ apiKey, baseURL, fetch: providerFetch })(id)
      }
    },
    { name: "Google", connected: apiKey !== "", defaultModel: "gemini-2.5-flash" }
  )
}

const custom =
  (settings: Settings) =>
  ({ apiKey, baseUrl, id, models, name, nativeJson, takesImages }: CustomProvider): Provider => {
    const first = models?.[0]
    const model = speak(settings)({
      providerId: id,
      family: "chat",
      connect: chat(baseUrl, apiKey),
      facts: { nativeJson: nativeJson ?? false, ...(takesImages === undefined ? {} : { takesImages }) }
    })
    return {
      providerId: id,
      name: name ?? id,
      connected: true,
      source: "file",
      ...(first === undefined ? {} : { defaultModel: first }),
      model: (wanted, known) =>
        models === undefined || models.includes(wanted) ? Option.some(model(wanted, known)) : Option.none()
    }
  }

const demo: Provider = {
  providerId: "demo",
  name: "Demo",
  connected: true,
  source: "builtin",
  defaultModel: "demo",
  model: (id, known) =>
    id !== "demo"
      ? Option.none()
      : Option.some({ ...demoModel, ...limits(known), takesImages: known.takesImages ?? demoModel.takesImages })
}

/** Every provider there is with these settings, connected or not: demo, the three of the environment, those of `harness.json`. */
export const providersOf = (settings: Settings): ReadonlyArray<Provider> => {
  const known = [demo, openai(settings), anthropic(settings), google(settings)]
  const taken = new Set(known.map((provider) => provider.providerId))
  return [...known, ...(settings.custom ?? []).filter((provider) => !taken.has(provider.id)).map(custom(settings))]
}
