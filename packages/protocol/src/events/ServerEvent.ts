import { Schema } from "effect"
import { Cursor, ServerName, SessionId, Timestamp } from "../ids.ts"
import { Session } from "../schema/Session.ts"
import { envelope, previewEnvelope, serverStamp, turnEnvelope } from "./envelope.ts"
import { turnFacts, turnPreviews } from "./turnFacts.ts"

const fact = <const T extends string, const F extends Schema.Struct.Fields>(type: T, fields: F) =>
  Schema.Struct({ type: Schema.Literal(type), ...serverStamp, ...turnEnvelope, ...fields })

/** What a durable row changed in a turn; on this stream always a change, never the whole. */
export const ServerTurnSnapshotEvent = fact("session.turn.snapshot", turnFacts.snapshot).annotations({
  identifier: "ServerTurnSnapshotEvent"
})
/** The turn began its first step. */
export const ServerTurnStartedEvent = fact("session.turn.started", turnFacts.started).annotations({
  identifier: "ServerTurnStartedEvent"
})
/** The turn's usage so far. */
export const ServerTurnUsageEvent = fact("session.turn.usage", turnFacts.usage).annotations({
  identifier: "ServerTurnUsageEvent"
})
/** The model asked for a call; nobody has judged it yet. */
export const ServerTurnToolRequestedEvent = fact(
  "session.turn.tool.requested",
  turnFacts["tool.requested"]
).annotations({ identifier: "ServerTurnToolRequestedEvent" })
/** A call is settled, well or badly. */
export const ServerTurnToolCompletedEvent = fact(
  "session.turn.tool.completed",
  turnFacts["tool.completed"]
).annotations({ identifier: "ServerTurnToolCompletedEvent" })
/** A preview: it has no position of its own, and names the server's at the time. */
export const ServerTurnToolActivityEvent = Schema.Struct({
  type: Schema.Literal("session.turn.tool.activity"),
  ...serverStamp,
  ...previewEnvelope,
  ...turnPreviews["tool.activity"]
}).annotations({ identifier: "ServerTurnToolActivityEvent" })
/** A person is asked whether a call may run. */
export const ServerTurnApprovalRequestedEvent = fact(
  "session.turn.approval.requested",
  turnFacts["approval.requested"]
).annotations({ identifier: "ServerTurnApprovalRequestedEvent" })
/** A permission request is settled. */
export const ServerTurnApprovalResolvedEvent = fact(
  "session.turn.approval.resolved",
  turnFacts["approval.resolved"]
).annotations({ identifier: "ServerTurnApprovalResolvedEvent" })
/** The agent asks a person something. */
export const ServerTurnQuestionAskedEvent = fact(
  "session.turn.question.asked",
  turnFacts["question.asked"]
).annotations({ identifier: "ServerTurnQuestionAskedEvent" })
/** A question is answered. */
export const ServerTurnQuestionRepliedEvent = fact(
  "session.turn.question.replied",
  turnFacts["question.replied"]
).annotations({ identifier: "ServerTurnQuestionRepliedEvent" })
/** A question is closed without an answer. */
export const ServerTurnQuestionRejectedEvent = fact(
  "session.turn.question.rejected",
  turnFacts["question.rejected"]
).annotations({ identifier: "ServerTurnQuestionRejectedEvent" })

/**
 * The row itself, or (`replayed`) an announcement: a stream meets this session for the first time, and says so one
 * position before the event that follows. `cursor` is then the session's head.
 */
export const ServerSessionCreatedEvent = Schema.Struct({
  type: Schema.Literal("session.created"),
  ...serverStamp,
  ...envelope,
  session: Session,
  replayed: Schema.optional(Schema.Boolean)
}).annotations({ identifier: "ServerSessionCreatedEvent" })
/** A session got another title. */
export const ServerSessionTitleEvent = Schema.Struct({
  type: Schema.Literal("session.title"),
  ...serverStamp,
  ...envelope,
  title: Schema.String
}).annotations({ identifier: "ServerSessionTitleEvent" })
/** A session is gone; nothing of it follows. */
export const ServerSessionDeletedEvent = Schema.Struct({
  type: Schema.Literal("session.deleted"),
  ...serverStamp,
  ...envelope,
  sessionId: SessionId,
  deletedAt: Timestamp
}).annotations({ identifier: "ServerSessionDeletedEvent" })
/** No news: every durable event through `serverCursor` has been sent. */
export const ServerCursorEvent = Schema.Struct({
  type: Schema.Literal("server.cursor"),
  server: ServerName,
  serverCursor: Cursor
}).annotations({ identifier: "ServerCursorEvent" })

/** Everything a server's stream can say. */
export const ServerStreamEvent = Schema.Union(
  ServerSessionCreatedEvent,
  ServerTurnSnapshotEvent,
  ServerTurnStartedEvent,
  ServerTurnUsageEvent,
  ServerTurnToolRequestedEvent,
  ServerTurnToolActivityEvent,
  ServerTurnToolCompletedEvent,
  ServerTurnApprovalRequestedEvent,
  ServerTurnApprovalResolvedEvent,
  ServerTurnQuestionAskedEvent,
  ServerTurnQuestionRepliedEvent,
  ServerTurnQuestionRejectedEvent,
  ServerSessionTitleEvent,
  ServerSessionDeletedEvent,
  ServerCursorEvent
).annotations({ identifier: "ServerStreamEvent" })
export type ServerStreamEventValue = typeof ServerStreamEvent.Type
