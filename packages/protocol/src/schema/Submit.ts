import { Schema } from "effect"
import { Cursor, EntryId, SessionId, TurnId } from "../ids.ts"
import { strict } from "../strict.ts"
import { Json, JsonObject } from "./Json.ts"
import { Content, CustomMessage, HistoryEntry } from "./Message.ts"
import { PolicyLayer } from "./Permission.ts"
import { createSessionFields, ModelName, SystemPrompt } from "./Session.ts"
import { TurnMode, TurnSnapshot } from "./Turn.ts"

/** How much a model may think before it answers. */
export const ThinkingLevel = Schema.Literal("minimal", "low", "medium", "high", "xhigh").annotations({
  identifier: "ThinkingLevel"
})
export type ThinkingLevel = typeof ThinkingLevel.Type

/** What a turn must deliver: text, or JSON (checked against `schema` when one is given). */
export const OutputContract = Schema.Union(
  Schema.Struct({ type: Schema.Literal("text") }),
  Schema.Struct({ type: Schema.Literal("json"), schema: Schema.optional(Json) })
).annotations({ identifier: "OutputContract" })
export type OutputContract = typeof OutputContract.Type

/** What a turn may cost. */
export const Budget = Schema.Struct({
  maxCostUsd: Schema.optional(Schema.Positive.pipe(Schema.finite())),
  maxTokens: Schema.optional(Schema.Int.pipe(Schema.positive())),
  maxMillis: Schema.optional(Schema.Int.pipe(Schema.positive()))
}).annotations({ identifier: "Budget" })
export type Budget = typeof Budget.Type

/** How one turn differs from its session's configuration. */
export const TurnOptions = Schema.Struct({
  maxSteps: Schema.optional(Schema.Int.pipe(Schema.between(1, 1000))),
  tools: Schema.optional(PolicyLayer),
  mode: Schema.optional(TurnMode),
  thinking: Schema.optional(ThinkingLevel),
  systemPrompt: Schema.optional(SystemPrompt),
  output: Schema.optional(OutputContract),
  budget: Schema.optional(Budget),
  metadata: Schema.optional(JsonObject)
}).annotations({ identifier: "TurnOptions" })
export type TurnOptions = typeof TurnOptions.Type

/** What to do when the session already works on a turn. */
export const WhenBusy = Schema.Literal("queue", "steer", "interrupt", "reject").annotations({ identifier: "WhenBusy" })
export type WhenBusy = typeof WhenBusy.Type

/** How a prompt is to be run, whatever it says. */
export const submitFields = {
  model: Schema.optional(ModelName),
  agent: Schema.optional(Schema.NonEmptyString),
  whenBusy: Schema.optional(WhenBusy),
  options: Schema.optional(TurnOptions)
}

/** A prompt for one turn. */
export const SubmitPromptRequest = Schema.Struct({
  content: Content,
  role: Schema.optional(Schema.Literal("user", "custom")),
  custom: Schema.optional(CustomMessage),
  /** Creates the session in the same commit if it is missing. */
  session: Schema.optional(Schema.Struct(createSessionFields)),
  ...submitFields
}).annotations({ identifier: "SubmitPromptRequest", ...strict })
export type SubmitPromptRequestValue = typeof SubmitPromptRequest.Type

const receipt = {
  disposition: Schema.Literal("started", "queued", "steered", "deduplicated"),
  activeTurnId: Schema.optional(TurnId),
  /** Place in the queue, from 1. */
  position: Schema.optional(Schema.Int.pipe(Schema.positive())),
  cursor: Cursor
}

/** How a prompt was taken in. */
export const PublicPromptAdmission = Schema.Struct(receipt).annotations({ identifier: "PublicPromptAdmission" })
export type PublicPromptAdmission = typeof PublicPromptAdmission.Type

/** A prompt was taken in: committed, whatever happens next. */
export const SubmitPromptReceipt = Schema.Struct({
  turnId: TurnId,
  sessionId: SessionId,
  ...receipt,
  /** Options that cannot apply, by name. */
  ignored: Schema.optional(Schema.Array(Schema.String))
}).annotations({ identifier: "SubmitPromptReceipt" })
export type SubmitPromptReceipt = typeof SubmitPromptReceipt.Type
/** A receipt, flat. */
export const SubmitPromptReceiptResponse = SubmitPromptReceipt
export type SubmitPromptReceiptResponseValue = SubmitPromptReceipt

