import { applyChange, applyDelta, type TurnChange, type TurnPart, type TurnSnapshot } from "@harness/protocol"
import { isTerminalRow, type LogRow } from "./fact.ts"

const key = (sessionId: string, turnId: string) => `${sessionId}/${turnId}`

interface Growing {
  snapshot: TurnSnapshot
  nextPart: number
}

/**
 * The turns that run in this process, as their rows and deltas so far say. It changes in the same breath as the streams,
 * so a snapshot taken here ends exactly where the next frame begins.
 */
export class Live {
  private readonly turns = new Map<string, Growing>()

  /** A runner takes the turn up. */
  enter(snapshot: TurnSnapshot, nextPart: number): void {
    this.turns.set(key(snapshot.sessionId, snapshot.turnId), { snapshot, nextPart })
  }

  leave(sessionId: string, turnId: string): void {
    this.turns.delete(key(sessionId, turnId))
  }

  get(sessionId: string, turnId: string): TurnSnapshot | undefined {
    return this.turns.get(key(sessionId, turnId))?.snapshot
  }

  ofSession(sessionId: string): ReadonlyArray<TurnSnapshot> {
    const found: Array<TurnSnapshot> = []
    for (const { snapshot } of this.turns.values()) if (snapshot.sessionId === sessionId) found.push(snapshot)
    return found
  }

  /** The number of the turn's next part: given out here, so that numbers follow the order in which readers see parts. */
  takePart(sessionId: string, turnId: string): number | undefined {
    const turn = this.turns.get(key(sessionId, turnId))
    return turn === undefined ? undefined : turn.nextPart++
  }

  /** Parts that grow just now, by number. */
  growing(sessionId: string, turnId: string): ReadonlyArray<{ readonly n: number; readonly part: TurnPart }> {
    const parts = this.get(sessionId, turnId)?.parts ?? []
    return parts.flatMap((part) => ("done" in part && !part.done ? [{ n: Number(part.partId.slice(1)), part }] : []))
  }

  apply(row: LogRow): void {
    if (row.turnId === null || row.revision === null) return
    const turn = this.turns.get(key(row.sessionId, row.turnId))
    if (turn === undefined) return
    if (isTerminalRow(row)) {
      this.leave(row.sessionId, row.turnId)
      return
    }
    turn.snapshot = isSnapshotRow(row)
      ? applyChange(turn.snapshot, changeOf(row))
      : { ...turn.snapshot, revision: row.revision }
  }

  delta(
    kind: "text" | "reasoning" | "refusal",
    delta: { sessionId: string; turnId: string; partId: string; offset: number; delta: string }
  ): void {
    const turn = this.turns.get(key(delta.sessionId, delta.turnId))
    if (turn !== undefined) turn.snapshot = applyDelta(turn.snapshot, kind, delta)
  }
}

const isSnapshotRow = (row: LogRow): boolean => row.type === "turn.snapshot"

const changeOf = (row: LogRow): TurnChange => {
  const { turn }: { turn: TurnChange } = JSON.parse(`{${row.body}`)
  return turn
}
