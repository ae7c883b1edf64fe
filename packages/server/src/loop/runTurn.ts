import {
  type FinishReason,
  MAX_STEPS_DEFAULT,
  type SafeFailure,
  type StopReason,
  type TurnStep
} from "@harness/protocol"
import { Effect, Either } from "effect"
import { HistoryRepo } from "../history/HistoryRepo.ts"
import { Hub } from "../log/Hub.ts"
import { Models } from "../models/Models.ts"
import type { ModelFailure, ResolvedModel } from "../providers/Model.ts"
import { configurationOf } from "../sessions/SessionsRepo.ts"
import { GONE, type Held, Progress } from "../turns/Progress.ts"
import { cancelOf, optionsOf, outcomeOf, type TurnRow } from "../turns/TurnsRepo.ts"
import { offered, plan, replan, runCalls } from "./calls.ts"
import { systemPrompt, toMessages, withPartial } from "./context.ts"
import { Growing } from "./Growing.ts"
import { type Generated, generate } from "./generate.ts"

/** A step under way: what the next commit of this turn needs to know. */
interface Stage {
  readonly held: Held
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

const openCalls = (held: Held) =>
  held.parts.flatMap(({ part, ...row }) =>
    part.type === "tool" && part.state === "requested" ? [replan({ ...row, part }, part)] : []
  )

const failed = (failure: SafeFailure) => ({ state: "failed", stopReason: "error", failure }) as const

const begin = (hub: typeof Hub.Service, held: Held, turn: TurnRow): Growing => {
  const step = outcomeOf(turn).steps.length + 1
  return new Growing(
    hub,
    held.turn,
    step,
    held.parts.filter((row) => row.open && row.step === step)
  )
}

/** One generation: the request made, asked, and its answer committed. Answers what is to be done next. */
const step = (stage: Stage, turn: TurnRow, model: ResolvedModel) =>
  Effect.gen(function* () {
    const progress = yield* Progress
    const history = yield* HistoryRepo
    const hub = yield* Hub
    const { retryBaseMillis } = yield* Models
    const { held, growing } = stage
    const options = optionsOf(turn)
    const number = outcomeOf(turn).steps.length + 1
    const tools = yield* offered(held)
    const entries = yield* history.forModel(turn.sessionId)
    const thinking =
      options.thinking !== undefined && model.thinkingLevels.includes(options.thinking) ? options.thinking : undefined
    const generated = yield* Effect.either(
      generate({
        turn: held.turn,
        model,
        growing,
        retryBaseMillis,
        request: {
          system: systemPrompt({
            turn: options.systemPrompt,
            session: configurationOf(held.session).systemPrompt,
            mode: turn.mode
          }),
          messages: withPartial(toMessages(entries, model.provider), growing.text),
          tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
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
    const committing = progress.answer(held.turn, {
      step: stepOf(number, model, generated.right),
      parts: growing.rows(true),
      calls: yield* plan(held, calls, number, finishReason === "length"),
      content: growing.content(),
      provider: model.provider,
      usage: generated.right.usage,
      ending: {
        state: finishReason === "error" ? "failed" : "completed",
        stopReason: stopReasons[finishReason],
        finalText: growing.finalText
      }
    })
    const forget = Effect.sync(() => {
      stage.growing = new Growing(hub, held.turn, number + 1, [])
    })
    // What a commit holds is no longer growing, even if the turn is stopped just then.
    const answered = yield* Effect.uninterruptible(Effect.zipLeft(committing, forget))
    if (answered === GONE) return GONE
    if (answered.ended !== undefined) return answered.ended
    yield* runCalls(held, answered.calls)
    return "again" as const
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
    const { held } = stage
    const waiting = openCalls(held)
    if (waiting.length > 0) yield* runCalls(held, waiting)
    const model = yield* Effect.either(models.resolve(held.turn.model))
    if (Either.isLeft(model)) {
      const { code, message } = model.left
      return yield* progress.finish(held.turn, failed({ kind: "permanent", code, message, retryable: false }))
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
 * A turn, from where it stands to its end. `stopped` ends whatever is under way (the request, the tools' processes) and then
 * commits the end that was asked for.
 */
export const runTurn = (held: Held, stopped: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const hub = yield* Hub
    const progress = yield* Progress
    const stage: Stage = { held, growing: begin(hub, held, held.turn), continued: false }
    const outcome = yield* Effect.raceFirst(loop(stage), Effect.as(stopped, "stopped" as const))
    if (outcome === "stopped") {
      yield* progress.finish(held.turn, {
        state: "cancelled",
        stopReason: "cancelled",
        grown: stage.growing.rows(true)
      })
    }
    hub.live.leave(held.turn.sessionId, held.turn.turnId)
  }).pipe(Effect.withSpan("loop.turn", { attributes: { turnId: held.turn.turnId } }))
