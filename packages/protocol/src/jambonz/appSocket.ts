import { Schema } from "effect"
import { JsonObject } from "../schema/Json.ts"
import { strict } from "../strict.ts"
import { ofCall } from "./events.ts"
import { lenient } from "./lenient.ts"
import { AgentVerb } from "./verb.ts"

/** The subprotocol of an application that is reached over a WebSocket instead of webhooks. */
export const APP_SUBPROTOCOL = "ws.jambonz.org"

/** A message to such an application. `data` is what the webhook of the same purpose would be posted. */
export const AppMessage = Schema.Struct({
  type: Schema.NonEmptyString,
  ...ofCall,
  msgid: lenient(Schema.String),
  hook: lenient(Schema.String),
  data: lenient(JsonObject)
})
export type AppMessage = typeof AppMessage.Type

/** The application's answer to the message `msgid`; with verbs, they are run next. */
export const AppAck = Schema.Struct({
  type: Schema.Literal("ack"),
  msgid: Schema.NonEmptyString,
  data: Schema.optional(Schema.Array(Schema.typeSchema(AgentVerb)))
}).annotations(strict)
export type AppAck = typeof AppAck.Type

/** The application's answer to an `agent:tool-call`. */
export const ToolOutput = Schema.Struct({
  type: Schema.Literal("command"),
  command: Schema.Literal("llm:tool-output"),
  tool_call_id: Schema.NonEmptyString,
  data: JsonObject
}).annotations(strict)
export type ToolOutput = typeof ToolOutput.Type

/** What a tool gave, as the application sends it. */
export const toolOutput = (
  toolCallId: string,
  data: { readonly result: unknown } | { readonly error: string }
): ToolOutput => ({
  type: "command",
  command: "llm:tool-output",
  tool_call_id: toolCallId,
  data
})
