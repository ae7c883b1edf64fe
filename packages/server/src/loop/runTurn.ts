import {
  type FinishReason,
  MAX_STEPS_DEFAULT,
  type SafeFailure,
  type StopReason,
  type TurnStep
} from "@harness/protocol"
import { Effect, Either } from "effect"
import { HistoryRepo } from "../history/HistoryRepo.ts"
import { type GenerationVerdict, Hooks } from "../hooks/Hooks.ts"
import { Hub } from "../log/Hub.ts"
import { Models } from "../models/Models.ts"
import type { ModelFailure, ModelMessage, ResolvedModel } from "../providers/Model.ts"
import { configurationOf } from "../sessions/SessionsRepo.ts"
import { GONE, type Held, Progress } from "../turns/Progress.ts"
import { cancelOf, optionsOf, outcomeOf, type PartRow, type TurnRow } from "../turns/TurnsRepo.ts"
import { type Crew, Failures, runCalls, toolboxOf } from "./calls.ts"
import { systemPrompt, toMessages, withPartial } from "./context.ts"
import {
  accepted,
  type Deliverable,
  deliverableOf,
  exhausted,
  INVALID_NOTICE,
  judgeText,
  lastRejected,
  submitted
} from "./deliverable.ts"
import { Growing } from "./Growing.ts"
import { type Generated, generate } from "./generate.ts"
import { subjectOf } from "./judge.ts"
import { plan, replan } from "./plan.ts"
import { agentOf } from "./rulebooks.ts"
import type { Toolbox } from "./Toolbox.ts"

/** A turn under way: what its next commit needs to know. */
interface Stage {
  readonly held: Held
  readonly crew: Crew
  readonly model: ResolvedModel
  growing: Growing
  /** An answer cut off by its provider is gone on with once per turn. */
  continued: boolean
}

const stopReasons: Record<FinishReason, StopReason> = {
  stop: "end",
  length: "length",
  content_filter: "content_filter",
  tool_calls: "end",
  error: "error",
  other: "end"
}

const failed = (failure: SafeFailure) => ({ state: "failed", stopReason: "error", failure }) as const
const vetoed = (reason: string) => failed({ kind: "permanent", code: "hook.denied", message: reason, retryable: false })

const begin = (hub: typeof Hub.Service, held: Held): Growing => {
  const step = outcomeOf(held.turn).steps.length + 1
  return new Growing(
    hub,
    held.turn,
    step,
    held.parts.filter((row) => row.open && row.step === step)
  )
}

/** The request of a step, as the hooks before it let it go. */
const requestOf = (stage: Stage, turn: TurnRow, model: ResolvedModel, toolbox: Toolbox) =>
  Effect.gen(function* () {
    const history = yield* HistoryRepo
    const hooks = yield* Hooks
    const { held, growing } = stage
    const parts = yield* (yield* Progress).parts(held.turn)
    const agent = yield* agentOf(held.session.workdir, turn.agent)
    const entries = yield* history.forModel(turn.sessionId)
    const said = toMessages(entries, model.provider, (name) => toolbox.modelName(name))
    const messages = withPartial([...said, ...nudge(parts, growing)], growing.text)
    const prompt = systemPrompt({
      agent: agent.prompt,
      turn: optionsOf(turn).systemPrompt,
      session: configurationOf(held.session).systemPrompt,
      mode: turn.mode
    })
    const verdict: GenerationVerdict = yield* hooks.preGenerate(subjectOf({ ...held, turn }), {
      systemPrompt: prompt,
      messages
    })
    return verdict
  })

/** After an answer that broke its contract: what was wrong with it. Told once, and not stored. */
const nudge = (parts: ReadonlyArray<PartRow>, growing: Growing): ReadonlyArray<ModelMessage> => {
  const last = parts.filter(({ part }) => part.type !== "steer" && part.type !== "reasoning").at(-1)?.part
  if (growing.begun || last?.type !== "notice" || last.code !== INVALID_NOTICE) return []
  return [{ role: "user", content: [{ type: "text", text: last.message }] }]
}

