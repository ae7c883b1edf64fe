import { Option, Schema } from "effect"

const chunk = Schema.Struct({
  choices: Schema.Array(
    Schema.Struct({ delta: Schema.optional(Schema.Struct({ content: Schema.optional(Schema.NullOr(Schema.String)) })) })
  )
})

const ReplyChunk = Schema.Struct({
  type: Schema.Literal("reply:chunk"),
  reply_id: Schema.NonEmptyString,
  turn_id: Schema.optional(Schema.Int),
  interruptible: Schema.optional(Schema.Boolean),
  interrupt: Schema.optional(Schema.Boolean),
  chunk
})
const ReplyDone = Schema.Struct({
  type: Schema.Literal("reply:done"),
  reply_id: Schema.NonEmptyString,
  turn_id: Schema.optional(Schema.Int),
  turn_record: Schema.optional(Schema.Unknown)
})
const ToolCall = Schema.Struct({
  type: Schema.Literal("tool:call"),
  call_id: Schema.NonEmptyString,
  turn_id: Schema.optional(Schema.Int),
  name: Schema.String,
  args: Schema.optional(Schema.Unknown)
})
const args = Schema.Record({ key: Schema.String, value: Schema.Unknown })
const Command = Schema.Struct({
  type: Schema.Literal("command"),
  command_id: Schema.NonEmptyString,
  name: Schema.String,
  args: Schema.optionalWith(args, { default: () => ({}) })
})

/** What jambonz needs to understand of a frame; it is less than what we allow ourselves to send. */
const FromHarness = Schema.Union(ReplyChunk, ReplyDone, ToolCall, Command)
export type FromHarness = typeof FromHarness.Type
export type ReplyChunk = typeof ReplyChunk.Type
export type ReplyDone = typeof ReplyDone.Type
export type ToolCall = typeof ToolCall.Type
export type Command = typeof Command.Type

/** A frame of the harness, if it can be understood. */
export const understand = Schema.decodeUnknownOption(FromHarness)

/** What of a chunk is to be spoken: the first choice's text. */
export const contentOf = (frame: ReplyChunk): string => frame.chunk.choices[0]?.delta?.content ?? ""

const named = Schema.decodeUnknownOption(
  Schema.Struct({
    reply_id: Schema.optional(Schema.Unknown),
    call_id: Schema.optional(Schema.Unknown),
    command_id: Schema.optional(Schema.Unknown)
  })
)

/** The id a frame goes by, as far as it has one. */
export const refOf = (frame: unknown): string | undefined =>
  Option.match(named(frame), {
    onNone: () => undefined,
    onSome: ({ call_id, command_id, reply_id }) =>
      [reply_id, call_id, command_id].find((id): id is string => typeof id === "string" && id !== "")
  })
