import { Schema } from "effect"

const tokens = Schema.optional(Schema.NonNegativeInt)

/** Tokens by kind, and US dollars. A number nobody reported is absent, not 0. */
export const Usage = Schema.Struct({
  inputTokens: tokens,
  outputTokens: tokens,
  cacheReadTokens: tokens,
  cacheWriteTokens: tokens,
  reasoningTokens: tokens,
  costUsd: Schema.optional(Schema.NonNegative.pipe(Schema.finite())),
  speculative: tokens
}).annotations({ identifier: "Usage" })
export type Usage = typeof Usage.Type