/** One generation: the request made, asked, and its answer committed. Answers what is to be done next. */
const step = (stage: Stage, turn: TurnRow) =>
  Effect.gen(function* () {
    const progress = yield* Progress
    const hub = yield* Hub
    const hooks = yield* Hooks
    const { retryBaseMillis } = yield* Models
    const { crew, held, growing, model } = stage
    const options = optionsOf(turn)
    const number = outcomeOf(turn).steps.length + 1
    const toolbox = yield* toolboxOf(held, stage.crew.deliverable)
    const asked = yield* requestOf(stage, turn, model, toolbox)
    if (asked._tag === "Vetoed") return yield* progress.finish(held.turn, vetoed(asked.reason))
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
      usage: generated.right.usage
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

/** A final text under a JSON contract: it fits, is tried again with what was wrong, or ends the turn without a result. */
const handIn = (stage: Stage, deliverable: Deliverable, finalText: string) =>
  Effect.gen(function* () {
    const progress = yield* Progress
    const { turn } = stage.held
    const judged = judgeText(deliverable, finalText)
    if (judged._tag === "Fits") {
      return yield* progress.finish(turn, { state: "completed", stopReason: "end", finalText, result: judged.value })
    }
    yield* progress.notice(turn, INVALID_NOTICE, judged.reason)
    const parts = yield* progress.parts(turn)
    if (!exhausted(parts)) return "again" as const
    return yield* progress.finish(turn, {
      state: "completed",
      stopReason: "output_invalid",
      finalText,
      resultError: judged.reason,
      rejected: judged.value
    })
  })

/** A step of calls is done: a result that was handed in among them ends the turn. */
const afterCalls = (stage: Stage) =>
  Effect.gen(function* () {
    const progress = yield* Progress
    const { deliverable } = stage.crew
    if (deliverable === undefined || deliverable.native) return "again" as const
    const { turn } = stage.held
    const parts = yield* progress.parts(turn)
    const result = accepted(parts)
    if (result !== undefined) {
      const value = submitted(deliverable, result.args)
      return yield* progress.finish(turn, {
        state: "completed",
        stopReason: "end",
        result: value,
        finalText: textOf(parts)
      })
    }
    if (!exhausted(parts)) return "again" as const
    return yield* progress.finish(turn, {
      state: "completed",
      stopReason: "output_invalid",
      resultError: "No result fitted what was asked for.",
      rejected: lastRejected(deliverable, parts)
    })
  })

/** What the model said beside its last calls. */
const textOf = (parts: ReadonlyArray<PartRow>): string => {
  const last = parts.reduce((step, row) => Math.max(step, row.step), 0)
  return parts.reduce((text, { part, step }) => (part.type === "text" && step === last ? text + part.text : text), "")
}

const stepOf = (step: number, model: ResolvedModel, generated: Generated): TurnStep => ({
  step,
  provider: model.provider,
  model: model.model,
  finishReason: generated.calls.length > 0 && generated.finishReason === "stop" ? "tool_calls" : generated.finishReason,
  ...(generated.nativeStopReason === undefined ? {} : { nativeStopReason: generated.nativeStopReason }),
  usage: generated.usage,
  ...(generated.warnings.length === 0 ? {} : { warnings: generated.warnings })
})

/** Runs what may go on now, until nothing may: then the turn waits, or its step is done. */
const leftOver = (stage: Stage) =>
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
    return yield* progress.finish(held.turn, { ...failed(failure), grown: growing.rows(true) })
  })

const loop = (stage: Stage) =>
  Effect.gen(function* () {
    const progress = yield* Progress
    const hooks = yield* Hooks
    const { held } = stage
    // A turn that is taken up again may have calls to run; one that just begins asks the hooks before it.
    if (held.parts.some(({ open, part }) => open && part.type === "tool")) {
      const left = yield* leftOver(stage)
      if (left !== "again") return left
    } else if (outcomeOf(held.turn).steps.length === 0) {
      const verdict = yield* hooks.preTurn(subjectOf(held))
      if (verdict._tag === "Vetoed") return yield* progress.finish(held.turn, vetoed(verdict.reason))
    }
    const maxSteps = optionsOf(held.turn).maxSteps ?? MAX_STEPS_DEFAULT
    for (;;) {
      const turn = yield* progress.steers(held.turn)
      if (turn === GONE) return GONE
      if (cancelOf(turn) !== undefined) return "stopped" as const
      if (outcomeOf(turn).steps.length >= maxSteps) {
        yield* progress.notice(held.turn, "max_steps", `The turn ended after ${maxSteps} generations.`)
        return yield* progress.finish(held.turn, { state: "completed", stopReason: "max_steps" })
      }
      const next = yield* step(stage, turn)
      if (next !== "again" && next !== "steered") return next
    }
  })

/**
 * A turn, from where it stands to its end, or to where it has to wait. `stopped` ends whatever is under way (the request, the
 * tools' processes) and then commits the end that was asked for.
 */
export const runTurn = (held: Held, stopped: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const hub = yield* Hub
    const progress = yield* Progress
    const models = yield* Models
    const model = yield* Effect.either(models.resolve(held.turn.model))
    if (Either.isLeft(model)) {
      const { code, message } = model.left
      yield* progress.finish(held.turn, failed({ kind: "permanent", code, message, retryable: false }))
      return
    }
    const stage: Stage = {
      held,
      model: model.right,
      crew: { failures: new Failures(), deliverable: deliverableOf(held.turn, model.right) },
      growing: begin(hub, held),
      continued: false
    }
    const outcome = yield* Effect.raceFirst(loop(stage), Effect.as(stopped, "stopped" as const))
    if (outcome === "parked") return
    if (outcome === "stopped") {
      yield* progress.finish(held.turn, {
        state: "cancelled",
        stopReason: "cancelled",
        grown: stage.growing.rows(true)
      })
    }
    hub.live.leave(held.turn.sessionId, held.turn.turnId)
  }).pipe(Effect.withSpan("loop.turn", { attributes: { turnId: held.turn.turnId } }))
