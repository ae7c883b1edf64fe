import { Schema } from "effect"
import { ConnectionId, ProviderId } from "../ids.ts"
import { strict } from "../strict.ts"
import { SafeFailure } from "./Failure.ts"

/** One way into a provider. Its secret is never shown. */
export const ProviderConnection = Schema.Struct({
  connectionId: ConnectionId,
  label: Schema.String,
  source: Schema.Literal("key", "environment"),
  /** Comes from the environment, so that it cannot be changed here. */
  readOnly: Schema.Boolean
}).annotations({ identifier: "ProviderConnection" })

/** A model provider and its connections, without secrets. */
export const SafeProviderSummary = Schema.Struct({
  providerId: ProviderId,
  name: Schema.String,
  state: Schema.Literal("connected", "disconnected"),
  connections: Schema.Array(ProviderConnection)
}).annotations({ identifier: "SafeProviderSummary" })
export type SafeProviderSummaryValue = typeof SafeProviderSummary.Type

/** Keeps what may be shown of a provider, whatever else (a key, a header) it holds. */
export const toSafeProviderSummary = (provider: SafeProviderSummaryValue): SafeProviderSummaryValue => ({
  providerId: provider.providerId,
  name: provider.name,
  state: provider.state,
  connections: provider.connections.map(({ connectionId, label, source, readOnly }) => ({
    connectionId,
    label,
    source,
    readOnly
  }))
})

/** One provider, without secrets. */
export const RuntimeProviderResponse = SafeProviderSummary
export type RuntimeProviderResponseValue = SafeProviderSummaryValue

/** Every provider this host knows. */
export const RuntimeProvidersResponse = Schema.Struct({
  providers: Schema.Array(SafeProviderSummary),
  next: Schema.NullOr(Schema.String)
}).annotations({ identifier: "RuntimeProvidersResponse" })
export type RuntimeProvidersResponseValue = typeof RuntimeProvidersResponse.Type

/** Gives a provider a key; it never comes out again. */
export const ConnectProviderKeyRequest = Schema.Struct({
  connectionId: Schema.optional(ConnectionId),
  label: Schema.optional(Schema.String),
  key: Schema.NonEmptyString
}).annotations({ identifier: "ConnectProviderKeyRequest", ...strict })
export type ConnectProviderKeyRequestValue = typeof ConnectProviderKeyRequest.Type

/** The connection the key is kept under. */
export const ConnectProviderKeyResponse = Schema.Struct({ connectionId: ConnectionId }).annotations({
  identifier: "ConnectProviderKeyResponse"
})
export type ConnectProviderKeyResponseValue = typeof ConnectProviderKeyResponse.Type

/** Renames a connection, or turns it off or on. */
export const UpdateProviderConnectionRequest = Schema.Struct({
  label: Schema.optional(Schema.String),
  enabled: Schema.optional(Schema.Boolean)
}).annotations({ identifier: "UpdateProviderConnectionRequest", ...strict })
export type UpdateProviderConnectionRequestValue = typeof UpdateProviderConnectionRequest.Type

/** The connection that is gone, with its key. */
export const DeleteProviderConnectionResponse = Schema.Struct({ connectionId: ConnectionId }).annotations({
  identifier: "DeleteProviderConnectionResponse"
})
export type DeleteProviderConnectionResponseValue = typeof DeleteProviderConnectionResponse.Type

/** Asks a provider for its models anew. */
export const RefreshProviderModelsRequest = Schema.Struct({
  connectionId: Schema.optional(ConnectionId)
}).annotations({ identifier: "RefreshProviderModelsRequest", ...strict })
export type RefreshProviderModelsRequestValue = typeof RefreshProviderModelsRequest.Type

/** What asking a provider for its models came to. */
export const ProviderModelRefreshOutcome = Schema.Literal(
  "refreshed",
  "unchanged",
  "failed",
  "unsupported"
).annotations({ identifier: "ProviderModelRefreshOutcome" })
export type ProviderModelRefreshOutcomeValue = typeof ProviderModelRefreshOutcome.Type

/** The outcome, and the revision of the models that are known now. */
export const RefreshProviderModelsResponse = Schema.Struct({
  outcome: ProviderModelRefreshOutcome,
  revision: Schema.NonNegativeInt,
  failure: Schema.optional(SafeFailure)
}).annotations({ identifier: "RefreshProviderModelsResponse" })
export type RefreshProviderModelsResponseValue = typeof RefreshProviderModelsResponse.Type
