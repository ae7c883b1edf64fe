import { Schema } from "effect"
import { Json, JsonObject } from "../schema/Json.ts"
import { CallSid, TurnNumber } from "./callSid.ts"
import { lenient, lenientOr } from "./lenient.ts"

/** What every message of a call may say of whose it is. Null says nothing. */
export const ofCall = { call_sid: Schema.optionalWith(CallSid, { nullable: true }) }

/** An id as jambonz gives it back to us. */
export const WireId = Schema.NonEmptyString

const event = <const N extends string, F extends Schema.Struct.Fields>(name: N, fields: F) =>
  Schema.Struct({ type: Schema.Literal("event"), ...ofCall, name: Schema.Literal(name), ...fields })

/** The caller spoke into a reply: `spoken` is what was heard of it. */
export const UserInterruption = event("user_interruption", {
  turn_id: lenient(TurnNumber),
  reply_id: WireId,
  spoken: lenientOr(Schema.String, ""),
  unspoken: lenientOr(Schema.String, "")
})
export type UserInterruption = typeof UserInterruption.Type

/** A reply was heard to its end. */
export const ReplySpoken = event("reply_spoken", { reply_id: WireId })
export type ReplySpoken = typeof ReplySpoken.Type

/** An unprompted reply was never spoken: `replaced`, `call_ended`, or a reason of a later jambonz. */
export const ReplyDropped = event("reply_dropped", { reply_id: WireId, reason: lenient(Schema.String) })
export type ReplyDropped = typeof ReplyDropped.Type

/** The caller said nothing for `seconds`, `streak` times in a row. */
export const Silence = event("silence", { seconds: lenient(Schema.Number), streak: lenient(Schema.Number) })
export type Silence = typeof Silence.Type

/** The caller pressed a key. */
export const Dtmf = event("dtmf", { digits: lenientOr(Schema.String, ""), duration_ms: lenient(Schema.Number) })
export type Dtmf = typeof Dtmf.Type

/** How a transfer came out: `bridged`, `failed`, `returned`, or an outcome of a later jambonz. */
export const Transfer = event("transfer", {
  command_id: WireId,
  outcome: lenient(Schema.String),
  reason: lenient(Schema.String)
})
export type Transfer = typeof Transfer.Type

/** Recording changed its state: `started`, `stopped`, `paused`, `resumed`. One begun by others has no command of ours. */
export const Recording = event("recording", {
  command_id: lenient(WireId),
  state: lenient(Schema.String),
  by: lenient(Schema.String)
})
export type Recording = typeof Recording.Type

/** The application sent `agent:update`; `readApplicationUpdate` says what it asks. */
export const ApplicationUpdate = event("application_update", {
  update_type: lenientOr(Schema.String, ""),
  data: lenient(Json)
})
export type ApplicationUpdate = typeof ApplicationUpdate.Type

/** Something we sent was refused; `ref` is its id. */
export const ErrorEvent = event("error", {
  code: lenient(Schema.String),
  message: lenient(Schema.String),
  ref: lenient(Schema.String)
})
export type ErrorEvent = typeof ErrorEvent.Type

/** An event of a later jambonz, as it is read: `fields` is the frame. */
export const OtherEvent = Schema.Struct({
  type: Schema.Literal("other_event"),
  ...ofCall,
  name: Schema.NonEmptyString,
  fields: JsonObject
})
export type OtherEvent = typeof OtherEvent.Type

/** The events of protocol 1, by name. */
export const events = {
  user_interruption: UserInterruption,
  reply_spoken: ReplySpoken,
  reply_dropped: ReplyDropped,
  silence: Silence,
  dtmf: Dtmf,
  transfer: Transfer,
  recording: Recording,
  application_update: ApplicationUpdate,
  error: ErrorEvent
} as const

/** Any event whose name we know. */
export type KnownEvent = (typeof events)[keyof typeof events]["Type"]
