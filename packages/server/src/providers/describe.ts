import type { ThinkingLevel, Usage } from "@harness/protocol"

/** What tokens cost, in US dollars per million. */
export interface Prices {
  readonly inputUsd: number
  readonly outputUsd: number
  /** Input read from the provider's cache; left out, it costs as other input. */
  readonly cacheReadUsd?: number
  /** Input written to the provider's cache; left out, it costs as other input. */
  readonly cacheWriteUsd?: number
}

/** What is known of a model. Nobody guesses: what is left out is not known. */
export interface ModelDescription {
  /** Tokens of a request and its answer together. */
  readonly contextWindow?: number
  readonly maxOutputTokens?: number
  readonly takesImages?: boolean
  /** Whether it takes a JSON schema as response format. */
  readonly nativeJson?: boolean
  readonly thinking?: ReadonlyArray<ThinkingLevel>
  readonly prices?: Prices
  /** The prices of a whole request that has more input than `over` tokens. */
  readonly longPrices?: Prices & { readonly over: number }
}

/** One description over another: what the upper one says holds; prices go together, and are not mixed. */
export const over = (lower: ModelDescription, upper: ModelDescription): ModelDescription => {
  if (upper.prices === undefined) return { ...lower, ...upper }
  const { longPrices: _, ...rest } = lower
  return { ...rest, ...upper }
}

const MILLION = 1_000_000

/** What some usage costs; undefined when nobody counted it. Cached input is part of the input, reasoning of the output. */
const costAt = (usage: Usage, prices: Prices): number | undefined => {
  const { cacheReadTokens = 0, cacheWriteTokens = 0, inputTokens, outputTokens } = usage
  if (inputTokens === undefined || outputTokens === undefined) return undefined
  const { inputUsd, outputUsd } = prices
  const fresh = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens)
  const read = cacheReadTokens * (prices.cacheReadUsd ?? inputUsd)
  const written = cacheWriteTokens * (prices.cacheWriteUsd ?? inputUsd)
  return (fresh * inputUsd + read + written + outputTokens * outputUsd) / MILLION
}

/** A model's price of some usage, where its prices are known. */
export const pricing = ({
  longPrices,
  prices
}: ModelDescription): ((usage: Usage) => number | undefined) | undefined => {
  if (prices === undefined) return undefined
  return (usage) => {
    const long = longPrices !== undefined && (usage.inputTokens ?? 0) > longPrices.over
    return costAt(usage, long ? longPrices : prices)
  }
}
