import { Schema } from "effect"
import { JsonObject } from "../schema/Json.ts"

const refuseUnknown = { parseOptions: { onExcessProperty: "error" } } as const
const keepUnknown = { parseOptions: { onExcessProperty: "preserve", errors: "all" } } as const
const others = Schema.Record({ key: Schema.String, value: Schema.Unknown })

/** Whose recognizer or voice is used; what else its vendor takes is passed on. */
export const SpeechVendor = Schema.Struct({ vendor: Schema.NonEmptyString }, others)
export type SpeechVendor = typeof SpeechVendor.Type

/** An address jambonz calls: a URL, a path, or either with how to call it. */
export const HookAddress = Schema.Union(
  Schema.NonEmptyString,
  Schema.Struct({
    url: Schema.NonEmptyString,
    method: Schema.optional(Schema.Literal("GET", "POST")),
    basicAuth: Schema.optional(Schema.Struct({ username: Schema.String, password: Schema.String }))
  })
)
export type HookAddress = typeof HookAddress.Type

/** How the end of the caller's turn is found. */
export const TurnDetection = Schema.Union(
  Schema.Literal("stt", "krisp"),
  Schema.Struct({
    mode: Schema.Literal("krisp"),
    threshold: Schema.optional(Schema.Number.pipe(Schema.between(0, 1))),
    model: Schema.optional(Schema.String)
  }).annotations(refuseUnknown)
)
export type TurnDetection = typeof TurnDetection.Type

/** Whether and how the caller may cut a reply off. */
export const BargeIn = Schema.Struct(
  {
    enable: Schema.optional(Schema.Boolean),
    strategy: Schema.optional(Schema.Literal("vad", "interruptPrediction")),
    vendor: Schema.optional(Schema.String),
    threshold: Schema.optional(Schema.Number.pipe(Schema.between(0, 1))),
    minSpeechDuration: Schema.optional(Schema.NonNegative),
    sticky: Schema.optional(Schema.Boolean)
  },
  others
)
export type BargeIn = typeof BargeIn.Type

const flatTool = Schema.Struct(
  {
    name: Schema.NonEmptyString,
    description: Schema.optional(Schema.String),
    parameters: Schema.optional(JsonObject)
  },
  others
)

/** A tool of the verb, in either shape jambonz takes. */
export const VerbTool = Schema.Union(
  Schema.Struct({ type: Schema.Literal("function"), function: flatTool }, others),
  flatTool
)
export type VerbTool = typeof VerbTool.Type

/** What jambonz does when we cannot be reached or stop answering: says a line, then transfers or hangs up. */
export const OnHarnessFailure = Schema.Struct({
  say: Schema.optional(Schema.String),
  transfer: Schema.optional(Schema.String)
}).annotations(refuseUnknown)
export type OnHarnessFailure = typeof OnHarnessFailure.Type

/** The least and the usual wait for a reply's first chunk, in milliseconds. */
export const FIRST_CHUNK_TIMEOUT_MIN = 500
/** The wait when the verb names none. */
export const FIRST_CHUNK_TIMEOUT_DEFAULT = 4_000

/** What the verb says to and about a harness. */
export const HarnessSettings = Schema.Struct({
  metadata: Schema.optional(JsonObject),
  firstChunkTimeoutMs: Schema.optional(
    Schema.Int.pipe(
      Schema.greaterThanOrEqualTo(FIRST_CHUNK_TIMEOUT_MIN, {
        description: `a whole number, ${FIRST_CHUNK_TIMEOUT_MIN} or more`
      })
    )
  ),
  holdingPhrase: Schema.optional(Schema.String),
  onHarnessFailure: Schema.optional(OnHarnessFailure)
}).annotations(refuseUnknown)
export type HarnessSettings = typeof HarnessSettings.Type

const HarnessLlm = Schema.Struct({
  vendor: Schema.Literal("harness"),
  label: Schema.optional(Schema.NullOr(Schema.String)),
  llmOptions: Schema.optional(
    Schema.Struct({ tools: Schema.optional(Schema.Array(VerbTool)) }).annotations(refuseUnknown)
  ),
  harness: Schema.optional(HarnessSettings)
}).annotations(refuseUnknown)

const off = Schema.optional(Schema.Literal(false))

/**
 * jambonz's `agent` verb with a harness for its model. What would make jambonz think, fill or prompt for itself is refused;
 * other settings of the verb are passed on untouched.
 */
export const AgentVerb = Schema.Struct({
  verb: Schema.Literal("agent"),
  id: Schema.optional(Schema.String),
  stt: Schema.optional(SpeechVendor),
  tts: Schema.optional(SpeechVendor),
  llm: HarnessLlm,
  turnDetection: Schema.optional(TurnDetection),
  bargeIn: Schema.optional(BargeIn),
  noResponseTimeout: Schema.optional(Schema.NonNegative),
  noResponseMaxPrompts: Schema.optional(Schema.Literal(0)),
  mcpServers: Schema.optional(Schema.Tuple()),
  toolFiller: off,
  earlyGeneration: off,
  speechCleanup: off,
  handoff: Schema.optional(JsonObject),
  toolHook: Schema.optional(HookAddress),
  eventHook: Schema.optional(HookAddress),
  actionHook: Schema.optional(HookAddress)
}).annotations({ identifier: "AgentVerb", ...keepUnknown })
export type AgentVerb = typeof AgentVerb.Type
