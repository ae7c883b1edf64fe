import { Array as Arr, Either, Schema } from "effect"
import { Json } from "../schema/Json.ts"
import type { ApplicationUpdate } from "./events.ts"
import { lenient, lenientOr } from "./lenient.ts"
import { CallTools } from "./tools.ts"

const textPart = Schema.Struct({ text: Schema.String })
const isTextPart = Schema.is(textPart)

/** A message's content as text: a string as it is, the texts of a list of parts, anything else as its JSON. */
const textOf = (content: unknown): string =>
  typeof content === "string"
    ? content
    : Array.isArray(content) && content.some(isTextPart)
      ? Arr.filter(content, isTextPart)
          .map((part) => part.text)
          .join("\n")
      : (JSON.stringify(content) ?? "")

const message = Schema.Struct({ role: lenientOr(Schema.String, "system"), content: Json })
const readMessage = Schema.decodeUnknownOption(message)

/** What the application wants the agent to know, as it was said. */
export interface InjectedMessage {
  readonly role: string
  readonly text: string
}

const injectContext = Schema.Struct({ messages: Schema.Array(Json) })
const generateReply = Schema.Struct({
  user_input: lenient(Schema.String),
  instructions: lenient(Schema.String),
  interrupt: lenientOr(Schema.Boolean, false)
})
const updateInstructions = Schema.Struct({ instructions: Schema.String })
const updateTools = Schema.Struct({ tools: Schema.compose(Schema.Array(Json), CallTools) })

/** What an `application_update` asks. `other`: a kind we do not know, or one without what it needs. */
export type ApplicationRequest =
  | { readonly kind: "inject_context"; readonly messages: ReadonlyArray<InjectedMessage> }
  | ({ readonly kind: "generate_reply" } & typeof generateReply.Type)
  | ({ readonly kind: "update_instructions" } & typeof updateInstructions.Type)
  | ({ readonly kind: "update_tools" } & typeof updateTools.Type)
  | { readonly kind: "other"; readonly updateType: string; readonly data: unknown }

const decoders = {
  inject_context: (data: unknown): Either.Either<ApplicationRequest, unknown> =>
    Either.map(Schema.decodeUnknownEither(injectContext)(data), ({ messages }) => ({
      kind: "inject_context",
      messages: Arr.filterMap(messages, (one) => readMessage(one)).map(({ role, content }) => ({
        role,
        text: textOf(content)
      }))
    })),
  generate_reply: (data: unknown): Either.Either<ApplicationRequest, unknown> =>
    Either.map(Schema.decodeUnknownEither(generateReply)(data ?? {}), (asked) => ({
      kind: "generate_reply",
      ...asked
    })),
  update_instructions: (data: unknown): Either.Either<ApplicationRequest, unknown> =>
    Either.map(Schema.decodeUnknownEither(updateInstructions)(data), (asked) => ({
      kind: "update_instructions",
      ...asked
    })),
  update_tools: (data: unknown): Either.Either<ApplicationRequest, unknown> =>
    Either.map(Schema.decodeUnknownEither(updateTools)(data), (asked) => ({ kind: "update_tools", ...asked }))
} as const

const isKnown = (type: string): type is keyof typeof decoders => Object.hasOwn(decoders, type)

/** Reads what the application asks for mid-call. */
export const readApplicationUpdate = (event: ApplicationUpdate): ApplicationRequest => {
  const other: ApplicationRequest = { kind: "other", updateType: event.update_type, data: event.data }
  return isKnown(event.update_type) ? Either.getOrElse(decoders[event.update_type](event.data), () => other) : other
}
