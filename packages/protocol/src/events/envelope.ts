import { Schema } from "effect"
import { Cursor, SessionId, Timestamp, TurnId } from "../ids.ts"
import { Actor } from "../schema/Actor.ts"

/** What every durable event says of itself. */
export const envelope = {
  sessionId: SessionId,
  /** Position in the session's log. */
  cursor: Cursor.pipe(Schema.positive()),
  at: Timestamp,
  attempt: Schema.optional(Schema.Int),
  causedBy: Schema.optional(Schema.String),
  actor: Schema.optional(Actor),
  traceId: Schema.optional(Schema.String)
}

/** What a durable event of a turn says of itself. */
export const turnEnvelope = {
  ...envelope,
  turnId: TurnId,
  /** Position in the turn's log. */
  revision: Cursor.pipe(Schema.positive())
}

/** What a preview says of itself: it has no position, and a later durable row settles it. */
export const previewEnvelope = { sessionId: SessionId, turnId: TurnId, attempt: Schema.Int }

/** Added to every event on the server stream. */
export const serverStamp = { serverCursor: Cursor }
