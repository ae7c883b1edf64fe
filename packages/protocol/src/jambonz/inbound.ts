import { Schema } from "effect"
import { Json, JsonObject } from "../schema/Json.ts"
import { CallSid, TurnNumber } from "./callSid.ts"
import { type KnownEvent, type OtherEvent, ofCall, WireId } from "./events.ts"
import { ErrorText, lenient, lenientOr } from "./lenient.ts"
import { CallTools } from "./tools.ts"

/** A call begins, or goes on over a new socket (`resumed`). */
export const SessionStart = Schema.Struct({
  type: Schema.Literal("session:start"),
  call_sid: CallSid,
  protocol: lenient(Schema.Number),
  account_sid: lenient(Schema.String),
  application_sid: lenient(Schema.String),
  direction: lenient(Schema.String),
  from: lenient(Schema.String),
  to: lenient(Schema.String),
  language: lenient(Schema.String),
  sip_headers: lenient(JsonObject),
  metadata: lenient(JsonObject),
  tools: Schema.optionalWith(CallTools, { default: () => [] }),
  resumed: lenientOr(Schema.Boolean, false),
  last_turn_id: lenient(TurnNumber)
})
export type SessionStart = typeof SessionStart.Type

/** The caller began to speak, into what will be turn `turn_id`. */
export const SpeechStart = Schema.Struct({ type: Schema.Literal("speech:start"), ...ofCall, turn_id: TurnNumber })
export type SpeechStart = typeof SpeechStart.Type

/** The whole utterance so far; `final` says this text will not be revised, not that the caller is done. */
export const Transcript = Schema.Struct({
  type: Schema.Literal("transcript"),
  ...ofCall,
  turn_id: TurnNumber,
  text: lenientOr(Schema.String, ""),
  final: lenientOr(Schema.Boolean, false),
  confidence: lenient(Schema.Number),
  language: lenient(Schema.String)
})
export type Transcript = typeof Transcript.Type

const speech = Schema.Struct({
  type: Schema.Literal("speech"),
  text: lenientOr(Schema.String, ""),
  confidence: lenient(Schema.Number),
  language: lenient(Schema.String)
})
const greeting = Schema.Struct({ type: Schema.Literal("greeting") })
const noInput = Schema.Struct({ type: Schema.Literal("no_input") })

/** What a turn answers: the caller's words, the call's beginning, or an interruption with no words after it. */
export const TurnInput = Schema.Union(speech, greeting, noInput)
export type TurnInput = typeof TurnInput.Type

/** The caller's turn is over: answer it. An input of no known kind is read as `no_input`, for no turn may go unanswered. */
export const TurnStart = Schema.Struct({
  type: Schema.Literal("turn:start"),
  ...ofCall,
  turn_id: TurnNumber,
  input: lenientOr(TurnInput, { type: "no_input" })
})
export type TurnStart = typeof TurnStart.Type

/** Nothing more of that turn is wanted: `barge_in`, `call_ended`, or a reason of a later jambonz. */
export const TurnCancel = Schema.Struct({
  type: Schema.Literal("turn:cancel"),
  ...ofCall,
  turn_id: TurnNumber,
  reason: lenient(Schema.String)
})
export type TurnCancel = typeof TurnCancel.Type

/** The answer to one `command`. What is not said to be done is not done. */
export const CommandResult = Schema.Struct({
  type: Schema.Literal("command:result"),
  ...ofCall,
  command_id: WireId,
  ok: lenientOr(Schema.Boolean, false),
  error: Schema.optional(ErrorText)
})
export type CommandResult = typeof CommandResult.Type

/** The answer to one `tool:call`: a result, or an error. */
export const ToolResult = Schema.Struct({
  type: Schema.Literal("tool:result"),
  ...ofCall,
  call_id: WireId,
  result: Schema.optional(Json),
  error: Schema.optional(ErrorText)
})
export type ToolResult = typeof ToolResult.Type

/** The call is over; the socket closes after it. */
export const SessionEnd = Schema.Struct({
  type: Schema.Literal("session:end"),
  ...ofCall,
  reason: lenient(Schema.String),
  duration_ms: lenient(Schema.Number)
})
export type SessionEnd = typeof SessionEnd.Type

/** The messages of protocol 1 that are no events, by type. */
export const messages = {
  "session:start": SessionStart,
  "speech:start": SpeechStart,
  transcript: Transcript,
  "turn:start": TurnStart,
  "turn:cancel": TurnCancel,
  "command:result": CommandResult,
  "tool:result": ToolResult,
  "session:end": SessionEnd
} as const

/** Whatever jambonz says on the socket. */
export type Inbound = (typeof messages)[keyof typeof messages]["Type"] | KnownEvent | OtherEvent
