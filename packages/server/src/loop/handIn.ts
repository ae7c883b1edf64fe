import { Effect } from "effect"
import { Progress } from "../turns/Progress.ts"
import type { PartRow } from "../turns/TurnsRepo.ts"
import {
  accepted,
  type Deliverable,
  exhausted,
  INVALID_NOTICE,
  judgeText,
  lastRejected,
  submitted
} from "./deliverable.ts"
import type { Stage } from "./Stage.ts"

/** A final text under a JSON contract: it fits, is tried again with what was wrong, or ends the turn without a result. */
export const handIn = (stage: Stage, deliverable: Deliverable, finalText: string) =>
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
