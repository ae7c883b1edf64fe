import { Schema } from "effect"
import { JsonObject } from "../schema/Json.ts"
import { CallSid, TurnNumber } from "./callSid.ts"
import { lenient, lenientOr } from "./lenient.ts"

const others = Schema.Record({ key: Schema.String, value: Schema.Unknown })

const callFacts = {
  account_sid: lenient(Schema.String),
  application_sid: lenient(Schema.String),
  direction: lenient(Schema.String),
  from: lenient(Schema.String),
  to: lenient(Schema.String),
  call_status: lenient(Schema.String)
}

/** The application webhook's body: a call has come, and wants its verbs. */
export const CallWebhook = Schema.Struct(
  {
    call_sid: CallSid,
    ...callFacts,
    caller_name: lenient(Schema.String),
    sip: lenient(JsonObject),
    env_vars: lenient(JsonObject),
    customerData: lenient(JsonObject)
  },
  others
)
export type CallWebhook = typeof CallWebhook.Type

const hookOf = { call_sid: lenient(CallSid), ...callFacts }

const parsedObject = Schema.compose(Schema.parseJson(), JsonObject)
const toolArguments = lenientOr(Schema.Union(JsonObject, parsedObject), {})

/** The tool hook's body: the application is to run a tool. Arguments that are JSON text are read as what it says. */
export const ToolHook = Schema.Struct(
  { ...hookOf, tool_call_id: Schema.NonEmptyString, name: Schema.NonEmptyString, arguments: toolArguments },
  others
)
export type ToolHook = typeof ToolHook.Type

const hookEvent = <const T extends string, F extends Schema.Struct.Fields>(type: T, fields: F) =>
  Schema.Struct({ type: Schema.Literal(type), ...hookOf, ...fields }, others)

/** The caller's words, before they are answered. */
export const UserTranscriptHook = hookEvent("user_transcript", { transcript: lenientOr(Schema.String, "") })
/** The reply, whole, whether it was heard or not. */
export const LlmResponseHook = hookEvent("llm_response", { response: lenientOr(Schema.String, "") })
/** The caller spoke into a reply. */
export const UserInterruptionHook = hookEvent("user_interruption", {})

const latency = Schema.Struct({ harness_first_chunk_ms: lenient(Schema.Number) }, others)
const harness = Schema.Struct({ turn_record: lenient(JsonObject) }, others)

/** How a turn went, as jambonz saw it, with the record we gave of it. */
export const TurnEndHook = hookEvent("turn_end", {
  turn_id: lenient(TurnNumber),
  transcript: lenientOr(Schema.String, ""),
  response: lenientOr(Schema.String, ""),
  interrupted: lenientOr(Schema.Boolean, false),
  engine: lenient(Schema.String),
  harness: lenient(harness),
  latency: lenient(latency)
})

/** Why jambonz gave us up. */
export const HarnessError = Schema.Struct({ reason: lenient(Schema.String), message: lenient(Schema.String) }, others)
export type HarnessError = typeof HarnessError.Type

/** jambonz gave us up and ran what the verb says for that. */
export const HarnessFailureHook = hookEvent("harness_failure", {
  reason: lenient(Schema.String),
  message: lenient(Schema.String)
})

const known = ["user_transcript", "llm_response", "user_interruption", "turn_end", "harness_failure"]

/** An event of a later jambonz. */
export const OtherHook = Schema.Struct(
  {
    type: Schema.NonEmptyString.pipe(Schema.filter((type) => !known.includes(type))),
    ...hookOf
  },
  others
)

/** The event hook's body. */
export const EventHook = Schema.Union(
  UserTranscriptHook,
  LlmResponseHook,
  UserInterruptionHook,
  TurnEndHook,
  HarnessFailureHook,
  OtherHook
)
export type EventHook = typeof EventHook.Type

/** The action hook's body: the verb is done. `completion_reason` is read under both its names. */
export const ActionHook = Schema.transform(
  Schema.Struct(
    {
      ...hookOf,
      completion_reason: lenient(Schema.String),
      completionReason: lenient(Schema.String),
      harness_error: lenient(HarnessError)
    },
    others
  ),
  Schema.Struct(
    {
      call_sid: Schema.optional(CallSid),
      completion_reason: Schema.optional(Schema.String),
      harness_error: Schema.optional(HarnessError)
    },
    others
  ).pipe(Schema.typeSchema),
  {
    strict: true,
    decode: (body) => ({ ...body, completion_reason: body.completion_reason ?? body.completionReason }),
    encode: (body) => body
  }
)
export type ActionHook = typeof ActionHook.Type
