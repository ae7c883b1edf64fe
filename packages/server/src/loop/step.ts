import type { FinishReason, StopReason, TurnStep, Usage } from "@harness/protocol"
import { Effect, Either } from "effect"
import { HistoryRepo } from "../history/HistoryRepo.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { Hub } from "../log/Hub.ts"
import { Models } from "../models/Models.ts"
import type { ModelFailure, ResolvedModel } from "../providers/Model.ts"
import { GONE, Progress } from "../turns/Progress.ts"
import { optionsOf, outcomeOf, type PartRow, type TurnRow } from "../turns/TurnsRepo.ts"
import { overBudget } from "./budget.ts"
import { runCalls, toolboxOf } from "./calls.ts"
import { Growing } from "./Growing.ts"
import { type Generated, generate } from "./generate.ts"
import { afterCalls, handIn } from "./handIn.ts"
import { subjectOf } from "./judge.ts"
import { plan, replan } from "./plan.ts"
import { compactFor, requestOf } from "./request.ts"
import { failed, type Stage, vetoed } from "./Stage.ts"

const overflow = failed({
  kind: "context_overflow",
  code: "context.overflow",
  message: "the history does not fit the model's window, and a summary did not help",
  retryable: false
})

const stopReasons: Record<FinishReason, StopReason> = {
  stop: "end",
  length: "length",
  content_filter: "content_filter",
  tool_calls: "end",
  error: "error",
  other: "end"
}

/** One generation: the request made, asked, and its answer committed. Answers what is to be done next. */
export const step = (stage: Stage, turn: TurnRow) =>
  Effect.gen(function* () {
    const progress = yield* Progress
    const hub = yield* Hub
    const hooks = yield* Hooks
    const { retryBaseMillis } = yield* Models
    const { crew, held, growing, model } = stage
    const options = optionsOf(turn)
    const number = outcomeOf(turn).steps.length + 1
    const toolbox = yield* toolboxOf(held, stage.crew.deliverable)
    const asked = yield* requestOf(stage, turn, toolbox)
    if (asked._tag === "Overflow") return yield* progress.finish(held.turn, overflow)
    if (asked._tag === "Vetoed") return yield* progress.finish(held.turn, vetoed(asked.reason))
    const over = yield* overBudget(turn, model, asked.generation)
    if (over !== undefined) {
      yield* progress.notice(held.turn, "budget", over)
      return yield* progress.finish(held.turn, { state: "completed", stopReason: "budget" })
    }
    const thinking =
      options.thinking !== undefined && model.thinkingLevels.includes(options.thinking) ? options.thinking : undefined
    const generated = yield* Effect.either(
      generate({
        turn: held.turn,
        model,
        growing,
        retryBaseMillis,
        request: {
          system: asked.generation.systemPrompt,
          messages: asked.generation.messages,
          tools: toolbox.specs,
          ...(thinking === undefined ? {} : { thinking }),
          ...(crew.deliverable?.native === true ? { output: { schema: crew.deliverable.schema } } : {})
        },
        onRetry: ({ failure, attempt, delayMillis }) =>
          Effect.asVoid(
            progress.notice(
              held.turn,
              "provider.retry",
              `${failure.message} Try ${attempt + 1} follows in ${Math.ceil(delayMillis / 1000)} s.`
            )
          )
      })
    )
    if (Either.isLeft(generated)) return yield* afterFailure(stage, generated.left)
    const { calls, finishReason } = generated.right
    const planned = yield* plan(held, toolbox, calls, number, finishReason === "length")
    const committed = yield* progress.answer(held.turn, {
      step: stepOf(number, model, generated.right),
      parts: growing.rows(true),
      calls: planned,
      content: [...growing.content(), ...planned.map(({ content }) => content)],
      provider: model.provider,
      usage: priced(model, generated.right.usage)
    })
    if (committed === GONE) return GONE
    const { finalText } = growing
    stage.growing = new Growing(hub, held.turn, number + 1, [])
    yield* hooks.postGenerate(subjectOf({ ...held, turn }), finalText)
    if (planned.length > 0) {
      yield* runCalls(held, toolbox, crew, planned)
      return yield* leftOver(stage)
    }
    const ending = { state: "completed", stopReason: stopReasons[finishReason], finalText } as const
    if (finishReason === "error") return yield* progress.finish(held.turn, { ...ending, state: "failed" })
    if (crew.deliverable === undefined || finishReason !== "stop") return yield* progress.finish(held.turn, ending)
    return yield* handIn(stage, crew.deliverable, finalText)
  })

/** With what it cost, where prices are known and the provider did not say. */
const priced = (model: ResolvedModel, usage: Usage): Usage =>
  usage.costUsd !== undefined || model.costUsd === undefined ? usage : { ...usage, costUsd: model.costUsd(usage) }

const stepOf = (step: number, model: ResolvedModel, generated: Generated): TurnStep => ({
  step,
  provider: model.provider,
  model: model.model,
  finishReason: generated.calls.length > 0 && generated.finishReason === "stop" ? "tool_calls" : generated.finishReason,
  ...(generated.nativeStopReason === undefined ? {} : { nativeStopReason: generated.nativeStopReason }),
  usage: priced(model, generated.usage),
  ...(generated.warnings.length === 0 ? {} : { warnings: generated.warnings })
})

/** Runs what may go on now, until nothing may: then the turn waits, or its step is done. */
export const leftOver = (stage: Stage) =>
  Effect.gen(function* () {
    const progress = yield* Progress
    const { held } = stage
    for (;;) {
      const left = yield* progress.park(held.turn)
      if (left === GONE) return GONE
      if (left._tag === "Parked") return "parked" as const
      if (left._tag === "Clear") return yield* afterCalls(stage)
      const calls = left.open.flatMap((row: PartRow) =>
        replan(
          row,
          left.pending.find(({ n }) => n === row.n)
        )
      )
      yield* runCalls(held, yield* toolboxOf(held, stage.crew.deliverable), stage.crew, calls)
    }
  })

/** A failure before the first word was retried already. One after it is gone on from, once. */
const afterFailure = (stage: Stage, { failure }: ModelFailure) =>
  Effect.gen(function* () {
    const progress = yield* Progress
    const { growing, held } = stage
    const passing = failure.kind === "transient" || failure.kind === "rate_limited"
    if (passing && growing.begun && !stage.continued) {
      stage.continued = true
      growing.cut()
      const noted = yield* progress.notice(held.turn, "provider.continued", `${failure.message} The answer goes on.`)
      return noted === GONE ? GONE : ("again" as const)
    }
    if (failure.kind === "context_overflow" && !growing.begun && !stage.crowded) {
      const history = yield* HistoryRepo
      const entries = yield* history.forModel(held.turn.sessionId)
      const shorter = yield* compactFor(stage, entries, 0)
      if (shorter !== undefined) return "again" as const
    }
    return yield* progress.finish(held.turn, { ...failed(failure), grown: growing.rows(true) })
  })
