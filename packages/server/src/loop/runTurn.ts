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
import type { ModelFailure, ResolvedModel } from "../providers/Model.ts"
import { configurationOf } from "../sessions/SessionsRepo.ts"
import { GONE, type Held, Progress } from "../turns/Progress.ts"
import { cancelOf, optionsOf, outcomeOf, type PartRow, type TurnRow } from "../turns/TurnsRepo.ts"
import { Failures, runCalls, toolboxOf } from "./calls.ts"
import { systemPrompt, toMessages, withPartial } from "./context.ts"
import { Growing } from "./Growing.ts"
import { type Generated, generate } from "./generate.ts"
import { subjectOf } from "./judge.ts"
import { plan, replan } from "./plan.ts"
import { agentOf } from "./rulebooks.ts"
import type { Toolbox } from "./Toolbox.ts"

/** A turn under way: what its next commit needs to know. */
interface Stage {
  readonly held: Held
  readonly failures: Failures
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
    const agent = yield* agentOf(held.session.workdir, turn.agent)
    const entries = yield* history.forModel(turn.sessionId)
    const messages = withPartial(
      toMessages(entries, model.provider, (name) => toolbox.modelName(name)),
      growing.text
    )
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

/** One generation: the request made, asked, and its answer committed. Answers what is to be done next. */
const step = (stage: Stage, turn: TurnRow, model: ResolvedModel) =>
  Effect.gen(function* () {
    const progress = yield* Progress
    const hub = yield* Hub
    const hooks = yield* Hooks
    const { retryBaseMillis } = yield* Models
    const { held, growing } = stage
    const options = optionsOf(turn)
    const number = outcomeOf(turn).steps.length + 1
    const toolbox = yield* toolboxOf(held)
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
          ...(thinking === undefined ? {} : { thinking })
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
      yield* runCalls(held, toolbox, stage.failures, planned)
      return yield* leftOver(stage)
    }
    return yield* progress.finish(held.turn, {
      state: finishReason === "error" ? "failed" : "completed",
      stopReason: stopReasons[finishReason],
      finalText
    })
  })

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
      if (left._tag === "Clear") return "again" as const
      const calls = left.open.flatMap((row: PartRow) =>
        replan(
          row,
          left.pending.find(({ n }) => n === row.n)
        )
      )
      yield* runCalls(held, yield* toolboxOf(held), stage.failures, calls)
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
    const models = yield* Models
    const hooks = yield* Hooks
    const { held } = stage
    const model = yield* Effect.either(models.resolve(held.turn.model))
    if (Either.isLeft(model)) {
      const { code, message } = model.left
      return yield* progress.finish(held.turn, failed({ kind: "permanent", code, message, retryable: false }))
    }
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
      const next = yield* step(stage, turn, model.right)
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
    const stage: Stage = { held, failures: new Failures(), growing: begin(hub, held), continued: false }
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
