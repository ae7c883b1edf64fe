import type { CompactionId, SafeFailure, SessionId } from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import type { Tx } from "../log/Commit.ts"
import { fromColumn } from "../storage/columns.ts"
import { Database } from "../storage/Sqlite.ts"

export type CompactionState = "queued" | "running" | "completed" | "failed" | "cancelled"

/** What a compaction has come to. */
export interface CompactionDetails {
  readonly boundary?: { readonly turnId: string } | { readonly entryId: string } | undefined
  readonly tokensBefore?: number | undefined
  readonly tokensAfter?: number | undefined
  readonly failure?: SafeFailure | undefined
}

export interface CompactionRow {
  readonly sessionId: SessionId
  readonly compactionId: CompactionId
  readonly seq: number
  readonly requestHash: string
  readonly instructions: string
  readonly state: CompactionState
  readonly details: CompactionDetails
  readonly cursor: number
}

interface Row extends Omit<CompactionRow, "details"> {
  readonly details: string
}

const columns =
  'session_id AS "sessionId", compaction_id AS "compactionId", seq, request_hash AS "requestHash", instructions, state, details, cursor'
const toRow = (row: Row): CompactionRow => ({ ...row, details: fromColumn<CompactionDetails>(row.details) })

const one = (tx: Tx, sql: string, params: ReadonlyArray<string>) =>
  Effect.map(tx.query<Row>(`SELECT ${columns} FROM compaction ${sql}`, params), ([row]) =>
    row === undefined ? undefined : toRow(row)
  )

const find = (tx: Tx, sessionId: string, compactionId: string) =>
  one(tx, "WHERE session_id = ? AND compaction_id = ?", [sessionId, compactionId])

/** The one to run next. */
const head = (tx: Tx, sessionId: string) =>
  one(tx, "WHERE session_id = ? AND state = 'queued' ORDER BY seq LIMIT 1", [sessionId])

const underWay = (tx: Tx, sessionId: string) =>
  Effect.map(
    tx.query<Row>(`SELECT ${columns} FROM compaction WHERE session_id = ? AND state = 'running' ORDER BY seq`, [
      sessionId
    ]),
    (rows) => rows.map(toRow)
  )

const insert = (tx: Tx, row: Omit<CompactionRow, "seq">) =>
  tx.query(
    "INSERT INTO compaction (session_id, compaction_id, seq, request_hash, instructions, state, details, cursor) VALUES " +
      "(?, ?, (SELECT coalesce(max(seq), 0) + 1 FROM compaction WHERE session_id = ?), ?, ?, ?, ?, ?)",
    [
      row.sessionId,
      row.compactionId,
      row.sessionId,
      row.requestHash,
      row.instructions,
      row.state,
      JSON.stringify(row.details),
      row.cursor
    ]
  )

const update = (tx: Tx, row: CompactionRow) =>
  tx.query("UPDATE compaction SET state = ?, details = ?, cursor = ? WHERE session_id = ? AND compaction_id = ?", [
    row.state,
    JSON.stringify(row.details),
    row.cursor,
    row.sessionId,
    row.compactionId
  ])

const make = Effect.gen(function* () {
  const { read } = yield* Database
  const rows = (sql: string, params: ReadonlyArray<string | number>) =>
    read<Row>(`SELECT ${columns} FROM compaction ${sql}`, params).pipe(
      Effect.map((found) => found.map(toRow)),
      Effect.orDie
    )
  return {
    find: (sessionId: string, compactionId: string) =>
      Effect.map(rows("WHERE session_id = ? AND compaction_id = ?", [sessionId, compactionId]), ([row]) => row),
    page: (sessionId: string, from: { readonly after: number } | { readonly before: number }, limit: number) =>
      "after" in from
        ? rows("WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?", [sessionId, from.after, limit])
        : Effect.map(
            rows("WHERE session_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?", [sessionId, from.before, limit]),
            (found) => found.toReversed()
          ),
    /** Whether a session has one to run, or one that a crash cut. */
    isWaiting: (sessionId: string) =>
      read("SELECT 1 FROM compaction WHERE session_id = ? AND state IN ('queued', 'running') LIMIT 1", [
        sessionId
      ]).pipe(
        Effect.map((found) => found.length > 0),
        Effect.orDie
      ),
    /** Sessions with a compaction to run, for the start. */
    waiting: read<{ sessionId: SessionId }>(
      `SELECT DISTINCT session_id AS "sessionId" FROM compaction WHERE state IN ('queued', 'running')`
    ).pipe(Effect.orDie)
  }
})

/** The compaction table. Writing is for commands alone. */
export class CompactionsRepo extends Context.Tag("@harness/server/CompactionsRepo")<
  CompactionsRepo,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(CompactionsRepo, make)
  static readonly find = find
  static readonly head = head
  static readonly underWay = underWay
  static readonly insert = insert
  static readonly update = update
}
