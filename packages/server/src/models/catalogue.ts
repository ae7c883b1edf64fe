import type { ModelDescription, Prices } from "../providers/describe.ts"

/** The day up to which the catalogue was checked against what the providers publish. */
export const CATALOGUE_AS_OF = "2026-11-01"

const usd = (inputUsd: number, outputUsd: number, cacheReadUsd?: number, cacheWriteUsd?: number): Prices => ({
  inputUsd,
  outputUsd,
  ...(cacheReadUsd === undefined ? {} : { cacheReadUsd }),
  ...(cacheWriteUsd === undefined ? {} : { cacheWriteUsd })
})

const room = (contextWindow: number, maxOutputTokens: number) => ({ contextWindow, maxOutputTokens })

const gpt4o = room(128_000, 16_384)
const gpt41 = room(1_047_576, 32_768)
const gpt5 = room(400_000, 128_000)
const gpt5Chat = room(128_000, 16_384)
const oSeries = room(200_000, 100_000)

const openai: Readonly<Record<string, ModelDescription>> = {
  "gpt-3.5-turbo": { ...room(16_385, 4_096), prices: usd(0.5, 1.5) },
  "gpt-4": { ...room(8_192, 8_192), prices: usd(30, 60), takesImages: false },
  "gpt-4-turbo": { ...room(128_000, 4_096), prices: usd(10, 30) },
  "gpt-4o": { ...gpt4o, prices: usd(2.5, 10, 1.25) },
  "gpt-4o-2024-05-13": { ...room(128_000, 4_096), prices: usd(5, 15), nativeJson: false },
  "gpt-4o-mini": { ...gpt4o, prices: usd(0.15, 0.6, 0.075) },
  "gpt-4.1": { ...gpt41, prices: usd(2, 8, 0.5) },
  "gpt-4.1-mini": { ...gpt41, prices: usd(0.4, 1.6, 0.1) },
  "gpt-4.1-nano": { ...gpt41, prices: usd(0.1, 0.4, 0.025) },
  o1: { ...oSeries, prices: usd(15, 60, 7.5) },
  o3: { ...oSeries, prices: usd(2, 8, 0.5) },
  "o3-mini": { ...oSeries, prices: usd(1.1, 4.4, 0.55), takesImages: false },
  "o4-mini": { ...oSeries, prices: usd(1.1, 4.4, 0.275) },
  "gpt-5": { ...gpt5, prices: usd(1.25, 10, 0.125) },
  "gpt-5-mini": { ...gpt5, prices: usd(0.25, 2, 0.025) },
  "gpt-5-nano": { ...gpt5, prices: usd(0.05, 0.4, 0.005) },
  "gpt-5-pro": { ...room(400_000, 272_000), prices: usd(15, 120), thinking: ["high"] },
  "gpt-5-codex": { ...gpt5, prices: usd(1.25, 10, 0.125), thinking: ["low", "medium", "high"] },
  "gpt-5-chat-latest": { ...gpt5Chat, prices: usd(1.25, 10, 0.125) },
  "gpt-5.1": { ...gpt5, prices: usd(1.25, 10, 0.125) },
  "gpt-5.1-codex": { ...gpt5, prices: usd(1.25, 10, 0.125) },
  "gpt-5.1-codex-mini": { ...gpt5, prices: usd(0.25, 2, 0.025) },
  "gpt-5.1-codex-max": { ...gpt5, prices: usd(1.25, 10, 0.125), thinking: ["low", "medium", "high", "xhigh"] },
  "gpt-5.1-chat-latest": { ...gpt5Chat, prices: usd(1.25, 10, 0.125) },
  "gpt-5.2": { ...gpt5, prices: usd(1.75, 14, 0.175) },
  "gpt-5.2-codex": { ...gpt5, prices: usd(1.75, 14, 0.175) },
  "gpt-5.2-chat-latest": { ...gpt5Chat, prices: usd(1.75, 14, 0.175) },
  "gpt-5.2-pro": { ...gpt5, prices: usd(21, 168), thinking: ["medium", "high", "xhigh"], nativeJson: false },
  "gpt-5.3-codex": { ...gpt5, prices: usd(1.75, 14, 0.175) },
  "gpt-5.4": {
    ...room(1_050_000, 128_000),
    prices: usd(2.5, 15, 0.25),
    longPrices: { over: 272_000, ...usd(5, 22.5, 0.5) }
  }
}

// Written to the cache for five minutes, as we ask for it.
const opus3 = usd(15, 75, 1.5, 18.75)
const opus45 = usd(5, 25, 0.5, 6.25)
const sonnet3 = usd(3, 15, 0.3, 3.75)

