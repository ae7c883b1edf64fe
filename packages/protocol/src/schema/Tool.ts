import { Schema } from "effect"
import { CallId, Timestamp } from "../ids.ts"
import { Json, JsonObject } from "./Json.ts"
import { CallResult } from "./Message.ts"

/** A tool whose code lives with the client: its calls wait until somebody resolves them. */
export const ExternalTool = Schema.Struct({
  name: Schema.String.pipe(Schema.pattern(/^[A-Za-z0-9_.-]{1,128}$/)),
  description: Schema.String,
  inputSchema: JsonObject,
  pendingTimeoutMillis: Schema.optional(Schema.Int.pipe(Schema.positive()))
}).annotations({ identifier: "ExternalTool" })
export type ExternalTool = typeof ExternalTool.Type

/** requested → (waiting) → running → one of the rest. `interrupted`: a crash came between start and result. */
export const ToolCallState = Schema.Literal(
  "requested",
  "waiting",
  "running",
  "completed",
  "failed",
  "rejected",
  "cancelled",
  "interrupted"
).annotations({ identifier: "ToolCallState" })
export type ToolCallState = typeof ToolCallState.Type

/** One tool call of a turn, as its part shows it. */
export const toolCallFields = {
  callId: CallId,
  name: Schema.String,
  arguments: Json,
  state: ToolCallState,
  result: Schema.optional(CallResult),
  /** The same for every try of this call, so that a tool can refuse to act twice. */
  idempotencyKey: Schema.String,
  startedAt: Schema.optional(Timestamp),
  settledAt: Schema.optional(Timestamp)
}
