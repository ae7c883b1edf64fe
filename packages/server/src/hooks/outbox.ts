import { createHash } from "node:crypto"
import type { SqlError } from "@effect/sql/SqlError"
import type { SessionId, TurnId, TurnSnapshot, WebhookEvent } from "@harness/protocol"
import { Effect } from "effect"
import type { Tx } from "../log/Commit.ts"
import { fromColumn } from "../storage/columns.ts"
import type { Query } from "../storage/Sqlite.ts"
import { OutboxRepo } from "./OutboxRepo.ts"
import { type WebhookRow, WebhooksRepo } from "./WebhooksRepo.ts"

/** What a webhook may be told of. */
export type TurnEventType = typeof WebhookEvent.Type

/** The rows of the log that are told. */
export const TOLD = { "turn.started": "turn.started", "turn.completed": "turn.terminal" } as const

/** A webhook's message. `cursor` is the event's position in its session's log, `serverCursor` that in the server's. */
export interface TurnEvent extends Partial<Pick<TurnSnapshot, "stopReason" | "result" | "usage">> {
  readonly type: TurnEventType
  readonly sessionId: SessionId
  readonly turnId: TurnId
  readonly parentSessionId?: SessionId | undefined
  readonly state: string
  readonly cursor: number
  readonly serverCursor: number
}

/** One event is one message, however often and to however many it is told. */
const messageIdOf = ({ sessionId, turnId, type }: TurnEvent): string =>
  `msg_${createHash("sha256").update(`${sessionId}\n${turnId}\n${type}`).digest("base64url")}`

/** Whether a webhook wants to hear of it. */
export const wants = (webhook: WebhookRow, event: Pick<TurnEvent, "type" | "sessionId" | "parentSessionId">): boolean =>
  (webhook.events === undefined || webhook.events.includes(event.type)) &&
  (webhook.sessionId === undefined || webhook.sessionId === event.sessionId) &&
  (webhook.parentSessionId === undefined || webhook.parentSessionId === event.parentSessionId)

/** Told again it is the same message, to the byte. */
const bodyOf = (event: TurnEvent): string => {
  const { cursor, parentSessionId, serverCursor, sessionId, state, turnId, type } = event
  return JSON.stringify({ type, sessionId, turnId, parentSessionId, state, ...told(event), cursor, serverCursor })
}

/** Puts an event into a webhook's outbox. Answers whether it was not there yet. `soon`: whatever rests is tried at once. */
export const enqueue = (tx: Tx, webhookId: string, event: TurnEvent, soon: boolean) => {
  const { sessionId, serverCursor } = event
  const row = { webhookId, sessionId, serverCursor, messageId: messageIdOf(event), body: bodyOf(event) }
  return OutboxRepo.put(tx, row, soon)
}

// A command has no services: whoever delivers is found by the connection the command writes on.
const doorbells = new WeakMap<Query, () => void>()

/** From now on this is rung when a commit on that connection has put something into the outbox. */
export const listen = (query: Query, ring: () => void): void => void doorbells.set(query, ring)
/** Rings once the commit stands. */
export const ring = (tx: Tx): void => tx.after(() => doorbells.get(tx.query)?.())

/** A turn as its row has it. */
interface TurnFacts {
  readonly sessionId: SessionId
  readonly turnId: TurnId
  readonly state: string
  /** JSON of what it has come to. */
  readonly outcome: string
}

interface Place {
  readonly serverCursor: number
  readonly cursor: number
  readonly parentSessionId: SessionId | null
}

const placeSql =
  'SELECT e.server_cursor AS "serverCursor", e.session_cursor AS cursor, s.parent_id AS "parentSessionId" ' +
  "FROM event e JOIN session s ON s.session_id = e.session_id " +
  "WHERE e.session_id = ? AND e.turn_id = ? AND e.type = ? ORDER BY e.turn_revision DESC LIMIT 1"

/**
 * For the command that starts or ends a turn, after it has written the row of the log that says so: whoever wants to hear of
 * it has it in their outbox with the same commit.
 */
export const enqueueTurnEvent = (tx: Tx, turn: TurnFacts, type: TurnEventType): Effect.Effect<void, SqlError> =>
  Effect.gen(function* () {
    const webhooks = yield* WebhooksRepo.all(tx)
    if (webhooks.length === 0) return
    const { sessionId, state, turnId } = turn
    const [place] = yield* tx.query<Place>(placeSql, [sessionId, turnId, TOLD[type]])
    if (place === undefined) return
    const { parentSessionId, ...positions } = place
    const outcome = fromColumn<Partial<TurnSnapshot>>(turn.outcome)
    const event: TurnEvent = {
      type,
      sessionId,
      turnId,
      ...(parentSessionId === null ? {} : { parentSessionId }),
      state,
      ...(type === "turn.started" ? {} : told(outcome)),
      ...positions
    }
    const wanting = webhooks.filter((webhook) => wants(webhook, event))
    for (const { webhookId } of wanting) yield* enqueue(tx, webhookId, event, false)
    if (wanting.length > 0) ring(tx)
  })

/** What a completed turn came to, as far as it came to anything. */
export const told = ({
  result,
  stopReason,
  usage
}: Partial<Pick<TurnSnapshot, "stopReason" | "result" | "usage">>) => ({
  ...(stopReason === undefined ? {} : { stopReason }),
  ...(result === undefined ? {} : { result }),
  ...(usage === undefined ? {} : { usage })
})
