import { Schema } from "effect"
import { EntryId, QuestionId, SessionId, Timestamp, TurnId } from "../ids.ts"
import { SafeFailure } from "./Failure.ts"
import { Json } from "./Json.ts"
import { Prompt, PromptPart } from "./Message.ts"
import { Answers, QuestionItem } from "./Question.ts"
import { toolCallFields } from "./Tool.ts"
import { Usage } from "./Usage.ts"

/** queued → running ⇄ waiting → completed | failed | cancelled */
export const SessionTurnState = Schema.Literal(
  "queued",
  "running",
  "waiting",
  "completed",
  "failed",
  "cancelled"
).annotations({ identifier: "SessionTurnState" })
export type SessionTurnState = typeof SessionTurnState.Type

/** Whether a turn has ended for good. */
export const isTerminal = (state: SessionTurnState): boolean =>
  state === "completed" || state === "failed" || state === "cancelled"

/** Why a settled turn ended. */
export const StopReason = Schema.Literal(
  "end",
  "length",
  "content_filter",
  "max_steps",
  "budget",
  "output_invalid",
  "cancelled",
  "interrupted",
  "error"
).annotations({ identifier: "StopReason" })
export type StopReason = typeof StopReason.Type

/** `agent` works, `plan` and `ask` only read. */
export const TurnMode = Schema.Literal("agent", "plan", "ask").annotations({ identifier: "TurnMode" })
export type TurnMode = typeof TurnMode.Type

const partId = Schema.String
const growing = { partId, text: Schema.String, done: Schema.Boolean }

/** Text of the answer; `done` when it grows no more. */
export const TextTurnPart = Schema.Struct({ type: Schema.Literal("text"), ...growing })
/** The model's thoughts. */
export const ReasoningTurnPart = Schema.Struct({ type: Schema.Literal("reasoning"), ...growing })
/** Why the model would not answer. */
export const RefusalTurnPart = Schema.Struct({ type: Schema.Literal("refusal"), ...growing })
/** A call and what became of it. */
export const ToolTurnPart = Schema.Struct({ type: Schema.Literal("tool"), partId, ...toolCallFields })
export type ToolTurnPart = typeof ToolTurnPart.Type
/** Something said to the turn while it ran. */
export const SteerTurnPart = Schema.Struct({
  type: Schema.Literal("steer"),
  partId,
  entryId: EntryId,
  content: Schema.Array(PromptPart),
  /** False while nobody has taken it, and for ever when the turn ended first. */
  applied: Schema.Boolean
})
/** Something the agent asked a person. */
export const QuestionTurnPart = Schema.Struct({
  type: Schema.Literal("question"),
  partId,
  questionId: QuestionId,
  questions: Schema.Array(QuestionItem),
  state: Schema.Literal("asked", "replied", "rejected"),
  answers: Schema.optional(Answers)
})
/** Something a person should know: a retry, a limit, a pruned history. */
export const NoticeTurnPart = Schema.Struct({
  type: Schema.Literal("notice"),
  partId,
  code: Schema.String,
  message: Schema.String
})

/** One piece of what a turn did, in order, under an id that stays. */
export const TurnPart = Schema.Union(
  TextTurnPart,
  ReasoningTurnPart,
  RefusalTurnPart,
  ToolTurnPart,
  SteerTurnPart,
  QuestionTurnPart,
  NoticeTurnPart
).annotations({ identifier: "TurnPart" })
export type TurnPart = typeof TurnPart.Type

/** Provider-neutral reason why one generation ended. */
export const FinishReason = Schema.Literal(
  "stop",
  "length",
  "tool_calls",
  "content_filter",
  "error",
  "other"
).annotations({ identifier: "FinishReason" })
export type FinishReason = typeof FinishReason.Type

/** One model generation of a turn, from 1. */
export const TurnStep = Schema.Struct({
  step: Schema.Int,
  provider: Schema.String,
  model: Schema.String,
  finishReason: FinishReason,
  nativeStopReason: Schema.optional(Schema.String),
  usage: Usage,
  warnings: Schema.optional(Schema.Array(Schema.String))
}).annotations({ identifier: "TurnStep" })
export type TurnStep = typeof TurnStep.Type

const turnFields = {
  turnId: TurnId,
  sessionId: SessionId,
  /** Rows of this turn's log that this snapshot holds. */
  revision: Schema.NonNegativeInt,
  state: SessionTurnState,
  stopReason: Schema.optional(StopReason),
  failure: Schema.optional(SafeFailure),
  model: Schema.String,
  agent: Schema.String,
  mode: TurnMode,
  /** From 1; a crash that found the turn running adds one. */
  attempt: Schema.Int.pipe(Schema.positive()),
  parts: Schema.Array(TurnPart),
  steps: Schema.Array(TurnStep),
  usage: Usage,
  /** The text of the last step, whole. */
  finalText: Schema.optional(Schema.String),
  result: Schema.optional(Json),
  resultError: Schema.optional(Schema.String),
  rejected: Schema.optional(Json),
  acceptedAt: Timestamp,
  startedAt: Schema.optional(Timestamp),
  settledAt: Schema.optional(Timestamp)
}

/** A turn, whole: everything up to `revision`. */
export const TurnSnapshot = Schema.Struct({ ...turnFields, prompt: Prompt }).annotations({ identifier: "TurnSnapshot" })
export type TurnSnapshot = typeof TurnSnapshot.Type
export type TurnSnapshotValue = TurnSnapshot

/** A turn as a durable row carries it: `parts` are those changed since the turn's previous row; no `prompt`: unchanged. */
export const TurnChange = Schema.Struct({ ...turnFields, prompt: Schema.optional(Prompt) }).annotations({
  identifier: "TurnChange"
})
export type TurnChange = typeof TurnChange.Type
