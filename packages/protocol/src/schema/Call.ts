import { Schema } from "effect"
import { strict } from "../strict.ts"
import { JsonObject } from "./Json.ts"
import { PromptPart } from "./Message.ts"

/** Settles a waiting call from outside (`deliver`), or lets a held one run (`execute`). */
export const ResolveCallRequest = Schema.Union(
  Schema.Struct({
    action: Schema.optional(Schema.Literal("deliver")),
    content: Schema.Union(Schema.String, Schema.Array(PromptPart)),
    isError: Schema.optional(Schema.Boolean),
    details: Schema.optional(JsonObject)
  }).annotations(strict),
  Schema.Struct({ action: Schema.Literal("execute") }).annotations(strict)
).annotations({ identifier: "ResolveCallRequest" })
export type ResolveCallRequestValue = typeof ResolveCallRequest.Type

/** `resolved`: this request settled the call; false when it is unknown or settled. `turnResumed`: its turn goes on now. */
export const ResolveCallResponse = Schema.Struct({
  resolved: Schema.Boolean,
  turnResumed: Schema.Boolean
}).annotations({ identifier: "ResolveCallResponse" })
export type ResolveCallResponseValue = typeof ResolveCallResponse.Type

/** Whether any foreground chain of sub-agents was detached. */
export const SessionBackgroundResponse = Schema.Struct({ detached: Schema.Boolean }).annotations({
  identifier: "SessionBackgroundResponse"
})
export type SessionBackgroundResponseValue = typeof SessionBackgroundResponse.Type
