import { Schema } from "effect"
import { CallId, EntryId, TurnId } from "../ids.ts"
import { Json, JsonObject } from "./Json.ts"

const mime = Schema.String.pipe(Schema.pattern(/^[a-z0-9.+-]+\/[a-z0-9.+*-]+$/i))
const base64 = Schema.String.pipe(Schema.pattern(/^[A-Za-z0-9+/]+={0,2}$/))

/** Plain text. */
export const TextPart = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })
/** A picture, in base64. */
export const ImagePart = Schema.Struct({ type: Schema.Literal("image"), mime, data: base64 })
/** A file, in base64. */
export const FilePart = Schema.Struct({ type: Schema.Literal("file"), mime, name: Schema.NonEmptyString, data: base64 })
/** A model's thoughts; `signature` goes back to the same provider alone. */
export const ReasoningPart = Schema.Struct({
  type: Schema.Literal("reasoning"),
  text: Schema.String,
  signature: Schema.optional(Schema.String)
})
/** Thoughts a provider keeps to itself, to be handed back as they are. */
export const RedactedReasoningPart = Schema.Struct({
  type: Schema.Literal("redacted_reasoning"),
  data: Schema.String
})
/** A tool call, as the model asked for it. */
export const CallPart = Schema.Struct({
  type: Schema.Literal("call"),
  callId: CallId,
  name: Schema.String,
  arguments: Json
})

/** What a caller may send: text, images (base64), files (base64). */
export const PromptPart = Schema.Union(TextPart, ImagePart, FilePart).annotations({ identifier: "PromptPart" })
export type PromptPart = typeof PromptPart.Type

/** What that call came to. */
export const ResultPart = Schema.Struct({
  type: Schema.Literal("result"),
  callId: CallId,
  content: Schema.Array(PromptPart),
  isError: Schema.Boolean
})

/** One piece of a message: what a caller may send, and what only the model and its tools make. */
export const Part = Schema.Union(
  TextPart,
  ImagePart,
  FilePart,
  ReasoningPart,
  RedactedReasoningPart,
  CallPart,
  ResultPart
).annotations({ identifier: "Part" })
export type Part = typeof Part.Type

const isBlank = (content: string | ReadonlyArray<PromptPart>): boolean =>
  typeof content === "string"
    ? content.trim() === ""
    : content.every((part) => part.type === "text" && part.text.trim() === "")

/** What a prompt says: a string is short for one text part. Blank content is refused. */
export const Content = Schema.Union(Schema.String, Schema.Array(PromptPart)).pipe(
  Schema.filter((content) => !isBlank(content), { description: "text or a list of parts, and not blank" }),
  Schema.annotations({ identifier: "Content" })
)
export type Content = typeof Content.Type

/** A kind of message of the caller's own: `type` names it, `display` is for people, `details` is for programs. */
export const CustomMessage = Schema.Struct({
  type: Schema.NonEmptyString,
  display: Schema.optional(Schema.String),
  details: Schema.optional(Json)
}).annotations({ identifier: "CustomMessage" })
export type CustomMessage = typeof CustomMessage.Type

/** The prompt a turn answers. */
export const Prompt = Schema.Struct({
  role: Schema.Literal("user", "custom"),
  content: Schema.Array(PromptPart),
  custom: Schema.optional(CustomMessage)
}).annotations({ identifier: "Prompt" })
export type Prompt = typeof Prompt.Type

/** What one tool call came to. Every error carries `details.code`. */
export const CallResult = Schema.Struct({
  content: Schema.Array(PromptPart),
  isError: Schema.Boolean,
  details: Schema.optional(JsonObject)
}).annotations({ identifier: "CallResult" })
export type CallResult = typeof CallResult.Type

/**
 * One entry of a session's history, as the model would be sent it. `interrupted`: it was not heard whole, and holds what was;
 * `estimated`: nobody told how much that was.
 */
export const HistoryEntry = Schema.Struct({
  entryId: EntryId,
  role: Schema.Literal("system", "user", "assistant", "tool", "custom"),
  content: Schema.Array(Part),
  turnId: Schema.optional(TurnId),
  callId: Schema.optional(CallId),
  custom: Schema.optional(CustomMessage),
  interrupted: Schema.optional(Schema.Boolean),
  estimated: Schema.optional(Schema.Boolean)
}).annotations({ identifier: "HistoryEntry" })
export type HistoryEntry = typeof HistoryEntry.Type
