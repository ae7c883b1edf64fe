import type { Usage } from "@harness/protocol"
import { Clock, Effect } from "effect"
import { tokensOfText, totalTokens } from "../compaction/tokens.ts"
import type { Generation } from "../hooks/Hooks.ts"
import type { ResolvedModel } from "../providers/Model.ts"
import { optionsOf, outcomeOf, type TurnRow, TurnsRepo } from "../turns/TurnsRepo.ts"
import { addUsage } from "../usage/usage.ts"

/** What an answer is counted as before it is there, in tokens. */
const ANSWER_TOKENS = 1_024

const tokensOf = ({ inputTokens = 0, outputTokens = 0 }: Usage): number => inputTokens + outputTokens

/**
 * Whether the next generation would go over what the turn may cost, its sub-agents included: what was spent, and a
 * reservation for the request at hand. Answers why not.
 */
export const overBudget = (turn: TurnRow, model: ResolvedModel, generation: Generation) =>
  Effect.gen(function* () {
    const { budget } = optionsOf(turn)
    if (budget === undefined) return undefined
    const turns = yield* TurnsRepo
    const now = yield* Clock.currentTimeMillis
    const below = yield* turns.usageBelow(turn.sessionId, turn.turnId)
    const spent = below.reduce(addUsage, outcomeOf(turn).usage)
    const asked = tokensOfText(generation.systemPrompt) + totalTokens(generation.messages)
    const answer = Math.min(ANSWER_TOKENS, model.maxOutputTokens ?? ANSWER_TOKENS)
    if (budget.maxTokens !== undefined && tokensOf(spent) + asked + answer > budget.maxTokens) {
      return `The turn may use ${budget.maxTokens} tokens: ${tokensOf(spent)} are spent, and the next step needs about ${asked + answer}.`
    }
    const cost = (spent.costUsd ?? 0) + (model.costUsd?.({ inputTokens: asked, outputTokens: answer }) ?? 0)
    if (budget.maxCostUsd !== undefined && cost > budget.maxCostUsd) {
      return `The turn may cost $${budget.maxCostUsd}, and with the next step it would cost about $${cost.toFixed(4)}.`
    }
    if (budget.maxMillis !== undefined && turn.startedAt !== null && now - turn.startedAt > budget.maxMillis) {
      return `The turn may take ${budget.maxMillis} ms, and has.`
    }
    return undefined
  })
