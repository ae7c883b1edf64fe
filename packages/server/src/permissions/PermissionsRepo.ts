import type { Actor, GrantId, PermissionReply, PermissionRequest, SavedPermission } from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import type { Tx } from "../log/Commit.ts"
import { fromColumn, toTimestamp } from "../storage/columns.ts"
import { Database } from "../storage/Sqlite.ts"

/** How a request ended. `by`: a person, its turn's end, or its time. */
export interface Settlement {
  readonly reply: PermissionReply
  readonly message?: string | undefined
  readonly grantId?: GrantId | undefined
  readonly alsoSettled: ReadonlyArray<PermissionRequest["requestId"]>
  readonly by: "actor" | "turn" | "time"
}

/** A request, and how it stands. */
export interface RequestRow {
  readonly request: PermissionRequest
  readonly settlement: Settlement | undefined
}

interface Row {
  readonly body: string
  readonly reply: string | null
}

const toRow = ({ body, reply }: Row): RequestRow => ({
  request: fromColumn<PermissionRequest>(body),
  settlement: reply === null ? undefined : fromColumn<Settlement>(reply)
})

const insert = (tx: Tx, request: PermissionRequest) =>
  tx.query(
    "INSERT INTO permission_request (request_id, session_id, turn_id, call_id, body, state) VALUES (?, ?, ?, ?, ?, 'open')",
    [request.requestId, request.sessionId, request.turnId, request.callId, JSON.stringify(request)]
  )

const find = (tx: Tx, sessionId: string, requestId: string) =>
  Effect.map(
    tx.query<Row>("SELECT body, reply FROM permission_request WHERE session_id = ? AND request_id = ?", [
      sessionId,
      requestId
    ]),
    ([row]) => (row === undefined ? undefined : toRow(row))
  )

const openOf = (tx: Tx, sessionId: string) =>
  Effect.map(
    tx.query<Row>(
      "SELECT body, reply FROM permission_request WHERE session_id = ? AND state = 'open' ORDER BY request_id",
      [sessionId]
    ),
    (rows) => rows.map((row) => toRow(row).request)
  )

const settle = (tx: Tx, requestId: string, settlement: Settlement) =>
  tx.query("UPDATE permission_request SET state = 'settled', reply = ? WHERE request_id = ? AND state = 'open'", [
    JSON.stringify(settlement),
    requestId
  ])

interface GrantRow {
  readonly grantId: GrantId
  readonly permission: string
  readonly patterns: string
  readonly createdAt: number
  readonly actor: string
}

const grantColumns = 'grant_id AS "grantId", permission, patterns, created_at AS "createdAt", actor'

const toGrant = (row: GrantRow): SavedPermission => ({
  grantId: row.grantId,
  permission: row.permission,
  patterns: fromColumn<ReadonlyArray<string>>(row.patterns),
  createdAt: toTimestamp(row.createdAt),
  actor: fromColumn<Actor>(row.actor)
})

const insertGrant = (tx: Tx, sessionId: string, grant: Omit<SavedPermission, "createdAt">) =>
  tx.query(
    "INSERT INTO permission_grant (grant_id, session_id, permission, patterns, created_at, actor) VALUES (?, ?, ?, ?, ?, ?)",
    [grant.grantId, sessionId, grant.permission, JSON.stringify(grant.patterns), tx.now, JSON.stringify(grant.actor)]
  )

const removeGrant = (tx: Tx, sessionId: string, grantId: string) =>
  Effect.map(
    tx.query<GrantRow>(`DELETE FROM permission_grant WHERE session_id = ? AND grant_id = ? RETURNING ${grantColumns}`, [
      sessionId,
      grantId
    ]),
    ([row]) => (row === undefined ? undefined : toGrant(row))
  )

const family =
  "WITH RECURSIVE family (id) AS (SELECT session_id FROM session WHERE parent_id = ? UNION ALL " +
  "SELECT session_id FROM session JOIN family ON parent_id = id) "

const make = Effect.gen(function* () {
  const { read } = yield* Database
  const requests = (sql: string, params: ReadonlyArray<string | number>) =>
    read<Row>(sql, params).pipe(
      Effect.map((rows) => rows.map((row) => toRow(row).request)),
      Effect.orDie
    )
  return {
    /** Open requests of a session, oldest first. */
    open: (sessionId: string, after: string, limit: number) =>
      requests(
        "SELECT body, reply FROM permission_request WHERE session_id = ? AND state = 'open' AND request_id > ? ORDER BY request_id LIMIT ?",
        [sessionId, after, limit]
      ),
    /** Open requests of every session it spawned, near and far. */
    openBelow: (sessionId: string, after: string, limit: number) =>
      requests(
        `${family} SELECT body, reply FROM permission_request WHERE session_id IN (SELECT id FROM family) AND state = 'open' AND request_id > ? ` +
          "ORDER BY request_id LIMIT ?",
        [sessionId, after, limit]
      ),
    grants: (sessionId: string, after: string, limit: number) =>
      read<GrantRow>(
        `SELECT ${grantColumns} FROM permission_grant WHERE session_id = ? AND grant_id > ? ORDER BY grant_id LIMIT ?`,
        [sessionId, after, limit]
      ).pipe(
        Effect.map((rows) => rows.map(toGrant)),
        Effect.orDie
      )
  }
})

/** Requests for permission, and the grants people saved. Writing is for commands alone. */
export class PermissionsRepo extends Context.Tag("@harness/server/PermissionsRepo")<
  PermissionsRepo,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(PermissionsRepo, make)
  static readonly insert = insert
  static readonly find = find
  static readonly openOf = openOf
  static readonly settle = settle
  static readonly insertGrant = insertGrant
  static readonly removeGrant = removeGrant
}
