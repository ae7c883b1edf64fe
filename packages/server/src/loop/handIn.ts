import { Effect } from "effect"
import { Progress } from "../turns/Progress.ts"
import type { PartRow } from "../turns/TurnsRepo.ts"
import { accepted, exhausted, INVALID_NOTICE, type Judged, lastRejected, submitted } from "./deliverable.ts"
import type { Stage } from "./Stage.ts"

/** A final text that broke its contract: tried again with what was wrong, or the turn ends without a result. */
export const tryAgain = (stage: Stage, misfit: Extract<Judged, { _tag: "Misfit" }>, finalText: string) =>
  Effect.gen(function* () {
    const progress = yield* Progress
    const { turn } = stage.held
    yield* progress.notice(turn, INVALID_NOTICE, misfit.reason)
    const parts = yield* progress.parts(turn)
    if (!exhausted(parts)) return "again" as const
    return yield* progress.finish(turn, {
      state: "completed",
      stopReason: "output_invalid",
      finalText,
      resultError: misfit.reason,
      rejected: misfit.value
    })
  })

/** A step of calls is done: a result that was handed in among them ends the turn. */
export const afterCalls = (stage: Stage) =>
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
