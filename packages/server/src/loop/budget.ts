import type { Budget, Usage } from "@harness/protocol"
import { Clock, Effect } from "effect"
import { tokensOfText, totalTokens } from "../compaction/tokens.ts"
import { Limits } from "../config/Limits.ts"
import type { Generation } from "../hooks/Hooks.ts"
import type { ResolvedModel } from "../providers/Model.ts"
import { optionsOf, outcomeOf, type TurnRow, TurnsRepo } from "../turns/TurnsRepo.ts"
import { SpendingRepo, type Spent } from "../usage/SpendingRepo.ts"
import { addUsage } from "../usage/usage.ts"

/** What an answer is counted as before it is there, in tokens. */
const ANSWER_TOKENS = 1_024

const tokensOf = ({ inputTokens = 0, outputTokens = 0 }: Usage): number => inputTokens + outputTokens

/** What the next generation is held against before it is made. */
type Reservation = Pick<Spent, "tokens" | "costUsd">

/** Why a budget does not cover the next generation; undefined when it does. */
const exceeded = (who: string, budget: Budget, spent: Spent, next: Reservation): string | undefined => {
  if (budget.maxTokens !== undefined && spent.tokens + next.tokens > budget.maxTokens) {
    return `${who} may use ${budget.maxTokens} tokens: ${spent.tokens} are spent, and the next step needs about ${next.tokens}.`
  }
  const cost = spent.costUsd + next.costUsd
  if (budget.maxCostUsd !== undefined && cost > budget.maxCostUsd) {
    return `${who} may cost $${budget.maxCostUsd}, and with the next step it would cost about $${cost.toFixed(4)}.`
  }
  if (budget.maxMillis !== undefined && spent.millis > budget.maxMillis) {
    return `${who} may take ${budget.maxMillis} ms, and has.`
  }
  return undefined
}

/** What a turn has used, its sub-agents included. */
const ofTurn = (turn: TurnRow, now: number) =>
  Effect.gen(function* () {
    const turns = yield* TurnsRepo
    const below = yield* turns.usageBelow(turn.sessionId, turn.turnId)
    const used = below.reduce(addUsage, outcomeOf(turn).usage)
    const spent: Spent = {
      tokens: tokensOf(used),
      costUsd: used.costUsd ?? 0,
      millis: turn.startedAt === null ? 0 : now - turn.startedAt
    }
    return spent
  })

/**
 * Whether the next generation would go over what the turn may cost, or its session, or the whole tree of sessions it belongs
 * to: what was spent, and a reservation for the request at hand. Answers why not.
 */
export const overBudget = (turn: TurnRow, model: ResolvedModel, generation: Generation) =>
  Effect.gen(function* () {
    const limits = yield* yield* Limits
    const budget = { ...limits.turn, ...optionsOf(turn).budget }
    const { session, tree } = limits
    if (Object.keys(budget).length === 0 && session === undefined && tree === undefined) return undefined
    const spending = yield* SpendingRepo
    const now = yield* Clock.currentTimeMillis
    const asked = tokensOfText(generation.systemPrompt) + totalTokens(generation.messages)
    const answer = Math.min(ANSWER_TOKENS, model.maxOutputTokens ?? ANSWER_TOKENS)
    const next = {
      tokens: asked + answer,
      costUsd: model.costUsd?.({ inputTokens: asked, outputTokens: answer }) ?? 0
    }
    return (
      exceeded("The turn", budget, yield* ofTurn(turn, now), next) ??
      (session === undefined
        ? undefined
        : exceeded("The session", session, yield* spending.ofSession(turn.sessionId, now), next)) ??
      (tree === undefined
        ? undefined
        : exceeded("The session and its sub-agents", tree, yield* spending.ofTree(turn.sessionId, now), next))
    )
  })
