import { Effect } from "effect"
import { type Notice, Progress } from "../turns/Progress.ts"
import type { Ending } from "../turns/settle.ts"
import type { PartRow, TurnRow } from "../turns/TurnsRepo.ts"
import { accepted, exhausted, INVALID_NOTICE, isLastTry, type Judged, lastRejected, submitted } from "./deliverable.ts"
import type { Stage } from "./Stage.ts"

type Misfit = Extract<Judged, { _tag: "Misfit" }>

/** What is told of a final text that broke its contract: the people by a notice, the model by what it says. */
export const noticeOf = ({ reason }: Misfit): Notice => ({ code: INVALID_NOTICE, message: reason })

/** How a turn ends after one misfit too many; undefined while it may try again. */
export const endingOfMisfit = (turn: TurnRow, misfit: Misfit, finalText: string) =>
  Effect.gen(function* () {
    const progress = yield* Progress
    if (!isLastTry(yield* progress.parts(turn))) return undefined
    const ending: Ending = {
      state: "completed",
      stopReason: "output_invalid",
      finalText,
      resultError: misfit.reason,
      rejected: misfit.value
    }
    return ending
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
