import type { LanguageModelV3Usage } from "@ai-sdk/provider"
import type { Usage } from "@harness/protocol"
import { Predicate } from "effect"

/** Where providers put each number; the packages fill in 0 for what was not reported, we must not. */
const reported = {
  input: ["input_tokens", "prompt_tokens", "promptTokenCount"],
  output: ["output_tokens", "completion_tokens", "candidatesTokenCount", "thoughtsTokenCount"],
  cacheRead: [
    "cache_read_input_tokens",
    "prompt_tokens_details.cached_tokens",
    "input_tokens_details.cached_tokens",
    "cachedContentTokenCount"
  ],
  cacheWrite: ["cache_creation_input_tokens", "input_tokens_details.cache_write_tokens"],
  reasoning: [
    "completion_tokens_details.reasoning_tokens",
    "output_tokens_details.reasoning_tokens",
    "output_tokens_details.thinking_tokens",
    "thoughtsTokenCount"
  ]
} as const

const at = (raw: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((value, key) => (Predicate.isRecord(value) ? value[key] : undefined), raw)

/** Usage with the numbers the provider really gave. */
export const usageOf = (usage: LanguageModelV3Usage): Usage => {
  const given = (kind: keyof typeof reported, value: number | undefined) =>
    value !== undefined &&
    Number.isSafeInteger(value) &&
    value >= 0 &&
    reported[kind].some((path) => typeof at(usage.raw, path) === "number")
      ? value
      : undefined
  const inputTokens = given("input", usage.inputTokens.total)
  const outputTokens = given("output", usage.outputTokens.total)
  const cacheReadTokens = given("cacheRead", usage.inputTokens.cacheRead)
  const cacheWriteTokens = given("cacheWrite", usage.inputTokens.cacheWrite)
  const reasoningTokens = given("reasoning", usage.outputTokens.reasoning)
  return {
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
    ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens })
  }
}
