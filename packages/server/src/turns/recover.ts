import type * as SqlError from "@effect/sql/SqlError"
import type { CallResult } from "@harness/protocol"
import { Effect } from "effect"
import { HistoryRepo } from "../history/HistoryRepo.ts"
import type { Tx } from "../log/Commit.ts"
import type { BellListener } from "./Bell.ts"
import { record } from "./record.ts"
import { settle } from "./settle.ts"
import { cancelOf, type PartRow, type TurnRow, TurnsRepo } from "./TurnsRepo.ts"

/** A turn found running after a crash is taken up again this often, the first time included. */
const ATTEMPTS_MAX = 3

/** What the model is told of a call that ran when the process ended. */
export const interrupted: CallResult = {
  content: [
    {
      type: "text",
      text: "Interrupted: the server stopped while this call was running. Whether it took effect is unknown; it was not run again."
    }
  ],
  isError: true,
  details: { code: "call.interrupted" }
}

/** A call that had started is closed, never run again; growing text stays open, the model goes on from it. */
const afterCrash = (row: PartRow, at: string): PartRow | undefined => {
  const { part } = row
  if (part.type === "tool") {
    if (part.state !== "running") return undefined
    return { ...row, open: false, part: { ...part, state: "interrupted", result: interrupted, settledAt: at } }
  }
  if (part.type === "text" || part.type === "refusal") return row
  return { ...row, open: false, part: "done" in part ? { ...part, done: true } : part }
}

/**
 * A turn that was running when the process ended:
 *
 *   its end was asked for → cancelled     third time → failed, interrupted     else → attempt + 1, on from its last commit
 */
export const recoverTurn = (tx: Tx, bell: BellListener, turn: TurnRow): Effect.Effect<TurnRow, SqlError.SqlError> =>
  Effect.gen(function* () {
    const asked = cancelOf(turn)
    if (asked !== undefined) {
      return yield* settle(tx, bell, turn, { state: "cancelled", stopReason: asked.stopReason, interrupted })
    }
    if (turn.attempt >= ATTEMPTS_MAX) {
      return yield* settle(tx, bell, turn, {
        state: "failed",
        stopReason: "interrupted",
        failure: {
          kind: "transient",
          code: "attempts.exhausted",
          message: `the server stopped ${ATTEMPTS_MAX} times while this turn ran`,
          retryable: true
        },
        interrupted
      })
    }
    const open = yield* TurnsRepo.openParts(tx, turn.sessionId, turn.turnId)
    const parts = open.flatMap((row) => afterCrash(row, tx.at) ?? [])
    const closed = parts.flatMap(({ part }) => (part.type === "tool" ? [part] : []))
    for (const { callId } of closed) {
      yield* HistoryRepo.fillResult(tx, turn.sessionId, callId, [
        { type: "result", callId, content: interrupted.content, isError: true }
      ])
    }
    return yield* record(tx, {
      from: turn,
      turn: { ...turn, attempt: turn.attempt + 1 },
      parts,
      facts: closed.map(({ callId, state }) => ["tool.completed", { callId, state, result: interrupted }] as const)
    })
  })
