import { Schema } from "effect"
import { Cursor, SessionId, Timestamp, TurnId } from "../ids.ts"
import { compactionFields } from "../schema/Compaction.ts"
import { HistoryEntry } from "../schema/Message.ts"
import { Session, SessionConfiguration } from "../schema/Session.ts"
import { TurnSnapshot } from "../schema/Turn.ts"
import { envelope, previewEnvelope, turnEnvelope } from "./envelope.ts"
import { turnFacts, turnPreviews } from "./turnFacts.ts"

const fact = <const T extends string, const F extends Schema.Struct.Fields>(type: T, fields: F) =>
  Schema.Struct({ type: Schema.Literal(type), ...turnEnvelope, ...fields })
const preview = <const T extends string, const F extends Schema.Struct.Fields>(type: T, fields: F) =>
  Schema.Struct({ type: Schema.Literal(type), ...previewEnvelope, ...fields })
const own = <const T extends string, const F extends Schema.Struct.Fields>(type: T, fields: F) =>
  Schema.Struct({ type: Schema.Literal(type), ...envelope, ...fields })

/** Opening snapshots are whole and have no `id`; durable ones carry what changed. */
export const SessionTurnSnapshotEvent = Schema.Union(
  fact("session.turn.snapshot", turnFacts.snapshot),
  Schema.Struct({
    type: Schema.Literal("session.turn.snapshot"),
    sessionId: SessionId,
    cursor: Cursor,
    turnId: TurnId,
    revision: Cursor,
    turn: TurnSnapshot
  })
).annotations({ identifier: "SessionTurnSnapshotEvent" })
/** The turn began its first step. */
export const SessionTurnStartedEvent = fact("session.turn.started", turnFacts.started).annotations({
  identifier: "SessionTurnStartedEvent"
})
/** The turn's usage so far. */
export const SessionTurnUsageEvent = fact("session.turn.usage", turnFacts.usage).annotations({
  identifier: "SessionTurnUsageEvent"
})
/** The model asked for a call; nobody has judged it yet. */
export const SessionTurnToolRequestedEvent = fact(
  "session.turn.tool.requested",
  turnFacts["tool.requested"]
).annotations({ identifier: "SessionTurnToolRequestedEvent" })
/** A call is settled, well or badly. */
export const SessionTurnToolCompletedEvent = fact(
  "session.turn.tool.completed",
  turnFacts["tool.completed"]
).annotations({ identifier: "SessionTurnToolCompletedEvent" })
/** A person is asked whether a call may run. */
export const SessionTurnApprovalRequestedEvent = fact(
  "session.turn.approval.requested",
  turnFacts["approval.requested"]
).annotations({ identifier: "SessionTurnApprovalRequestedEvent" })
/** A permission request is settled. */
export const SessionTurnApprovalResolvedEvent = fact(
  "session.turn.approval.resolved",
  turnFacts["approval.resolved"]
).annotations({ identifier: "SessionTurnApprovalResolvedEvent" })
/** The agent asks a person something. */
export const SessionTurnQuestionAskedEvent = fact(
  "session.turn.question.asked",
  turnFacts["question.asked"]
).annotations({ identifier: "SessionTurnQuestionAskedEvent" })
/** A question is answered. */
export const SessionTurnQuestionRepliedEvent = fact(
  "session.turn.question.replied",
  turnFacts["question.replied"]
).annotations({ identifier: "SessionTurnQuestionRepliedEvent" })
/** A question is closed without an answer. */
export const SessionTurnQuestionRejectedEvent = fact(
  "session.turn.question.rejected",
  turnFacts["question.rejected"]
).annotations({ identifier: "SessionTurnQuestionRejectedEvent" })
/** A preview of growing text. */
export const SessionTurnTextDeltaEvent = preview("session.turn.text.delta", turnPreviews.delta).annotations({
  identifier: "SessionTurnTextDeltaEvent"
})
/** A preview of growing reasoning. */
export const SessionTurnReasoningDeltaEvent = preview("session.turn.reasoning.delta", turnPreviews.delta).annotations({
  identifier: "SessionTurnReasoningDeltaEvent"
})
/** A preview of a growing refusal. */
export const SessionTurnRefusalDeltaEvent = preview("session.turn.refusal.delta", turnPreviews.delta).annotations({
  identifier: "SessionTurnRefusalDeltaEvent"
})
/** A preview of a running call's output or progress. */
export const SessionTurnToolActivityEvent = preview(
  "session.turn.tool.activity",
  turnPreviews["tool.activity"]
).annotations({ identifier: "SessionTurnToolActivityEvent" })

/** The first row of every session's log. */
export const SessionCreatedEvent = own("session.created", { session: Session }).annotations({
  identifier: "SessionCreatedEvent"
})
/** The session got another title. */
export const SessionTitleEvent = own("session.title", { title: Schema.String }).annotations({
  identifier: "SessionTitleEvent"
})
/** The session got another configuration, for its next turn. */
export const SessionConfigurationEvent = own("session.configuration", {
  configuration: SessionConfiguration
}).annotations({ identifier: "SessionConfigurationEvent" })
/** An entry appended by hand, or one whose content changed (`interrupted`: it was not heard whole; `estimated`: nobody told how much was). */
export const SessionEntryEvent = own("session.entry", { entry: HistoryEntry }).annotations({
  identifier: "SessionEntryEvent"
})
/** A compaction changed its state. */
export const SessionCompactionEvent = own("session.compaction", {
  compaction: Schema.Struct(compactionFields)
}).annotations({ identifier: "SessionCompactionEvent" })
/** The last event of a session's stream. */
export const SessionDeletedEvent = own("session.deleted", { deletedAt: Timestamp }).annotations({
  identifier: "SessionDeletedEvent"
})
/** No news: every durable event through `cursor` has been sent. */
export const SessionCursorEvent = Schema.Struct({
  type: Schema.Literal("session.cursor"),
  sessionId: SessionId,
  cursor: Cursor
}).annotations({ identifier: "SessionCursorEvent" })

/** Everything a session's stream can say. */
export const SessionStreamEvent = Schema.Union(
  SessionCreatedEvent,
  SessionTurnSnapshotEvent,
  SessionTurnStartedEvent,
  SessionTurnUsageEvent,
  SessionTurnTextDeltaEvent,
  SessionTurnReasoningDeltaEvent,
  SessionTurnRefusalDeltaEvent,
  SessionTurnToolRequestedEvent,
  SessionTurnToolActivityEvent,
  SessionTurnToolCompletedEvent,
  SessionTurnApprovalRequestedEvent,
  SessionTurnApprovalResolvedEvent,
  SessionTurnQuestionAskedEvent,
  SessionTurnQuestionRepliedEvent,
  SessionTurnQuestionRejectedEvent,
  SessionTitleEvent,
  SessionConfigurationEvent,
  SessionEntryEvent,
  SessionCompactionEvent,
  SessionDeletedEvent,
  SessionCursorEvent
).annotations({ identifier: "SessionStreamEvent" })
export type SessionStreamEventValue = typeof SessionStreamEvent.Type
