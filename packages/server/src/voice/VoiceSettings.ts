import { ModelName } from "@harness/protocol"
import { AgentVerb, HarnessSettings } from "@harness/protocol/jambonz"
import { Schema } from "effect"
import { LanguageTag, Line } from "./lines.ts"

const millis = Schema.Int.pipe(Schema.positive())
const count = Schema.Int.pipe(Schema.positive())

/** `on` and `off` are words in YAML 1.2, and booleans to whoever writes it. */
const Switch = Schema.transform(Schema.Union(Schema.Boolean, Schema.Literal("on", "off")), Schema.Boolean, {
  strict: true,
  decode: (value) => value === true || value === "on",
  encode: (value) => value
})

/** What becomes of a call when the caller speaks over it. */
export const OnInterrupt = Schema.Literal("cancel", "detach")

/** How one tool sounds on a call. */
export const ToolVoice = Schema.Struct({
  /** Said when a call of it begins, when it takes long, and when it failed. */
  start: Schema.optional(Line),
  delayed: Schema.optional(Line),
  failed: Schema.optional(Line),
  timeoutMillis: Schema.optional(millis),
  onInterrupt: Schema.optional(OnInterrupt)
})
export type ToolVoice = typeof ToolVoice.Type

/** Lines that can be said to the end whatever the caller does. A filler begins a reply, and would hold all of it. */
export const HeldLine = Schema.Literal("greeting", "reprompt", "apology", "repeat", "goodbye")
export type HeldLine = typeof HeldLine.Type

/** Where a call is ended, or a reply cut. */
export const VoiceLimits = Schema.Struct({
  callMillis: Schema.optional(millis),
  replyChars: Schema.optional(count),
  callCostUsd: Schema.optional(Schema.Positive.pipe(Schema.finite()))
})
export type VoiceLimits = typeof VoiceLimits.Type

/** What the verb says that jambonz runs for a call, where the application is ours. */
export const VerbSettings = Schema.Struct({
  label: Schema.optional(Schema.NonEmptyString),
  stt: AgentVerb.fields.stt,
  tts: AgentVerb.fields.tts,
  turnDetection: AgentVerb.fields.turnDetection,
  bargeIn: AgentVerb.fields.bargeIn,
  handoff: AgentVerb.fields.handoff,
  firstChunkTimeoutMs: HarnessSettings.fields.firstChunkTimeoutMs,
  holdingPhrase: HarnessSettings.fields.holdingPhrase,
  onHarnessFailure: HarnessSettings.fields.onHarnessFailure
})
export type VerbSettings = typeof VerbSettings.Type

/** How an agent speaks on calls, as its file says it under `voice`. */
export const VoiceSettings = Schema.Struct({
  greeting: Schema.optional(Line),
  reprompt: Schema.optional(Line),
  apology: Schema.optional(Line),
  repeat: Schema.optional(Line),
  goodbye: Schema.optional(Line),
  /** Said one after another while the caller waits; an empty list says none. */
  filler: Schema.optional(Schema.Array(Line)),
  uninterruptible: Schema.optional(Schema.Array(HeldLine)),
  language: Schema.optional(LanguageTag),
  speculation: Schema.optional(Switch),
  cleanup: Schema.optional(Switch),
  /** Where a call may be transferred to, letter by letter. */
  transfer: Schema.optional(Schema.Array(Schema.NonEmptyString)),
  fallbackModel: Schema.optional(ModelName),
  /** Whether a permission is asked for in words; else such a call is rejected at once. */
  askPermissions: Schema.optional(Schema.Boolean),
  summary: Schema.optional(Schema.Boolean),
  /** The silence, in a row, that ends a call. */
  goodbyeAfter: Schema.optional(count),
  limits: Schema.optional(VoiceLimits),
  tools: Schema.optional(Schema.Record({ key: Schema.String, value: ToolVoice })),
  fillerAfterMillis: Schema.optional(millis),
  fillerEveryMillis: Schema.optional(millis),
  firstTokenMillis: Schema.optional(millis),
  verb: Schema.optional(VerbSettings)
})
export type VoiceSettings = typeof VoiceSettings.Type
