import type * as SqlError from "@effect/sql/SqlError"
import { type Actor, isTerminal, MAX_WIRE_BYTES, type TurnChange, type TurnPart } from "@harness/protocol"
import { Effect } from "effect"
import type { Tx } from "../log/Commit.ts"
import { type PartRow, type TurnRow, TurnsRepo, toSnapshot } from "./TurnsRepo.ts"

/** What one commit does to a turn. */
export interface Change {
  /** The row as it is to be, its revision aside. */
  readonly turn: TurnRow
  /** The row as it was; absent for a new turn. */
  readonly from?: TurnRow | undefined
  readonly parts?: ReadonlyArray<PartRow>
  /** Events that go before the snapshot row, by type. */
  readonly facts?: ReadonlyArray<readonly [type: string, fields: object]>
  /** The prompt is news: it goes into the row whatever its length. */
  readonly tellPrompt?: boolean
  readonly actor?: Actor | undefined
  readonly causedBy?: string | undefined
}

/** A prompt this long is told once, in the turn's first row, and not again. */
const PROMPT_REPEATED_MAX = 8_192
/** Leaves room for the envelope and the rest of the turn. */
const ROW_BYTES = MAX_WIRE_BYTES - 131_072

type Activity = "none" | "queued" | "running" | "waiting"

const activityOf = (row: TurnRow | undefined): Activity =>
  row?.state === "queued" || row?.state === "running" || row?.state === "waiting" ? row.state : "none"

/** Moves the session's log on, and shows the turn in its session; a new one takes a place. Answers the log's new head. */
const touchSession = (tx: Tx, before: TurnRow | undefined, turn: TurnRow, rows: number) => {
  const from = activityOf(before)
  const to = activityOf(turn)
  const queued = (to === "queued" ? 1 : 0) - (from === "queued" ? 1 : 0)
  const sets = ["cursor = cursor + ?"]
  const params: Array<string | number> = [rows]
  if (before === undefined) sets.push("next_seq = next_seq + 1, turns = turns + 1")
  if (queued !== 0) sets.push(`queued = queued + ${queued}`)
  if (to === "running" || to === "waiting") {
    sets.push(`active_turn = ?, active_state = '${to}'`)
    params.push(turn.turnId)
  } else if (from === "running" || from === "waiting") sets.push("active_turn = NULL, active_state = NULL")
  return Effect.map(
    tx.query<{ cursor: number }>(`UPDATE session SET ${sets.join(", ")} WHERE session_id = ? RETURNING cursor`, [
      ...params,
      turn.sessionId
    ]),
    ([session]) => session?.cursor ?? rows
  )
}

const tellsPrompt = (row: TurnRow, first: boolean): boolean =>
  Buffer.byteLength(row.prompt) <= (first ? ROW_BYTES : PROMPT_REPEATED_MAX)

/** Whether one row could carry this beside the rest of its turn. */
export const fitsRow = (value: unknown): boolean => Buffer.byteLength(JSON.stringify(value)) <= ROW_BYTES

/** Parts in groups that each fit one row. */
const groups = (parts: ReadonlyArray<TurnPart>): ReadonlyArray<ReadonlyArray<TurnPart>> => {
  const found: Array<Array<TurnPart>> = [[]]
  let room = ROW_BYTES
  for (const part of parts) {
    const bytes = Buffer.byteLength(JSON.stringify(part))
    if (bytes > room && found.at(-1)?.length !== 0) {
      found.push([])
      room = ROW_BYTES
    }
    room -= bytes
    found.at(-1)?.push(part)
  }
  return found
}

/**
 * One change of a turn, whole: its rows in the log, its table, its parts, and what its session shows of it. The last row is
 * the snapshot that names the revision the tables are at; a turn that settles ends with its terminal row instead.
 */
export const record = (tx: Tx, change: Change): Effect.Effect<TurnRow, SqlError.SqlError> =>
  Effect.gen(function* () {
    const { facts = [], parts = [], from } = change
    const snapshots = groups(parts.map((row) => row.part))
    const rows = facts.length + snapshots.length
    const tellPrompt = change.tellPrompt === true || change.turn.revision === 0
    let cursor = (yield* touchSession(tx, from, change.turn, rows)) - rows
    const turn = {
      ...change.turn,
      revision: change.turn.revision + rows,
      ...(from === undefined ? { acceptedCursor: cursor + rows } : {})
    }
    if (from === undefined) yield* TurnsRepo.insert(tx, turn)
    else yield* TurnsRepo.update(tx, turn)
    for (const part of parts) yield* TurnsRepo.putPart(tx, turn.sessionId, turn.turnId, part)

    let revision = change.turn.revision
    const meta = { attempt: turn.attempt, causedBy: change.causedBy, actor: change.actor }
    const append = (type: string, fields: object) => {
      cursor++
      revision++
      return tx.append({ sessionId: turn.sessionId, cursor, turnId: turn.turnId, revision, type }, meta, fields)
    }
    for (const [type, fields] of facts) yield* append(`turn.${type}`, fields)
    for (const [index, changed] of snapshots.entries()) {
      const last = index === snapshots.length - 1
      const { prompt, finalText, ...snapshot } = toSnapshot({ ...turn, revision: revision + 1 }, changed)
      const shown: TurnChange = {
        ...snapshot,
        ...(finalText !== undefined && fitsRow([finalText, changed]) ? { finalText } : {}),
        ...(tellsPrompt(turn, tellPrompt && index === 0) ? { prompt } : {})
      }
      yield* append(last && turn.state !== "steered" && isTerminal(turn.state) ? "turn.terminal" : "turn.snapshot", {
        turn: shown
      })
    }
    return turn
  })
