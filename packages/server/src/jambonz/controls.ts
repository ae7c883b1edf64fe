import type { ExternalTool, JsonObject } from "@harness/protocol"
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
import type { Voice } from "../voice/voiceOf.ts"

/** What a model may do with the call itself. */
export type ControlName = "hangup" | "transfer" | "record" | "set_barge_in" | "set_language"

/** A command that has no id yet. */
export type Wanted = (commandId: string) => Command

const described = (type: "string" | "boolean", description: string) => ({ type, description })

const object = (properties: JsonObject, required: ReadonlyArray<string> = []): JsonObject => ({
  type: "object",
  properties,
  required: [...required],
  additionalProperties: false
})

const descriptions: Readonly<Record<ControlName, string>> = {
  hangup: "Ends this call. Say goodbye first, in the same answer; nothing can be said after it.",
  transfer: "Hands this call on to somebody else. What you say in the same answer is spoken first.",
  record: "Starts, stops, pauses or resumes the recording of this call.",
  set_barge_in: "Says whether the caller may interrupt you, from your next answer on.",
  set_language: "Changes the language the caller is listened to in."
}

const destinations = ({ transfer }: Voice): JsonObject =>
  transfer.length === 0
    ? {}
    : { to: { type: "string", enum: [...transfer], description: "Where to; left out, to the usual place." } }

const schemas = (voice: Voice): Readonly<Record<ControlName, JsonObject>> => ({
  hangup: object({ reason: described("string", "Why, in a few words, for the records.") }),
  transfer: object({
    ...destinations(voice),
    trunk: described("string", "The trunk to go out by."),
    headers: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "SIP headers for whoever takes the call."
    },
    announce: described("string", "Said to the caller before the transfer. Do not say it yourself as well.")
  }),
  record: object(
    {
      action: { type: "string", enum: ["start", "stop", "pause", "resume"] },
      type: { type: "string", enum: ["cloud", "siprec"] }
    },
    ["action"]
  ),
  set_barge_in: object({ enabled: described("boolean", "Whether the caller may interrupt.") }, ["enabled"]),
  set_language: object({ language: described("string", "A language tag such as en-US or de-DE.") }, ["language"])
})

export const isControl = (name: string): name is ControlName => Object.hasOwn(descriptions, name)

/** Whether a session's tool of that name is the one that controls the call, and not another's of the same name. */
export const isOurs = (tools: ReadonlyArray<ExternalTool>, name: ControlName): boolean =>
  tools.findLast((tool) => tool.name === name)?.description === descriptions[name]

/** The tools every call has. They stand before its application's, which give way to their names. */
export const controlTools = (voice: Voice): ReadonlyArray<ExternalTool> =>
  Object.entries(schemas(voice)).flatMap(([name, inputSchema]) =>
    isControl(name) ? [{ name, description: descriptions[name], inputSchema }] : []
  )

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
