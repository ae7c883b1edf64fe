import {
  ConflictError,
  NotFoundError,
  type PutWebhookRequestValue,
  type RedeliverWebhookResponseValue,
  type SessionId,
  type TurnId,
  type TurnSnapshot,
  type WebhookDeletedResponseValue,
  type WebhookId,
  type WebhookResponseValue,
  type WebhooksResponseValue
} from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import { CommitRoom } from "../log/Commit.ts"
import { fromColumn } from "../storage/columns.ts"
import { Database } from "../storage/Sqlite.ts"
import { refuseAddress } from "./HookAdmin.ts"
import { OutboxRepo } from "./OutboxRepo.ts"
import { enqueue, ring, type TurnEvent, told, wants } from "./outbox.ts"
import { mintSecret } from "./signing.ts"
import { type WebhookRow, WebhooksRepo } from "./WebhooksRepo.ts"

/** Rows of the log put into an outbox with one commit. */
const PAGE_ROWS = 200

const toWebhook = (webhookId: WebhookId, request: PutWebhookRequestValue, secret: string): WebhookRow => {
  const { secret: _, ...rest } = request
  return { webhookId, ...rest, secret }
}

const shown = ({ secret: _, ...webhook }: WebhookRow): WebhookResponseValue => webhook

const notFound = (webhookId: string) =>
  new NotFoundError({ code: "webhook.not_found", message: `there is no webhook ${webhookId}` })

const ahead = (head: number) =>
  new ConflictError({
    code: "cursor.ahead",
    message: `the cursor lies ahead of the log, which is at ${head}`,
    details: { head }
  })

/** A row of the log that webhooks are told of. */
interface ToldRow {
  readonly serverCursor: number
  readonly cursor: number
  readonly sessionId: SessionId
  readonly turnId: TurnId
  readonly type: "turn.started" | "turn.terminal"
  readonly body: string
  readonly parentSessionId: SessionId | null
}

// Rows of deleted sessions have nothing left to tell.
const logSql =
  'SELECT e.server_cursor AS "serverCursor", e.session_cursor AS cursor, e.session_id AS "sessionId", e.turn_id AS "turnId", ' +
  'e.type, e.body, s.parent_id AS "parentSessionId" FROM event e JOIN session s ON s.session_id = e.session_id ' +
  "WHERE e.server_cursor > ? AND e.server_cursor <= ? AND e.type IN ('turn.started', 'turn.terminal') AND e.body <> '' " +
  `ORDER BY e.server_cursor LIMIT ${PAGE_ROWS}`

const toEvent = ({ body, parentSessionId, type, ...place }: ToldRow): TurnEvent => {
  const base = { ...place, ...(parentSessionId === null ? {} : { parentSessionId }) }
  if (type === "turn.started") return { type, ...base, state: "running" }
  const { turn } = fromColumn<{ readonly turn: TurnSnapshot }>(`{${body}`)
  return { type: "turn.completed", ...base, state: turn.state, ...told(turn) }
}

const make = Effect.gen(function* () {
  const room = yield* CommitRoom
  const { read } = yield* Database
  const repo = yield* WebhooksRepo

  const list = Effect.fn("Webhooks.list")(function* (after: string, limit: number) {
    const rows = yield* repo.page(after, limit + 1)
    const webhooks = rows.slice(0, limit)
    const answer: WebhooksResponseValue = {
      webhooks: webhooks.map(shown),
      next: rows.length > limit ? (webhooks.at(-1)?.webhookId ?? null) : null
    }
    return answer
  })

  const put = Effect.fn("Webhooks.put")(function* (webhookId: WebhookId, request: PutWebhookRequestValue) {
    yield* refuseAddress(request)
    const minted = mintSecret()
    return yield* room.commit<WebhookResponseValue, never>((tx) =>
      Effect.gen(function* () {
        const before = yield* WebhooksRepo.find(tx, webhookId)
        const webhook = toWebhook(webhookId, request, request.secret ?? before?.secret ?? minted)
        yield* WebhooksRepo.put(tx, webhook)
        // Perhaps it was the address that was wrong.
        yield* OutboxRepo.wake(tx, webhookId)
        ring(tx)
        return webhook.secret === minted ? webhook : shown(webhook)
      })
    )
  })

  const remove = Effect.fn("Webhooks.remove")((webhookId: WebhookId) =>
    room.commit<WebhookDeletedResponseValue, never>((tx) =>
      Effect.gen(function* () {
        const removed = yield* WebhooksRepo.remove(tx, webhookId)
        yield* OutboxRepo.clear(tx, webhookId)
        return { webhookId, removed: removed.length > 0 }
      })
    )
  )

  const head = Effect.map(
    Effect.orDie(read<{ head: number | null }>("SELECT max(server_cursor) AS head FROM event")),
    ([row]) => row?.head ?? 0
  )

  /** One page of what happened, into the outbox. Answers how much of it was not there yet. */
  const again = (webhookId: WebhookId, rows: ReadonlyArray<ToldRow>) =>
    room.commit<number, NotFoundError>((tx) =>
      Effect.gen(function* () {
        const webhook = yield* WebhooksRepo.find(tx, webhookId)
        if (webhook === undefined) return yield* notFound(webhookId)
        let added = 0
        for (const row of rows) {
          const event = toEvent(row)
          if (wants(webhook, event) && (yield* enqueue(tx, webhookId, event, true))) added++
        }
        ring(tx)
        return added
      })
    )

  const redeliver = Effect.fn("Webhooks.redeliver")(function* (webhookId: WebhookId, afterServerCursor: number) {
    if ((yield* repo.find(webhookId)) === undefined) return yield* notFound(webhookId)
    // What happens from now on is told anyway.
    const upTo = yield* head
    if (afterServerCursor > upTo) return yield* ahead(upTo)
    let after = afterServerCursor
    let deliveries = 0
    for (;;) {
      const rows = yield* Effect.orDie(read<ToldRow>(logSql, [after, upTo]))
      const last = rows.at(-1)
      if (last === undefined) break
      deliveries += yield* again(webhookId, rows)
      after = last.serverCursor
    }
    const answer: RedeliverWebhookResponseValue = { webhookId, deliveries }
    return answer
  })

  return { list, put, remove, redeliver }
})

/** Sets who is told of turns. A secret that was minted is told once, by the PUT that minted it; a chosen one never. */
export class Webhooks extends Context.Tag("@harness/server/Webhooks")<Webhooks, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(Webhooks, make)
}