/** The live turn, when `waitMillis` passed before its end. */
export const TurnWaitTimedOutResponse = Schema.Struct({
  ...TurnSnapshot.fields,
  timedOut: Schema.Literal(true)
}).annotations({ identifier: "TurnWaitTimedOutResponse" })
export type TurnWaitTimedOutResponseValue = typeof TurnWaitTimedOutResponse.Type

/** A turn, flat and whole. */
export const TurnResponse = TurnSnapshot
export type TurnResponseValue = TurnSnapshot

/** Turns, oldest first. */
export const SessionTurnsResponse = Schema.Struct({
  turns: Schema.Array(TurnSnapshot),
  next: Schema.NullOr(Schema.String)
}).annotations({ identifier: "SessionTurnsResponse" })
export type SessionTurnsResponseValue = typeof SessionTurnsResponse.Type

/** Says why. */
export const CancelTurnRequest = Schema.Struct({ reason: Schema.optional(Schema.String) }).annotations({
  identifier: "CancelTurnRequest",
  ...strict
})
export type CancelTurnRequestValue = typeof CancelTurnRequest.Type

/** `stopping`: true while the turn has not ended; no `turnId`: nothing was running. */
export const CancelTurnResponse = Schema.Struct({
  stopping: Schema.Boolean,
  turnId: Schema.optional(TurnId)
}).annotations({ identifier: "CancelTurnResponse" })
export type CancelTurnResponseValue = typeof CancelTurnResponse.Type

/** What is said to a turn that runs. */
export const SteerTurnRequest = Schema.Struct({ content: Content }).annotations({
  identifier: "SteerTurnRequest",
  ...strict
})
export type SteerTurnRequestValue = typeof SteerTurnRequest.Type

/** A steer was taken in; its part tells whether the turn took it. */
export const SteerTurnReceipt = Schema.Struct({
  sessionId: SessionId,
  turnId: TurnId,
  entryId: EntryId,
  cursor: Cursor,
  disposition: Schema.Literal("accepted", "deduplicated")
}).annotations({ identifier: "SteerTurnReceipt" })
export type SteerTurnReceipt = typeof SteerTurnReceipt.Type

/** A queued turn and its place, from 1; `cursor` is the session's position when it was accepted. */
export const QueuedTurn = Schema.Struct({
  ...TurnSnapshot.fields,
  position: Schema.Int.pipe(Schema.positive()),
  cursor: Cursor
}).annotations({ identifier: "QueuedTurn" })
export type QueuedTurn = typeof QueuedTurn.Type

/** Turns that wait, in the order they will run. */
export const SessionQueueResponse = Schema.Struct({
  queue: Schema.Array(QueuedTurn),
  next: Schema.NullOr(Schema.String)
}).annotations({ identifier: "SessionQueueResponse" })
export type SessionQueueResponseValue = typeof SessionQueueResponse.Type

/** What a queued turn is to say instead. */
export const EditQueuedTurnRequest = Schema.Struct({ content: Content }).annotations({
  identifier: "EditQueuedTurnRequest",
  ...strict
})
export type EditQueuedTurnRequestValue = typeof EditQueuedTurnRequest.Type

/** An entry nobody has to answer. */
export const AppendConversationRequest = Schema.Struct({
  role: Schema.Literal("user", "assistant", "custom"),
  content: Content,
  /** Actors who may see it; everybody when left out. */
  audience: Schema.optional(Schema.Array(Schema.NonEmptyString)),
  custom: Schema.optional(CustomMessage)
}).annotations({ identifier: "AppendConversationRequest", ...strict })
export type AppendConversationRequestValue = typeof AppendConversationRequest.Type

/** An entry was taken in. */
export const AppendConversationReceiptResponse = Schema.Struct({
  sessionId: SessionId,
  entryId: EntryId,
  cursor: Cursor,
  disposition: Schema.Literal("accepted", "deduplicated")
}).annotations({ identifier: "AppendConversationReceiptResponse" })
export type AppendConversationReceiptResponseValue = typeof AppendConversationReceiptResponse.Type

/** Entries, in the order the model is sent them. */
export const SessionHistoryResponse = Schema.Struct({
  entries: Schema.Array(HistoryEntry),
  next: Schema.NullOr(Schema.String)
}).annotations({ identifier: "SessionHistoryResponse" })
export type SessionHistoryResponseValue = typeof SessionHistoryResponse.Type
