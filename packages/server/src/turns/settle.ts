import type * as SqlError from "@effect/sql/SqlError"
import type { Actor, CallResult, SafeFailure, StopReason, ToolTurnPart } from "@harness/protocol"
import { Effect } from "effect"
import { HistoryRepo } from "../history/HistoryRepo.ts"
import type { Tx } from "../log/Commit.ts"
import { record } from "./record.ts"
import { type Outcome, outcomeOf, type PartRow, type TurnRow, TurnsRepo } from "./TurnsRepo.ts"

/** How a turn ends. */
export interface Ending {
  readonly state: "completed" | "failed" | "cancelled"
  readonly stopReason: StopReason
  readonly failure?: SafeFailure | undefined
  readonly finalText?: string | undefined
  /** Growing parts as the runner holds them, fresher than the last checkpoint. */
  readonly grown?: ReadonlyArray<PartRow>
  /** Parts to add, for example a notice. */
  readonly added?: ReadonlyArray<PartRow>
  /** The process that ran the turn is gone: what the model is told of calls that were running then. */
  readonly interrupted?: CallResult
  readonly actor?: Actor | undefined
}

/** What the model is told of a call that its turn's end cut off. */
const cutOff = (started: boolean, ending: Ending): CallResult => {
  const code = started ? "call.cancelled" : "call.not_run"
  const why = ending.state === "failed" ? "the turn failed" : "the turn was cancelled"
  const text = started ? `Cancelled: ${why} while this call was running.` : `Not run: ${why} first.`
  return { content: [{ type: "text", text }], isError: true, details: { code } }
}

const closeCall = (row: PartRow, part: ToolTurnPart, ending: Ending, at: string): PartRow => {
  const started = part.state === "running"
  const closed: Pick<ToolTurnPart, "state" | "result"> =
    started && ending.interrupted !== undefined
      ? { state: "interrupted", result: ending.interrupted }
      : { state: "cancelled", result: cutOff(started, ending) }
  return { ...row, open: false, part: { ...part, ...closed, settledAt: at } }
}

/** The answer a turn was giving when it was cut: stays in the history as far as it came. */
const keepPartialAnswer = (tx: Tx, turn: TurnRow, provider: string | undefined, texts: ReadonlyArray<PartRow>) => {
  const content = texts.flatMap(({ part }) =>
    (part.type === "text" || part.type === "refusal") && part.text !== ""
      ? [{ type: "text" as const, text: part.text }]
      : []
  )
  if (content.length === 0) return Effect.void
  return HistoryRepo.appendEntry(tx, {
    sessionId: turn.sessionId,
    turnId: turn.turnId,
    role: "assistant",
    ...(provider === undefined ? {} : { provider }),
    body: { content, interrupted: true }
  })
}

/** Steers nobody took: a prompt that joined becomes a turn of its own, a steer stays as it is. */
const releaseSteers = (tx: Tx, turn: TurnRow) =>
  Effect.gen(function* () {
    for (const steer of yield* TurnsRepo.pendingSteers(tx.query, turn.sessionId, turn.turnId)) {
      yield* TurnsRepo.settleSteer(tx, turn.sessionId, steer, "dropped")
      if (steer.alias === 0) continue
      const alias = yield* TurnsRepo.find(tx, turn.sessionId, steer.entryId)
      if (alias === undefined || alias.state !== "steered") continue
      yield* record(tx, { from: alias, turn: { ...alias, state: "queued", joined: null }, causedBy: turn.turnId })
    }
  })

/**
 * Ends a turn in one commit: what grew is closed, open calls get their one result, steers go on, what waited behind it takes
 * its place, and the one terminal row is written. The row must be the one in the database, and not terminal.
 */
export const settle = (tx: Tx, turn: TurnRow, ending: Ending): Effect.Effect<TurnRow, SqlError.SqlError> =>
  Effect.gen(function* () {
    const held = yield* TurnsRepo.openParts(tx, turn.sessionId, turn.turnId)
    const grown = ending.grown ?? []
    const fresh = new Set(grown.map(({ n }) => n))
    const open = [...held.filter(({ n }) => !fresh.has(n)), ...grown].sort((a, b) => a.n - b.n)
    const parts = [...open, ...(ending.added ?? [])].map((row): PartRow => {
      if (row.part.type === "tool") return closeCall(row, row.part, ending, tx.at)
      return { ...row, open: false, part: "done" in row.part ? { ...row.part, done: true } : row.part }
    })
    const before = outcomeOf(turn)
    const calls = parts.flatMap(({ part }) =>
      part.type === "tool" && part.result !== undefined
        ? [{ callId: part.callId, state: part.state, result: part.result }]
        : []
    )
    for (const { callId, result } of calls) {
      yield* HistoryRepo.fillResult(tx, turn.sessionId, callId, [
        { type: "result", callId, content: result.content, isError: result.isError }
      ])
    }
    const provider = before.steps.at(-1)?.provider
    yield* keepPartialAnswer(tx, turn, provider, open)
    const outcome: Outcome = {
      ...before,
      stopReason: ending.stopReason,
      failure: ending.failure,
      finalText: ending.finalText
    }
    const settled = yield* record(tx, {
      from: turn,
      turn: { ...turn, state: ending.state, settledAt: tx.now, outcome: JSON.stringify(outcome) },
      parts,
      facts: calls.map((call) => ["tool.completed", call] as const),
      actor: ending.actor
    })
    if (turn.state === "running" || turn.state === "waiting") yield* HistoryRepo.placeBehind(tx, turn.sessionId)
    yield* releaseSteers(tx, settled)
    return settled
  })
