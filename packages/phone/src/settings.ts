import { JsonObject } from "@harness/protocol"
import { CallSid } from "@harness/protocol/jambonz"
import { Schema } from "effect"

const millis = Schema.NonNegative.pipe(Schema.finite())

/** How a scripted tool of the application answers. */
export const ToolAnswer = Schema.Struct({
  result: Schema.optional(Schema.Unknown),
  error: Schema.optional(Schema.String),
  afterMs: Schema.optional(millis)
})
export type ToolAnswer = typeof ToolAnswer.Type

/** How the next transfer ends. */
export const TransferOutcome = Schema.Struct({
  outcome: Schema.Literal("bridged", "failed", "returned"),
  reason: Schema.optional(Schema.String),
  afterMs: Schema.optional(millis)
})
export type TransferOutcome = typeof TransferOutcome.Type

/** The agent verb and the call, as jambonz has them: every part has a default, so `{}` is a whole call. */
export const CallSettings = Schema.Struct({
  callSid: Schema.optionalWith(CallSid, { default: () => CallSid.make("CA-0001") }),
  accountSid: Schema.optionalWith(Schema.String, { default: () => "AC-0001" }),
  applicationSid: Schema.optionalWith(Schema.String, { default: () => "AP-0001" }),
  direction: Schema.optionalWith(Schema.Literal("inbound", "outbound"), { default: () => "inbound" as const }),
  from: Schema.optionalWith(Schema.String, { default: () => "+15085550100" }),
  to: Schema.optionalWith(Schema.String, { default: () => "+15085550199" }),
  language: Schema.optionalWith(Schema.String, { default: () => "en-US" }),
  sipHeaders: Schema.optionalWith(JsonObject, { default: () => ({}) }),
  metadata: Schema.optionalWith(JsonObject, { default: () => ({}) }),
  /** In either shape jambonz knows; sent as OpenAI function definitions. */
  tools: Schema.optionalWith(Schema.Array(JsonObject), { default: () => [] }),
  toolAnswers: Schema.optionalWith(Schema.Record({ key: Schema.String, value: ToolAnswer }), { default: () => ({}) }),
  /** Words a second, at which replies are spoken. */
  rate: Schema.optionalWith(Schema.Positive.pipe(Schema.finite()), { default: () => 3 }),
  firstChunkTimeoutMs: Schema.optionalWith(Schema.Int.pipe(Schema.greaterThanOrEqualTo(1)), { default: () => 4_000 }),
  holdingPhrase: Schema.optional(Schema.String),
  onHarnessFailure: Schema.optionalWith(
    Schema.Struct({ say: Schema.optional(Schema.String), transfer: Schema.optional(Schema.String) }),
    { default: () => ({}) }
  ),
  /** Seconds; 0 sends no `silence`. */
  noResponseTimeout: Schema.optionalWith(millis, { default: () => 10 }),
  bargeIn: Schema.optionalWith(Schema.Boolean, { default: () => true }),
  /** How long an interruption may stay without words before it is a `no_input`. */
  noInputMs: Schema.optionalWith(millis, { default: () => 1_000 }),
  /** Where a transfer without `to` goes. */
  transferDestination: Schema.optional(Schema.String),
  transfer: Schema.optionalWith(TransferOutcome, { default: () => ({ outcome: "bridged" as const }) }),
  /** Whether the recognizer can change its language in mid-call. */
  changesLanguage: Schema.optionalWith(Schema.Boolean, { default: () => true }),
  /** How long a dropped socket may take to be opened again. */
  reconnectMs: Schema.optionalWith(millis, { default: () => 2_000 }),
  /** How many drops of one call are reconnected; every one, when it is not given. */
  reconnects: Schema.optional(Schema.NonNegativeInt),
  /** How much faster than life the caller, the voice and the application are. What waits for the harness is not sped up. */
  speed: Schema.optionalWith(Schema.Positive.pipe(Schema.finite()), { default: () => 1 }),
  /** Whether a reply that was under way can go on under its id over the new socket. */
  keepsReplies: Schema.optionalWith(Schema.Boolean, { default: () => true })
})
export type CallSettings = typeof CallSettings.Type

/** Settings with their defaults. */
export const callSettings = (given: typeof CallSettings.Encoded = {}): CallSettings =>
  Schema.decodeSync(CallSettings)(given)
