import type { Actor } from "@harness/protocol"
import { Effect } from "effect"
import type { Tx } from "../log/Commit.ts"
import type { BellListener } from "./Bell.ts"
import { settle } from "./settle.ts"
import { type CancelMark, cancelOf, type TurnRow, TurnsRepo } from "./TurnsRepo.ts"

/** Asks an active turn to end: a running one by its runner, a waiting one here. */
export const markCancelled = (tx: Tx, bell: BellListener, turn: TurnRow, mark: CancelMark, actor?: Actor) =>
  Effect.gen(function* () {
    if (turn.state === "running") {
      if (cancelOf(turn) === undefined) yield* TurnsRepo.update(tx, { ...turn, cancel: JSON.stringify(mark) })
      tx.after(() => bell.stop(turn.sessionId, turn.turnId))
      return true
    }
    yield* settle(tx, turn, { state: "cancelled", stopReason: mark.stopReason, actor })
    tx.after(() => bell.wake(turn.sessionId))
    return false
  })
