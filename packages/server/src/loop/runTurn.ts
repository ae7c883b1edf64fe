import { MAX_STEPS_DEFAULT } from "@harness/protocol"
import { Effect, Either } from "effect"
import { Hooks } from "../hooks/Hooks.ts"
import { Hub } from "../log/Hub.ts"
import { Models } from "../models/Models.ts"
import { isLine } from "../turns/lines.ts"
import { GONE, type Held, Progress } from "../turns/Progress.ts"
import { cancelOf, optionsOf, outcomeOf } from "../turns/TurnsRepo.ts"
import { Failures } from "./calls.ts"
import { compactSoon } from "./compact.ts"
import { deliverableOf } from "./deliverable.ts"
import { Growing } from "./Growing.ts"
import { afterCalls } from "./handIn.ts"
import { subjectOf } from "./judge.ts"
import { failed, type Stage, vetoed } from "./Stage.ts"
import { leftOver, step } from "./step.ts"
import { detaches, noteEnded, soundOf } from "./voice.ts"

const begin = (hub: typeof Hub.Service, held: Held): Growing => {
  const step = outcomeOf(held.turn).steps.length + 1
  return new Growing(
    hub,
    held.turn,
    step,
    held.parts.filter((row) => row.open && row.step === step)
  )
}

/** What its earlier steps have said, of a turn that is taken up. */
const saidBefore = ({ parts }: Held): number =>
  parts.reduce(
    (sum, row) => (row.part.type === "text" && !row.open && !isLine(row) ? sum + row.part.text.length : sum),
    0
  )

const unresolved = ({ code, message }: { readonly code: string; readonly message: string }) =>
  failed({ kind: "permanent", code, message, retryable: false })

/** Says what was given to say. */
const recite = (stage: Stage, line: string) =>
  Effect.gen(function* () {
    const progress = yield* Progress
    const { growing, held } = stage
    // A crash before the end leaves nothing of it: it is said anew.
    if (!growing.begun) growing.take({ _tag: "Text", block: "line", delta: line })
    return yield* progress.finish(held.turn, {
      state: "completed",
      stopReason: "end",
      finalText: line,
      grown: growing.rows(true)
    })
  })

const loop = (stage: Stage) =>
  Effect.gen(function* () {
    const progress = yield* Progress
    const models = yield* Models
    const hooks = yield* Hooks
    const { held } = stage
    const { line } = optionsOf(held.turn)
    if (line !== undefined) return yield* recite(stage, line)
    // A turn that is taken up again may have calls to run; one that just begins asks the hooks before it.
    if (held.parts.some(({ open, part }) => open && part.type === "tool")) {
      const left = yield* leftOver(stage)
      if (left !== "again") return left
    } else if (outcomeOf(held.turn).steps.length === 0) {
      const verdict = yield* hooks.preTurn(subjectOf(held))
      if (verdict._tag === "Vetoed") return yield* progress.finish(held.turn, vetoed(verdict.reason))
    } else {
      // The last call it waited for may have been settled from outside.
      const next = yield* afterCalls(stage)
      if (next !== "again" && next !== "steered") return next
    }
    const maxSteps = optionsOf(held.turn).maxSteps ?? MAX_STEPS_DEFAULT
    for (;;) {
      const turn = yield* progress.steers(held.turn)
      if (turn === GONE) return GONE
      if (cancelOf(turn) !== undefined) return "stopped" as const
      if (outcomeOf(turn).steps.length >= maxSteps) {
        return yield* progress.finish(
          held.turn,
          { state: "completed", stopReason: "max_steps" },
          { code: "max_steps", message: `The turn ended after ${maxSteps} generations.` }
        )
      }
      const model = yield* Effect.either(models.resolve(turn.model))
      if (Either.isLeft(model)) return yield* progress.finish(held.turn, unresolved(model.left))
      stage.model = model.right
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
      yield* progress.finish(held.turn, unresolved(model.left))
      return
    }
    const sound = yield* soundOf(held)
    if (sound === undefined) yield* noteEnded(held)
    const stage: Stage = {
      held,
      model: model.right,
      crew: { failures: new Failures(), deliverable: deliverableOf(held.turn, model.right), detaches: detaches(sound) },
      growing: begin(hub, held),
      continued: false,
      // Nobody waits on the line for a summary: it is made between turns.
      crowded: sound !== undefined,
      said: saidBefore(held),
      load: 0,
      sound
    }
    const outcome = yield* Effect.raceFirst(loop(stage), Effect.as(stopped, "stopped" as const))
    if (outcome === "parked") return
    if (outcome === "stopped") {
      yield* progress.finish(held.turn, {
        state: "cancelled",
        stopReason: "cancelled",
        grown: stage.growing.rows(true),
        detaches: stage.crew.detaches
      })
    }
    hub.live.leave(held.turn.sessionId, held.turn.turnId)
    if (sound !== undefined) yield* compactSoon(stage)
  }).pipe(Effect.withSpan("loop.turn", { attributes: { turnId: held.turn.turnId } }))
