import { Schema } from "effect"
import { CallId, PermissionRequestId, SessionId, Timestamp, TurnId } from "../ids.ts"

/** A person is asked whether one call may run. */
export const PermissionRequest = Schema.Struct({
  requestId: PermissionRequestId,
  sessionId: SessionId,
  turnId: TurnId,
  callId: CallId,
  permission: Schema.String,
  patterns: Schema.Array(Schema.String),
  title: Schema.String,
  /** The whole command, path or diff. */
  detail: Schema.String,
  /** What `always` would save. */
  always: Schema.Array(Schema.String),
  askedAt: Timestamp,
  expiresAt: Schema.optional(Timestamp)
}).annotations({ identifier: "PermissionRequest" })
export type PermissionRequest = typeof PermissionRequest.Type

/** `once` for this call, `always` saves a grant, `reject` refuses. */
export const PermissionReply = Schema.Literal("once", "always", "reject").annotations({ identifier: "PermissionReply" })
export type PermissionReply = typeof PermissionReply.Type
