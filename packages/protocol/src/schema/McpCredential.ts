import { Schema } from "effect"
import { Timestamp } from "../ids.ts"
import { strict } from "../strict.ts"

/** Why an MCP server needs a login. */
export const MCP_CREDENTIAL_AUTHORIZATION_REQUIRED_REASONS = [
  "missing",
  "expired",
  "refresh_refused",
  "insufficient_scope"
] as const
/** Why a login did not come about. */
export const MCP_CREDENTIAL_CALLBACK_DENIED_REASONS = ["access_denied", "state_mismatch", "expired", "error"] as const
/** What became of a forgotten credential at its issuer. */
export const MCP_CREDENTIAL_REVOCATION_STATUSES = ["revoked", "unsupported", "failed", "not_connected"] as const

/** Whether an MCP server has a credential, or wants one. */
export const McpCredentialStatus = Schema.Union(
  Schema.Struct({ status: Schema.Literal("none") }),
  Schema.Struct({
    status: Schema.Literal("required"),
    reason: Schema.Literal(...MCP_CREDENTIAL_AUTHORIZATION_REQUIRED_REASONS),
    /** Why the last login did not come about. */
    denied: Schema.optional(Schema.Literal(...MCP_CREDENTIAL_CALLBACK_DENIED_REASONS))
  }),
  Schema.Struct({
    status: Schema.Literal("pending"),
    flowId: Schema.optional(Schema.String),
    expiresAt: Schema.optional(Timestamp)
  }),
  Schema.Struct({ status: Schema.Literal("connected") })
).annotations({ identifier: "McpCredentialStatus" })
export type McpCredentialStatusValue = typeof McpCredentialStatus.Type
/** Whether an MCP server has a credential, or wants one. */
export const McpCredentialStatusResponse = McpCredentialStatus
export type McpCredentialStatusResponseValue = McpCredentialStatusValue

/** Begins a login. Without `redirectUri` the server's own callback is used. */
export const StartMcpCredentialRequest = Schema.Struct({
  redirectUri: Schema.optional(Schema.NonEmptyString)
}).annotations({ identifier: "StartMcpCredentialRequest", ...strict })
export type StartMcpCredentialRequestValue = typeof StartMcpCredentialRequest.Type

/** Where a person logs in, and until when. */
export const McpCredentialChallenge = Schema.Struct({
  flowId: Schema.String,
  authorizationUrl: Schema.String,
  expiresAt: Timestamp
}).annotations({ identifier: "McpCredentialChallenge" })
export type McpCredentialChallengeValue = typeof McpCredentialChallenge.Type
/** Where a person logs in. */
export const McpCredentialStartResponse = McpCredentialChallenge
export type McpCredentialStartResponseValue = McpCredentialChallengeValue

/** Ends a login with the URL the browser was sent back to, pasted from any machine. */
export const CompleteMcpCredentialCallbackRequest = Schema.Struct({
  flowId: Schema.NonEmptyString,
  callbackUrl: Schema.NonEmptyString
}).annotations({ identifier: "CompleteMcpCredentialCallbackRequest", ...strict })
export type CompleteMcpCredentialCallbackRequestValue = typeof CompleteMcpCredentialCallbackRequest.Type

/** Gives a login up. */
export const CancelMcpCredentialRequest = Schema.Struct({ flowId: Schema.NonEmptyString }).annotations({
  identifier: "CancelMcpCredentialRequest",
  ...strict
})
export type CancelMcpCredentialRequestValue = typeof CancelMcpCredentialRequest.Type

/** Forgets a credential, here and if possible at its issuer. */
export const ForgetMcpCredentialRequest = Schema.Struct({ reason: Schema.optional(Schema.String) }).annotations({
  identifier: "ForgetMcpCredentialRequest",
  ...strict
})
export type ForgetMcpCredentialRequestValue = typeof ForgetMcpCredentialRequest.Type

/** What became of the credential at its issuer; here it is gone in every case. */
export const McpCredentialForgetResponse = Schema.Struct({
  revocation: Schema.Literal(...MCP_CREDENTIAL_REVOCATION_STATUSES)
}).annotations({ identifier: "McpCredentialForgetResponse" })
export type McpCredentialForgetResponseValue = typeof McpCredentialForgetResponse.Type
