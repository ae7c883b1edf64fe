import type { JsonObject } from "@harness/protocol"
import {
  BargeInCommand,
  type Command,
  HANGUP_REASON_MAX,
  HangupCommand,
  ListenCommand,
  RecordCommand,
  TransferCommand
} from "@harness/protocol/jambonz"
import { Either, Schema } from "effect"
import type { ControlName } from "../voice/controlTools.ts"
import type { Voice } from "../voice/voiceOf.ts"

/** A command that has no id yet. */
export type Wanted = (commandId: string) => Command

/** A line that a SIP header can carry, as near to the words as its letters allow; undefined when nothing is left. */
export const headerLine = (text: string): string | undefined => {
  const plain = text
    .normalize("NFKD")
    .replaceAll(/\s+/gu, " ")
    .replaceAll(/[^\x20-\x7e]/gu, "")
    .trim()
    .slice(0, HANGUP_REASON_MAX)
    .trim()
  return plain === "" ? undefined : plain
}

const isBlank = (value: unknown): boolean =>
  (typeof value === "string" && value.trim() === "") ||
  value === null ||
  (typeof value === "object" && !Array.isArray(value) && Object.keys(value).length === 0)

/** Models fill in what they could leave out. */
const withoutBlanks = (args: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => !isBlank(value)))

const read = <A, I>(schema: Schema.Schema<A, I>, args: JsonObject): Either.Either<A, string> =>
  Either.mapLeft(
    Schema.decodeUnknownEither(schema)(withoutBlanks(args)),
    () => "Not done: these arguments are none that the telephone system takes."
  )

const LanguageArgs = ListenCommand.fields.args.pipe(
  Schema.filter(({ language }) => /^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$/.test(language))
)

/** The command that a call of a control tool asks for, or why there is none. */
export const commandOf = (name: ControlName, args: JsonObject, voice: Voice): Either.Either<Wanted, string> => {
  const type = "command" as const
  switch (name) {
    case "hangup": {
      const said = args["reason"]
      const reason = typeof said === "string" ? headerLine(said) : undefined
      return Either.map(read(HangupCommand.fields.args, reason === undefined ? {} : { reason }), (checked) => {
        return (command_id) => ({ type, command_id, name: "hangup", args: checked })
      })
    }
    case "transfer":
      return Either.flatMap(read(TransferCommand.fields.args, args), (checked): Either.Either<Wanted, string> => {
        if (checked.to !== undefined && !voice.transfer.includes(checked.to)) {
          return Either.left("Not done: calls are not to be transferred there.")
        }
        return Either.right((command_id) => ({ type, command_id, name: "transfer", args: checked }))
      })
    case "record":
      return Either.map(read(RecordCommand.fields.args, args), (checked) => {
        return (command_id) => ({ type, command_id, name: "record", args: checked })
      })
    case "set_barge_in":
      return Either.map(read(BargeInCommand.fields.args, args), (checked) => {
        return (command_id) => ({ type, command_id, name: "barge_in", args: checked })
      })
    case "set_language":
      return Either.map(read(LanguageArgs, args), (checked) => {
        return (command_id) => ({ type, command_id, name: "listen", args: checked })
      })
  }
}