const anthropic: Readonly<Record<string, ModelDescription>> = {
  "claude-3-haiku": { ...room(200_000, 4_096), prices: usd(0.25, 1.25, 0.03, 0.3) },
  "claude-3-opus": { ...room(200_000, 4_096), prices: opus3 },
  "claude-3-5-haiku": { ...room(200_000, 8_192), prices: usd(0.8, 4, 0.08, 1) },
  "claude-3-5-sonnet": { ...room(200_000, 8_192), prices: sonnet3 },
  "claude-3-7-sonnet": { ...room(200_000, 64_000), prices: sonnet3 },
  "claude-opus-4": { ...room(200_000, 32_000), prices: opus3 },
  "claude-opus-4-0": { ...room(200_000, 32_000), prices: opus3 },
  "claude-opus-4-1": { ...room(200_000, 32_000), prices: opus3 },
  "claude-opus-4-5": { ...room(200_000, 64_000), prices: opus45 },
  "claude-opus-4-6": { ...room(1_000_000, 128_000), prices: opus45 },
  "claude-opus-4-7": { ...room(1_000_000, 128_000), prices: opus45 },
  "claude-opus-4-8": { ...room(1_000_000, 128_000), prices: opus45 },
  "claude-opus-5": { ...room(1_000_000, 128_000), prices: opus45 },
  "claude-opus-5-5": { ...room(1_000_000, 128_000), prices: usd(4, 20, 0.2, 5) },
  "claude-fable-5": { ...room(1_000_000, 128_000), prices: usd(10, 50, 1, 12.5) },
  "claude-fable-5-1": { ...room(1_000_000, 128_000), prices: usd(10, 50, 0.25, 12.5) },
  "claude-sonnet-4": { ...room(200_000, 64_000), prices: sonnet3 },
  "claude-sonnet-4-0": { ...room(200_000, 64_000), prices: sonnet3 },
  "claude-sonnet-4-5": { ...room(200_000, 64_000), prices: sonnet3 },
  "claude-sonnet-4-6": { contextWindow: 1_000_000, prices: sonnet3 },
  "claude-sonnet-5": { ...room(1_000_000, 128_000), prices: usd(2, 10, 0.2, 2.5) },
  "claude-haiku-4-5": { ...room(200_000, 64_000), prices: usd(1, 5, 0.1, 1.25) }
}

const gemini = room(1_048_576, 65_536)
const gemini3Pro: ModelDescription = {
  ...gemini,
  prices: usd(2, 12, 0.2),
  longPrices: { over: 200_000, ...usd(4, 18, 0.4) }
}

const google: Readonly<Record<string, ModelDescription>> = {
  "gemini-2.0-flash": { ...room(1_048_576, 8_192), prices: usd(0.1, 0.4, 0.025) },
  "gemini-2.0-flash-lite": { ...room(1_048_576, 8_192), prices: usd(0.075, 0.3) },
  "gemini-2.5-flash": { ...gemini, prices: usd(0.3, 2.5, 0.03) },
  "gemini-2.5-flash-lite": { ...gemini, prices: usd(0.1, 0.4, 0.01) },
  "gemini-2.5-pro": { ...gemini, prices: usd(1.25, 10, 0.125), longPrices: { over: 200_000, ...usd(2.5, 15, 0.25) } },
  "gemini-3-flash-preview": { ...gemini, prices: usd(0.5, 3, 0.05) },
  "gemini-3-pro-preview": gemini3Pro,
  "gemini-3.1-pro-preview": gemini3Pro
}

/**
 * Models by provider, as the providers publish them: windows, text prices in US dollars per million tokens, and what
 * the rules by name (`providers/facts.ts`) would get wrong. Prices that are cut for a time are left out.
 */
export const catalogue: ReadonlyMap<string, Readonly<Record<string, ModelDescription>>> = new Map([
  ["openai", openai],
  ["anthropic", anthropic],
  ["google", google]
])

/** What follows a model's name in the name of one version of it: `-latest`, a day, a number. */
const version = /^-(?:latest|\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|preview-\d{2}-\d{4})$/

/** What the catalogue says of a model; nothing of one that it does not list. */
export const listed = (provider: string, model: string): ModelDescription => {
  const models = Object.entries(catalogue.get(provider) ?? {})
  const exact = models.find(([name]) => name === model)
  const found = exact ?? models.find(([name]) => model.startsWith(name) && version.test(model.slice(name.length)))
  return found?.[1] ?? {}
}
