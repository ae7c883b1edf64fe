import { Effect } from "effect"
import type { Tx } from "../log/Commit.ts"
import type { Hub } from "../log/Hub.ts"
import { record } from "./record.ts"
import { growingParts, nextPart } from "./steer.ts"
import type { PartRow, TurnRow } from "./TurnsRepo.ts"

/** Of no generation: words that were said in a turn, and that its model did not say. */
const NO_STEP = 0

/** A line as a part of its turn. */
export const lineRow = (n: number, text: string): PartRow => ({
  n,
  step: NO_STEP,
  open: false,
  part: { type: "text", partId: `p${n}`, text, done: true }
})

/** Whether a part is a line. */
export const isLine = ({ part, step }: Pick<PartRow, "part" | "step">): boolean =>
  part.type === "text" && step === NO_STEP

/** Words of ours that were said in a turn, behind what it has said so far. A turn that has ended stays as it is. */
export const addLine = (tx: Tx, hub: typeof Hub.Service, turn: TurnRow, text: string) =>
  Effect.gen(function* () {
    if (turn.settledAt !== null || turn.state === "steered") return
    const n = yield* nextPart(tx, hub, turn)
    const parts = [...(yield* growingParts(tx, hub, turn)), lineRow(n, text)]
    yield* record(tx, { from: turn, turn, parts })
    tx.point("line-said", turn.sessionId)
  })
