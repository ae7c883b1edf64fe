import type { FinishReason, StopReason, TurnStep, Usage } from "@harness/protocol"
import { Effect, Either, Option } from "effect"
import { tokensOfText } from "../compaction/tokens.ts"
import { HistoryRepo } from "../history/HistoryRepo.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { Hub } from "../log/Hub.ts"
import { Models } from "../models/Models.ts"
import type { ModelFailure, ResolvedModel } from "../providers/Model.ts"
import { GONE, Progress } from "../turns/Progress.ts"
import type { Ending } from "../turns/settle.ts"
import { outcomeOf, type PartRow, type TurnRow } from "../turns/TurnsRepo.ts"
import { SpeechCleaner } from "../voice/speech.ts"
import { overBudget } from "./budget.ts"
import { runCalls, toolboxOf } from "./calls.ts"
import type { Draft } from "./Draft.ts"
import { Drafts } from "./Drafts.ts"
import { type Judged, judgeText } from "./deliverable.ts"
import { draftKey } from "./draftKey.ts"
import { givingWay } from "./fallback.ts"
import { Growing } from "./Growing.ts"
import { type Generated, generate } from "./generate.ts"
import { afterCalls, endingOfMisfit, noticeOf } from "./handIn.ts"
import { subjectOf } from "./judge.ts"
import { plan, replan } from "./plan.ts"
import { compactFor, requestOf, toSend } from "./request.ts"
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
    const drafts = yield* Drafts
    const history = yield* HistoryRepo
    const { retryBaseMillis } = yield* Models
    const { crew, held, growing, model } = stage
    const number = outcomeOf(turn).steps.length + 1
    const toolbox = yield* toolboxOf(held, stage.crew.deliverable)
    const asked = yield* requestOf(stage, turn, toolbox, yield* history.forModel(turn.sessionId))
    if (asked._tag === "Overflow") return yield* progress.finish(held.turn, overflow)
    if (asked._tag === "Vetoed") return yield* progress.finish(held.turn, vetoed(asked.reason))
    const over = yield* overBudget(turn, model, asked.generation)
    if (over !== undefined) {
      const notice = { code: "budget", message: over }
      return yield* progress.finish(held.turn, { state: "completed", stopReason: "budget" }, notice)
    }
    const request = toSend(stage, turn, toolbox, asked.generation)
    const draft = drafts.take(turn, () => draftKey(turn, model, stage.sound?.language, request))
    const other = yield* otherModel(stage)
    let answering = model
    const asking = draft === undefined ? model : drafted(model, draft)
    const generated = yield* Effect.either(
      generate({
        turn: held.turn,
        model:
          other === undefined
            ? asking
            : givingWay(asking, other.model, other.millis, () => {
                answering = other.model
              }),
        growing,
        cleaner: stage.sound?.voice.cleanup === true ? new SpeechCleaner(growing.text) : undefined,
        room: roomOf(stage),
        retryBaseMillis,
        request,
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
    const said = growing.finalText
    stage.said += growing.text.length
    stage.load += tokensOfText(growing.text)
    const judged =
      crew.deliverable !== undefined && finishReason === "stop" ? judgeText(crew.deliverable, said) : undefined
    const planned = yield* plan(held, toolbox, calls, number, finishReason === "length")
    const misfit = judged?._tag === "Misfit" && planned.length === 0 ? judged : undefined
    const owed = drafts.owed(turn.sessionId)
    const usage = withDropped(priced(answering, generated.right.usage), owed)
    const committing = progress.answer(held.turn, {
      step: stepOf(number, answering, generated.right, usage),
      parts: growing.rows(true),
      calls: planned,
      content: growing.content(),
      provider: answering.provider,
      usage,
      notice: misfit === undefined ? undefined : noticeOf(misfit),
      ending:
        misfit === undefined ? endingOf(finishReason, said, judged) : yield* endingOfMisfit(held.turn, misfit, said)
    })
    const committed = (answered: Effect.Effect.Success<typeof committing>) => {
      stage.growing = new Growing(hub, held.turn, number + 1, [])
      if (answered !== GONE) drafts.settle(turn.sessionId, owed)
    }
    // What a commit holds is no longer growing, even if the turn is stopped just then.
    const answered = yield* Effect.uninterruptible(
      Effect.tap(committing, (answered) => Effect.sync(() => committed(answered)))
    )
    if (answered === GONE) return GONE
    yield* hooks.postGenerate(subjectOf({ ...held, turn }), said)
    if (answered.ended !== undefined) return answered.ended
    if (misfit !== undefined) return "again" as const
    yield* runCalls(held, toolbox, crew, answered.calls)
    return yield* leftOver(stage)
  })

/** Who answers a caller when the turn's own model does not begin in time. */
const otherModel = ({ model, sound }: Stage) =>
  Effect.gen(function* () {
    const name = sound?.voice.fallbackModel
    if (sound === undefined || name === undefined) return undefined
    const models = yield* Models
    const other = yield* Effect.option(models.resolve(name))
    if (Option.isNone(other) || (other.value.provider === model.provider && other.value.model === model.model)) {
      return undefined
    }
    return { model: other.value, millis: sound.voice.firstTokenMillis }
  })

/** How an answer without calls ends its turn; undefined when it breaks its contract. */
const endingOf = (finishReason: FinishReason, finalText: string, judged: Judged | undefined): Ending | undefined => {
  if (judged?._tag === "Misfit") return undefined
  if (judged?._tag === "Fits") return { state: "completed", stopReason: "end", finalText, result: judged.value }
  return { state: finishReason === "error" ? "failed" : "completed", stopReason: stopReasons[finishReason], finalText }
}

/** With what it cost, where prices are known and the provider did not say. */
const priced = (model: ResolvedModel, usage: Usage): Usage => {
  const costUsd = usage.costUsd ?? model.costUsd?.(usage)
  return costUsd === undefined ? usage : { ...usage, costUsd }
}

/** What is left of the longest reply a call may have. */
const roomOf = ({ said, sound }: Stage): number | undefined => {
  const longest = sound?.voice.limits.replyChars
  return longest === undefined ? undefined : Math.max(0, longest - said)
}

/** With the tokens of drafts that came to nothing. */
const withDropped = (usage: Usage, tokens: number): Usage => (tokens === 0 ? usage : { ...usage, speculative: tokens })

/** The model with a draft for its first answer. */
const drafted = (model: ResolvedModel, draft: Draft): ResolvedModel => {
  let taken = false
  return {
    ...model,
    generate: (request) => {
      if (taken) return model.generate(request)
      taken = true
      return draft.orElse(() => model.generate(request))
    }
  }
}

const stepOf = (step: number, model: ResolvedModel, generated: Generated, usage: Usage): TurnStep => ({
  step,
  provider: model.provider,
  model: model.model,
  finishReason: generated.calls.length > 0 && generated.finishReason === "stop" ? "tool_calls" : generated.finishReason,
  ...(generated.nativeStopReason === undefined ? {} : { nativeStopReason: generated.nativeStopReason }),
  usage,
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
    if (failure.kind === "context_overflow") stage.load = Number.POSITIVE_INFINITY
    return yield* progress.finish(held.turn, { ...failed(failure), grown: growing.rows(true) })
  })
