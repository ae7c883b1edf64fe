import { Schema } from "effect"
import { idForm } from "../idForm.ts"
import { JsonObject } from "../schema/Json.ts"
import { strict } from "../strict.ts"
import { TurnNumber } from "./callSid.ts"
import { Command } from "./commands.ts"
import { TURN_RECORD_MAX } from "./limits.ts"
import { jsonBytes, TurnRecord } from "./turnRecord.ts"

const id = Schema.String.pipe(Schema.pattern(idForm))

/** OpenAI's ChatCompletionChunk as we send it: one choice, whose delta is text to speak and nothing else. */
export const SpokenChunk = Schema.Struct({
  id: Schema.NonEmptyString,
  object: Schema.Literal("chat.completion.chunk"),
  created: Schema.NonNegativeInt,
  model: Schema.NonEmptyString,
  choices: Schema.Tuple(
    Schema.Struct({
      index: Schema.Literal(0),
      delta: Schema.Struct({ content: Schema.NonEmptyString }),
      finish_reason: Schema.NullOr(Schema.Literal("stop"))
    })
  )
})
export type SpokenChunk = typeof SpokenChunk.Type

/** Some more of a reply. Without `turn_id` nobody asked for it, and only then may it `interrupt`. */
export const ReplyChunk = Schema.Struct({
  type: Schema.Literal("reply:chunk"),
  reply_id: id,
  turn_id: Schema.optional(TurnNumber),
  interruptible: Schema.optional(Schema.Boolean),
  interrupt: Schema.optional(Schema.Boolean),
  chunk: SpokenChunk
}).pipe(
  Schema.filter((frame) => frame.turn_id === undefined || frame.interrupt !== true, {
    description: "without interrupt when it answers a turn"
  }),
  Schema.annotations(strict)
)
export type ReplyChunk = typeof ReplyChunk.Type

/** A reply has ended. */
export const ReplyDone = Schema.Struct({
  type: Schema.Literal("reply:done"),
  reply_id: id,
  turn_id: Schema.optional(TurnNumber),
  turn_record: Schema.optional(
    TurnRecord.pipe(Schema.filter((record) => jsonBytes(record) <= TURN_RECORD_MAX, { description: "within its size" }))
  )
}).annotations(strict)
export type ReplyDone = typeof ReplyDone.Type

/** Runs a tool of the call's application. It always names its turn: jambonz's second wait goes by it. */
export const ToolCall = Schema.Struct({
  type: Schema.Literal("tool:call"),
  call_id: id,
  turn_id: TurnNumber,
  name: Schema.NonEmptyString,
  args: JsonObject
}).annotations(strict)
export type ToolCall = typeof ToolCall.Type

/** Whatever we say on the socket. */
export const Outbound = Schema.Union(ReplyChunk, ReplyDone, ToolCall, Command).annotations(strict)
export type Outbound = typeof Outbound.Type

/** The chunk that carries this text. */
export const spokenChunk = (of: {
  readonly id: string
  readonly created: number
  readonly model: string
  readonly content: string
}): SpokenChunk => ({
  id: of.id,
  object: "chat.completion.chunk",
  created: of.created,
  model: of.model,
  choices: [{ index: 0, delta: { content: of.content }, finish_reason: null }]
})
