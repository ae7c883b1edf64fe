import { Schema } from "effect"
import { idForm } from "../idForm.ts"
import { strict } from "../strict.ts"
import { HANGUP_REASON_MAX } from "./limits.ts"

const described = (description: string) => ({ description })

/** Why we hang up, as a SIP header can carry it. */
export const HangupReason = Schema.String.pipe(
  Schema.pattern(new RegExp(`^[\\x20-\\x7e]{1,${HANGUP_REASON_MAX}}$`), {
    description: `one line of at most ${HANGUP_REASON_MAX} printable ASCII characters`
  })
)

const headerName = Schema.String.pipe(Schema.pattern(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/))
const headerValue = Schema.String.pipe(
  Schema.pattern(/^[\x20-\x7e]{0,1024}$/, described("one line of printable ASCII characters"))
)

/** Where a transfer goes: an E.164 number, a `sip:` URI, or a registered user. */
export const TransferTarget = Schema.String.pipe(
  Schema.pattern(/^[\x21-\x7e]{1,256}$/, described("a number, a sip: URI or a user"))
)

const command = <const N extends string, F extends Schema.Struct.Fields>(name: N, args: F) =>
  Schema.Struct({
    type: Schema.Literal("command"),
    command_id: Schema.String.pipe(Schema.pattern(idForm)),
    name: Schema.Literal(name),
    args: Schema.Struct(args)
  }).annotations(strict)

/** Ends the call. */
export const HangupCommand = command("hangup", { reason: Schema.optional(HangupReason) })
export type HangupCommand = typeof HangupCommand.Type

/** Hands the call on; without `to`, to the destination the agent has at jambonz. */
export const TransferCommand = command("transfer", {
  to: Schema.optional(TransferTarget),
  trunk: Schema.optional(Schema.NonEmptyString),
  headers: Schema.optional(Schema.Record({ key: headerName, value: headerValue })),
  announce: Schema.optional(Schema.NonEmptyString)
})
export type TransferCommand = typeof TransferCommand.Type

/** Begins, ends, halts or goes on with a recording. */
export const RecordCommand = command("record", {
  action: Schema.Literal("start", "stop", "pause", "resume"),
  type: Schema.optional(Schema.Literal("cloud", "siprec"))
})
export type RecordCommand = typeof RecordCommand.Type

/** Lets the caller cut replies off, or not, from the next one on. */
export const BargeInCommand = command("barge_in", { enabled: Schema.Boolean })
export type BargeInCommand = typeof BargeInCommand.Type

/** Changes the language that is listened for. */
export const ListenCommand = command("listen", { language: Schema.NonEmptyString })
export type ListenCommand = typeof ListenCommand.Type

/** What we may ask of the call itself. */
export const Command = Schema.Union(HangupCommand, TransferCommand, RecordCommand, BargeInCommand, ListenCommand)
export type Command = typeof Command.Type
