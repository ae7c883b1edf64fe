import { Schema } from "effect"
import { Cursor, SessionId, TurnId } from "../ids.ts"
import { TurnChange, TurnSnapshot } from "../schema/Turn.ts"
import { previewEnvelope, turnEnvelope } from "./envelope.ts"
import { turnFacts, turnPreviews } from "./turnFacts.ts"

const fact = <const T extends string, const F extends Schema.Struct.Fields>(type: T, fields: F) =>
  Schema.Struct({ type: Schema.Literal(type), ...turnEnvelope, ...fields })
const preview = <const T extends string, const F extends Schema.Struct.Fields>(type: T, fields: F) =>
  Schema.Struct({ type: Schema.Literal(type), ...previewEnvelope, ...fields })

/** Opening snapshots are whole and have no `id`; durable ones carry what changed. */
export const TurnSnapshotEvent = Schema.Union(
  fact("turn.snapshot", turnFacts.snapshot),
  Schema.Struct({
    type: Schema.Literal("turn.snapshot"),
    sessionId: SessionId,
    turnId: TurnId,
    revision: Cursor,
    turn: TurnSnapshot
  })
).annotations({ identifier: "TurnSnapshotEvent" })
export type TurnSnapshotEventValue = typeof TurnSnapshotEvent.Type

/**
 * The last event of a turn's stream: the turn, whole; of one too long for an event, without its prompt and oldest parts.
 * Without `id` when it lies behind the reader's cursor.
 */
export const TurnTerminalEvent = fact("turn.terminal", { turn: TurnChange }).annotations({
  identifier: "TurnTerminalEvent"
})
/** The turn began its first step. */
export const TurnStartedEvent = fact("turn.started", turnFacts.started).annotations({ identifier: "TurnStartedEvent" })
/** The turn's usage so far. */
export const TurnUsageEvent = fact("turn.usage", turnFacts.usage).annotations({ identifier: "TurnUsageEvent" })
/** The model asked for a call; nobody has judged it yet. */
export const TurnToolRequestedEvent = fact("turn.tool.requested", turnFacts["tool.requested"]).annotations({
  identifier: "TurnToolRequestedEvent"
})
/** A call is settled, well or badly. */
export const TurnToolCompletedEvent = fact("turn.tool.completed", turnFacts["tool.completed"]).annotations({
  identifier: "TurnToolCompletedEvent"
})
/** A person is asked whether a call may run. */
export const TurnApprovalRequestedEvent = fact("turn.approval.requested", turnFacts["approval.requested"]).annotations({
  identifier: "TurnApprovalRequestedEvent"
})
/** A permission request is settled. */
export const TurnApprovalResolvedEvent = fact("turn.approval.resolved", turnFacts["approval.resolved"]).annotations({
  identifier: "TurnApprovalResolvedEvent"
})
/** The agent asks a person something. */
export const TurnQuestionAskedEvent = fact("turn.question.asked", turnFacts["question.asked"]).annotations({
  identifier: "TurnQuestionAskedEvent"
})
/** A question is answered. */
export const TurnQuestionRepliedEvent = fact("turn.question.replied", turnFacts["question.replied"]).annotations({
  identifier: "TurnQuestionRepliedEvent"
})
/** A question is closed without an answer. */
export const TurnQuestionRejectedEvent = fact("turn.question.rejected", turnFacts["question.rejected"]).annotations({
  identifier: "TurnQuestionRejectedEvent"
})
/** A preview of growing text. */
export const TurnTextDeltaEvent = preview("turn.text.delta", turnPreviews.delta).annotations({
  identifier: "TurnTextDeltaEvent"
})
/** A preview of growing reasoning. */
export const TurnReasoningDeltaEvent = preview("turn.reasoning.delta", turnPreviews.delta).annotations({
  identifier: "TurnReasoningDeltaEvent"
})
/** A preview of a growing refusal. */
export const TurnRefusalDeltaEvent = preview("turn.refusal.delta", turnPreviews.delta).annotations({
  identifier: "TurnRefusalDeltaEvent"
})
/** A preview of a running call's output or progress. */
export const TurnToolActivityEvent = preview("turn.tool.activity", turnPreviews["tool.activity"]).annotations({
  identifier: "TurnToolActivityEvent"
})

/** No news: every durable event through `revision` has been sent. */
export const TurnHeartbeatEvent = Schema.Struct({
  type: Schema.Literal("turn.heartbeat"),
  sessionId: SessionId,
  turnId: TurnId,
  revision: Cursor
}).annotations({ identifier: "TurnHeartbeatEvent" })
export type TurnHeartbeatEventValue = typeof TurnHeartbeatEvent.Type

/** Everything a turn's stream can say. */
export const TurnStreamEvent = Schema.Union(
  TurnSnapshotEvent,
  TurnTerminalEvent,
  TurnStartedEvent,
  TurnUsageEvent,
  TurnToolRequestedEvent,
  TurnToolCompletedEvent,
  TurnApprovalRequestedEvent,
  TurnApprovalResolvedEvent,
  TurnQuestionAskedEvent,
  TurnQuestionRepliedEvent,
  TurnQuestionRejectedEvent,
  TurnTextDeltaEvent,
  TurnReasoningDeltaEvent,
  TurnRefusalDeltaEvent,
  TurnToolActivityEvent,
  TurnHeartbeatEvent
).annotations({ identifier: "TurnStreamEvent" })
export type TurnStreamEventValue = typeof TurnStreamEvent.Type
