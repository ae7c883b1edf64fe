import { Context, Effect, Layer } from "effect"
import type { Tx } from "../log/Commit.ts"
import { Database } from "../storage/Sqlite.ts"

/** One event one webhook has not been told yet. */
export interface OutboxRow {
  readonly webhookId: string
  readonly sessionId: string
  readonly serverCursor: number
  /** The same for every try, and for every webhook. */
  readonly messageId: string
  readonly body: string
  readonly createdAt: number
}

/** One session's events for one webhook. */
export interface OutboxLine {
  readonly webhookId: string
  readonly sessionId: string
  readonly attempts: number
}

const columns =
  'webhook_id AS "webhookId", session_id AS "sessionId", server_cursor AS "serverCursor", message_id AS "messageId", body, created_at AS "createdAt"'

/** Puts an event into its line; one that is there already stays. Answers whether it is new. A line that rests is tried at once. */
const put = (tx: Tx, row: Omit<OutboxRow, "createdAt">, soon: boolean) =>
  Effect.gen(function* () {
    const { body, messageId, serverCursor, sessionId, webhookId } = row
    const inserted = yield* tx.query(
      "INSERT INTO outbox (webhook_id, session_id, server_cursor, message_id, body, created_at) VALUES (?, ?, ?, ?, ?, ?) " +
        "ON CONFLICT DO NOTHING RETURNING server_cursor",
      [webhookId, sessionId, serverCursor, messageId, body, tx.now]
    )
    yield* tx.query(
      "INSERT INTO outbox_line (webhook_id, session_id, next_at, attempts) VALUES (?, ?, ?, 0) ON CONFLICT DO " +
        (soon ? "UPDATE SET next_at = min(next_at, excluded.next_at)" : "NOTHING"),
      [webhookId, sessionId, tx.now]
    )
    return inserted.length > 0
  })

/** The event is done with, delivered or given up: the next of its line is tried at once. */
const remove = (tx: Tx, { serverCursor, sessionId, webhookId }: OutboxRow, attempts: number) =>
  Effect.gen(function* () {
    yield* tx.query("DELETE FROM outbox WHERE webhook_id = ? AND session_id = ? AND server_cursor = ?", [
      webhookId,
      sessionId,
      serverCursor
    ])
    const line = [webhookId, sessionId]
    const rest =
      "SELECT 1 FROM outbox o WHERE o.webhook_id = outbox_line.webhook_id AND o.session_id = outbox_line.session_id"
    yield* tx.query(`DELETE FROM outbox_line WHERE webhook_id = ? AND session_id = ? AND NOT EXISTS (${rest})`, line)
    yield* tx.query("UPDATE outbox_line SET attempts = ?, next_at = ? WHERE webhook_id = ? AND session_id = ?", [
      attempts,
      tx.now,
      ...line
    ])
  })

/** The line rests until then. */
const rest = (tx: Tx, { sessionId, webhookId }: OutboxRow, attempts: number, nextAt: number) =>
  tx.query("UPDATE outbox_line SET attempts = ?, next_at = ? WHERE webhook_id = ? AND session_id = ?", [
    attempts,
    nextAt,
    webhookId,
    sessionId
  ])

/** Everything a webhook was still to be told is tried at once. */
const wake = (tx: Tx, webhookId: string) =>
  tx.query("UPDATE outbox_line SET next_at = ? WHERE webhook_id = ?", [tx.now, webhookId])

/** Everything a webhook was still to be told goes. */
const clear = (tx: Tx, webhookId: string) =>
  Effect.zipRight(
    tx.query("DELETE FROM outbox WHERE webhook_id = ?", [webhookId]),
    tx.query("DELETE FROM outbox_line WHERE webhook_id = ?", [webhookId])
  )

/** A deleted session's events are still told, without what its turns said. */
const forget = (tx: Tx, sessionId: string) =>
  tx.query(
    "UPDATE outbox SET body = json_remove(body, '$.result') WHERE webhook_id IN (SELECT webhook_id FROM webhook) AND session_id = ?",
    [sessionId]
  )

const make = Effect.gen(function* () {
  const { read } = yield* Database
  return {
    /** Webhooks with a line to be tried by now. */
    due: (now: number) =>
      read<{ webhookId: string }>(
        'SELECT webhook_id AS "webhookId" FROM outbox_line WHERE next_at <= ? GROUP BY webhook_id ORDER BY min(next_at)',
        [now]
      ).pipe(
        Effect.map((rows) => rows.map(({ webhookId }) => webhookId)),
        Effect.orDie
      ),
    /** A webhook's lines to be tried by now, the longest due first. */
    lines: (webhookId: string, now: number, limit: number) =>
      Effect.orDie(
        read<OutboxLine>(
          'SELECT webhook_id AS "webhookId", session_id AS "sessionId", attempts FROM outbox_line ' +
            "WHERE webhook_id = ? AND next_at <= ? ORDER BY next_at LIMIT ?",
          [webhookId, now, limit]
        )
      ),
    /** When the next line is to be tried that is not due now. */
    nextAt: (now: number) =>
      read<{ nextAt: number | null }>('SELECT min(next_at) AS "nextAt" FROM outbox_line WHERE next_at > ?', [now]).pipe(
        Effect.map(([row]) => row?.nextAt ?? undefined),
        Effect.orDie
      ),
    /** The first event of a line. */
    head: ({ sessionId, webhookId }: OutboxLine) =>
      read<OutboxRow>(
        `SELECT ${columns} FROM outbox WHERE webhook_id = ? AND session_id = ? ORDER BY server_cursor LIMIT 1`,
        [webhookId, sessionId]
      ).pipe(
        Effect.map((rows) => rows[0]),
        Effect.orDie
      )
  }
})

/** The outbox: what webhooks have not been told yet. Writing is for commands alone. */
export class OutboxRepo extends Context.Tag("@harness/server/OutboxRepo")<
  OutboxRepo,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(OutboxRepo, make)
  static readonly put = put
  static readonly remove = remove
  static readonly rest = rest
  static readonly wake = wake
  static readonly clear = clear
  static readonly forget = forget
}
