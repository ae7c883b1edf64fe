import type { CallId, JsonObject, SessionId, TurnId } from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import type { Tx } from "../log/Commit.ts"
import { fromColumn } from "../storage/columns.ts"
import { Database } from "../storage/Sqlite.ts"

/** What a call waits for: a person's yes, an answer, its own tool elsewhere, a hook's release, a sub-agent. */
export type PendingKind = "permission" | "question" | "external" | "hold" | "child"

/** Which gates a call has gone through already. */
export interface Passed {
  /** Hooks up to and with this one have been asked. */
  readonly hook?: { readonly priority: number; readonly hookId: string }
  /** A person said yes to what was asked. */
  readonly permission?: boolean
  readonly asked?: { readonly patterns: ReadonlyArray<string>; readonly outside: boolean }
}

/** One call that waits, or may go on. */
export interface Pending {
  readonly sessionId: SessionId
  readonly turnId: TurnId
  readonly callId: CallId
  readonly n: number
  readonly kind: PendingKind
  /** The id of what it waits for. */
  readonly ref: string
  /** As rewritten so far. */
  readonly arguments: JsonObject
  readonly passed: Passed
  readonly state: "open" | "released"
  readonly deadline: number | null
}

interface Row extends Omit<Pending, "arguments" | "passed"> {
  readonly arguments: string
  readonly passed: string
}

const columns =
  'session_id AS "sessionId", turn_id AS "turnId", call_id AS "callId", n, kind, ref, arguments, passed, state, deadline'

const toPending = (row: Row): Pending => ({
  ...row,
  arguments: fromColumn<JsonObject>(row.arguments),
  passed: fromColumn<Passed>(row.passed)
})

const find = (tx: Tx, sessionId: string, callId: string) =>
  Effect.map(
    tx.query<Row>(`SELECT ${columns} FROM pending WHERE session_id = ? AND call_id = ?`, [sessionId, callId]),
    ([row]) => (row === undefined ? undefined : toPending(row))
  )

const ofTurn = (tx: Tx, sessionId: string, turnId: string) =>
  Effect.map(
    tx.query<Row>(`SELECT ${columns} FROM pending WHERE session_id = ? AND turn_id = ? ORDER BY n`, [
      sessionId,
      turnId
    ]),
    (rows) => rows.map(toPending)
  )

const put = (tx: Tx, pending: Pending) =>
  tx.query(
    "INSERT OR REPLACE INTO pending (session_id, turn_id, call_id, n, kind, ref, arguments, passed, state, deadline) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [
      pending.sessionId,
      pending.turnId,
      pending.callId,
      pending.n,
      pending.kind,
      pending.ref,
      JSON.stringify(pending.arguments),
      JSON.stringify(pending.passed),
      pending.state,
      pending.deadline
    ]
  )

const remove = (tx: Tx, sessionId: string, callId: string) =>
  tx.query("DELETE FROM pending WHERE session_id = ? AND call_id = ?", [sessionId, callId])

const make = Effect.gen(function* () {
  const { read } = yield* Database
  return {
    ofTurn: (sessionId: string, turnId: string) =>
      read<Row>(`SELECT ${columns} FROM pending WHERE session_id = ? AND turn_id = ? ORDER BY n`, [
        sessionId,
        turnId
      ]).pipe(
        Effect.map((rows) => rows.map(toPending)),
        Effect.orDie
      ),
    /** Calls whose time is over, the longest first. */
    overdue: (now: number, limit: number) =>
      read<Row>(
        `SELECT ${columns} FROM pending WHERE deadline IS NOT NULL AND state = 'open' AND deadline <= ? ORDER BY deadline LIMIT ?`,
        [now, limit]
      ).pipe(
        Effect.map((rows) => rows.map(toPending)),
        Effect.orDie
      )
  }
})

/** The table of calls that wait. Writing is for commands alone. */
export class PendingRepo extends Context.Tag("@harness/server/PendingRepo")<
  PendingRepo,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(PendingRepo, make)
  static readonly find = find
  static readonly ofTurn = ofTurn
  static readonly put = put
  static readonly remove = remove
}
