import type { WebhookId, WebhookResponseValue } from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import type { Tx } from "../log/Commit.ts"
import { fromColumn } from "../storage/columns.ts"
import { Database } from "../storage/Sqlite.ts"

/** A webhook as it is kept. */
export interface WebhookRow extends Omit<WebhookResponseValue, "secret"> {
  readonly secret: string
}

interface Row extends Pick<WebhookRow, "webhookId" | "url" | "secret"> {
  readonly events: string | null
  readonly sessionId: NonNullable<WebhookRow["sessionId"]> | null
  readonly parentSessionId: NonNullable<WebhookRow["parentSessionId"]> | null
}

const columns =
  'webhook_id AS "webhookId", url, events, session_id AS "sessionId", parent_session_id AS "parentSessionId", secret'

const toWebhook = ({ events, parentSessionId, secret, sessionId, url, webhookId }: Row): WebhookRow => ({
  webhookId,
  url,
  ...(events === null ? {} : { events: fromColumn<NonNullable<WebhookRow["events"]>>(events) }),
  ...(sessionId === null ? {} : { sessionId }),
  ...(parentSessionId === null ? {} : { parentSessionId }),
  secret
})

const find = (tx: Tx, webhookId: string) =>
  Effect.map(tx.query<Row>(`SELECT ${columns} FROM webhook WHERE webhook_id = ?`, [webhookId]), ([row]) =>
    row === undefined ? undefined : toWebhook(row)
  )

const all = (tx: Tx) =>
  Effect.map(tx.query<Row>(`SELECT ${columns} FROM webhook ORDER BY webhook_id`), (rows) => rows.map(toWebhook))

const put = (tx: Tx, webhook: WebhookRow) =>
  tx.query(
    "INSERT OR REPLACE INTO webhook (webhook_id, url, events, session_id, parent_session_id, secret) VALUES (?, ?, ?, ?, ?, ?)",
    [
      webhook.webhookId,
      webhook.url,
      webhook.events === undefined ? null : JSON.stringify(webhook.events),
      webhook.sessionId ?? null,
      webhook.parentSessionId ?? null,
      webhook.secret
    ]
  )

/** Answers the row that went, if there was one. */
const remove = (tx: Tx, webhookId: WebhookId) =>
  tx.query("DELETE FROM webhook WHERE webhook_id = ? RETURNING webhook_id", [webhookId])

const make = Effect.gen(function* () {
  const { read } = yield* Database
  return {
    find: (webhookId: string) =>
      read<Row>(`SELECT ${columns} FROM webhook WHERE webhook_id = ?`, [webhookId]).pipe(
        Effect.map(([row]) => (row === undefined ? undefined : toWebhook(row))),
        Effect.orDie
      ),
    /** By id, after one. */
    page: (after: string, limit: number) =>
      read<Row>(`SELECT ${columns} FROM webhook WHERE webhook_id > ? ORDER BY webhook_id LIMIT ?`, [after, limit]).pipe(
        Effect.map((rows) => rows.map(toWebhook)),
        Effect.orDie
      )
  }
})

/** The webhook table. Writing is for commands alone. */
export class WebhooksRepo extends Context.Tag("@harness/server/WebhooksRepo")<
  WebhooksRepo,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(WebhooksRepo, make)
  static readonly find = find
  static readonly all = all
  static readonly put = put
  static readonly remove = remove
}
