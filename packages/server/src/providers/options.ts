import type { SharedV3ProviderOptions } from "@ai-sdk/provider"
import type { ThinkingLevel } from "@harness/protocol"
import type { Family, ModelFacts } from "./facts.ts"
import type { GenerateRequest } from "./Model.ts"

const budgets: Record<ThinkingLevel, number> = {
  minimal: 1_024,
  low: 4_096,
  medium: 8_192,
  high: 16_384,
  xhigh: 24_576
}

const levelOf = (request: GenerateRequest, facts: ModelFacts): ThinkingLevel | undefined =>
  request.thinking !== undefined && facts.thinkingLevels.includes(request.thinking) ? request.thinking : undefined

const anthropic = (level: ThinkingLevel | undefined, facts: ModelFacts): SharedV3ProviderOptions => {
  const cacheControl = { type: "ephemeral" }
  if (level === undefined) return { anthropic: { cacheControl } }
  return {
    anthropic: facts.thinksByEffort
      ? {
          cacheControl,
          thinking: { type: "adaptive", display: "summarized" },
          effort: level === "minimal" ? "low" : level
        }
      : { cacheControl, thinking: { type: "enabled", budgetTokens: budgets[level] } }
  }
}

const google = (level: ThinkingLevel | undefined, facts: ModelFacts): SharedV3ProviderOptions => {
  if (facts.thinkingLevels.length === 0) return {}
  if (level === undefined) return { google: { thinkingConfig: { includeThoughts: true } } }
  const how = facts.thinksByEffort
    ? { thinkingLevel: level === "xhigh" ? "high" : level }
    : { thinkingBudget: budgets[level] }
  return { google: { thinkingConfig: { includeThoughts: true, ...how } } }
}

/**
 * What a family is asked beyond the common request. Nothing is stored at the provider; a JSON schema is a caller's
 * own, so it is not held to the provider's strict subset.
 */
export const providerOptions = (
  request: GenerateRequest,
  family: Family,
  facts: ModelFacts
): SharedV3ProviderOptions => {
  const level = levelOf(request, facts)
  switch (family) {
    case "anthropic":
      return anthropic(level, facts)
    case "google":
      return google(level, facts)
    case "responses":
      return {
        openai: {
          store: false,
          strictJsonSchema: false,
          ...(level === undefined ? {} : { reasoningEffort: level, reasoningSummary: "auto" })
        }
      }
    case "chat":
      return {
        openaiCompatible: { strictJsonSchema: false, ...(level === undefined ? {} : { reasoningEffort: level }) }
      }
  }
}
