import { Schema } from "effect"
import { CallSettings, ToolAnswer, TransferOutcome } from "./settings.ts"

const millis = Schema.NonNegative.pipe(Schema.finite())

const spoken = {
  /** What the recognizer thought on the way; false: it says nothing before the caller's turn ends. */
  interim: Schema.optional(Schema.Union(Schema.Array(Schema.String), Schema.Literal(false))),
  language: Schema.optional(Schema.String),
  confidence: Schema.optional(Schema.Number)
}

const Say = Schema.Struct({
  do: Schema.Literal("say"),
  text: Schema.NonEmptyString,
  ...spoken,
  /** At once, whoever speaks; else when the floor is the caller's. */
  now: Schema.optional(Schema.Boolean)
})
const BargeIn = Schema.Struct({
  do: Schema.Literal("bargeIn"),
  /** So much of a reply is heard first; 0 is before its first word, or before there is a reply at all. */
  afterWords: Schema.NonNegativeInt,
  /** What is said then; without it the caller interrupts and says nothing. */
  text: Schema.optional(Schema.NonEmptyString),
  ...spoken
})
const Reply = Schema.Struct({
  do: Schema.Literal("reply"),
  count: Schema.optional(Schema.Positive.pipe(Schema.int()))
})
const Words = Schema.Struct({ do: Schema.Literal("words"), count: Schema.NonNegativeInt })
const Listen = Schema.Struct({ do: Schema.Literal("listen") })
const Silence = Schema.Struct({ do: Schema.Literal("silence"), seconds: millis })
const Press = Schema.Struct({
  do: Schema.Literal("press"),
  digits: Schema.String.pipe(Schema.pattern(/^[0-9A-D*#]+$/)),
  durationMs: Schema.optional(millis)
})
const Drop = Schema.Struct({
  do: Schema.Literal("drop"),
  /** Without it: never. */
  resumeAfterMs: Schema.optional(millis),
  /** The harness is not told: its end of the socket stays open. */
  halfOpen: Schema.optional(Schema.Boolean)
})
const Tools = Schema.Struct({
  do: Schema.Literal("tools"),
  answers: Schema.Record({ key: Schema.String, value: ToolAnswer })
})
const Transfer = Schema.Struct({ do: Schema.Literal("transfer"), ...TransferOutcome.fields })
const Update = Schema.Struct({
  do: Schema.Literal("update"),
  updateType: Schema.String,
  data: Schema.optional(Schema.Unknown)
})
const HangUp = Schema.Struct({
  do: Schema.Literal("hangUp"),
  by: Schema.optional(Schema.Literal("caller", "application", "redirect"))
})

/** One thing that the caller, the application or the network does. */
export const Step = Schema.Union(
  Say,
  BargeIn,
  Reply,
  Words,
  Listen,
  Silence,
  Press,
  Drop,
  Tools,
  Transfer,
  Update,
  HangUp
)
export type Step = typeof Step.Type

/** A call to be played. After its last step the caller waits for an answer, and hangs up. */
export const Script = Schema.Struct({
  call: Schema.optionalWith(CallSettings, { default: () => Schema.decodeSync(CallSettings)({}) }),
  steps: Schema.Array(Step)
}).annotations({ identifier: "Script", parseOptions: { errors: "all", onExcessProperty: "error" } })
export type Script = typeof Script.Type

type Spoken = Pick<typeof Say.Type, "interim" | "language" | "confidence">

/** The caller says something, when the floor is free, or with `now` whoever speaks. */
export const say = (text: string, how: Spoken & { readonly now?: boolean } = {}): Step => ({ do: "say", text, ...how })

/** The caller speaks into a reply, after so many of its words. */
export const bargeIn = (how: Spoken & { readonly afterWords: number; readonly text?: string }): Step => ({
  do: "bargeIn",
  ...how
})

/** The caller listens to one more reply (or several) to its end. */
export const reply = (count = 1): Step => ({ do: "reply", count })

/** The caller hears so many words of a reply. */
export const words = (count: number): Step => ({ do: "words", count })

/** The caller listens until there is nothing more to be heard. */
export const listen = (): Step => ({ do: "listen" })

/** The caller says nothing for so long. */
export const silence = (seconds: number): Step => ({ do: "silence", seconds })

/** The caller presses keys, one after the other. */
export const press = (digits: string): Step => ({ do: "press", digits })

/** The network fails. */
export const drop = (how: { readonly resumeAfterMs?: number; readonly halfOpen?: boolean }): Step => ({
  do: "drop",
  ...how
})

/** From now on the application's tools answer so. */
export const tools = (answers: Readonly<Record<string, ToolAnswer>>): Step => ({ do: "tools", answers })

/** The next transfer ends so. */
export const transfer = (outcome: TransferOutcome): Step => ({ do: "transfer", ...outcome })

/** The application sends `agent:update`. */
export const update = (updateType: string, data?: unknown): Step => ({ do: "update", updateType, data })

/** The call ends: by the caller, if nobody else is named. */
export const hangUp = (by: "caller" | "application" | "redirect" = "caller"): Step => ({ do: "hangUp", by })
