import { Schema } from "effect"
import { Cursor, PluginId, Timestamp } from "../ids.ts"
import { strict } from "../strict.ts"
import { SafeFailure } from "./Failure.ts"
import { JsonObject } from "./Json.ts"
import { PageLimit, WholeNumber } from "./Query.ts"

const next = Schema.NullOr(Schema.String)

/** Grows with each change of a session's plugins. */
export const SessionPluginRevision = Schema.NonNegativeInt.annotations({ identifier: "SessionPluginRevision" })
export type SessionPluginRevisionValue = typeof SessionPluginRevision.Type

/** `failed` plugins do nothing and say why. */
export const SessionPluginActivation = Schema.Literal("active", "inactive", "failed").annotations({
  identifier: "SessionPluginActivation"
})
export type SessionPluginActivationValue = typeof SessionPluginActivation.Type

/** A plugin, where it comes from, and whether it works. */
export const RuntimePlugin = Schema.Struct({
  pluginId: PluginId,
  source: Schema.String,
  activation: SessionPluginActivation,
  failure: Schema.optional(SafeFailure)
}).annotations({ identifier: "RuntimePlugin" })
export type RuntimePluginValue = typeof RuntimePlugin.Type

/** The plugins of this host. */
export const RuntimePluginsResponse = Schema.Struct({ plugins: Schema.Array(RuntimePlugin), next }).annotations({
  identifier: "RuntimePluginsResponse"
})
export type RuntimePluginsResponseValue = typeof RuntimePluginsResponse.Type

const statusFields = { revision: SessionPluginRevision, plugins: Schema.Array(RuntimePlugin) }

/** A session's plugins after a change. */
export const SessionPluginsStatus = Schema.Struct(statusFields).annotations({ identifier: "SessionPluginsStatus" })
export type SessionPluginsStatusValue = typeof SessionPluginsStatus.Type

/** A session's plugins. */
export const SessionPluginsResponse = Schema.Struct({ ...statusFields, next }).annotations({
  identifier: "SessionPluginsResponse"
})
export type SessionPluginsResponseValue = typeof SessionPluginsResponse.Type

const expectedRevision = Schema.optional(SessionPluginRevision)

/** Adds or replaces a plugin. A stale `expectedRevision` is refused. */
export const AddSessionPluginRequest = Schema.Struct({
  source: Schema.NonEmptyString,
  config: Schema.optional(JsonObject),
  expectedRevision
}).annotations({ identifier: "AddSessionPluginRequest", ...strict })
export type AddSessionPluginRequestValue = typeof AddSessionPluginRequest.Type

/** Fetches a plugin's source anew. */
export const RefreshSessionPluginRequest = Schema.Struct({ expectedRevision }).annotations({
  identifier: "RefreshSessionPluginRequest",
  ...strict
})
export type RefreshSessionPluginRequestValue = typeof RefreshSessionPluginRequest.Type

/** Starts a plugin anew from the source at hand. */
export const ReloadSessionPluginRequest = Schema.Struct({ expectedRevision }).annotations({
  identifier: "ReloadSessionPluginRequest",
  ...strict
})
export type ReloadSessionPluginRequestValue = typeof ReloadSessionPluginRequest.Type

/** Takes a plugin away. */
export const RemoveSessionPluginRequest = Schema.Struct({ expectedRevision }).annotations({
  identifier: "RemoveSessionPluginRequest",
  ...strict
})
export type RemoveSessionPluginRequestValue = typeof RemoveSessionPluginRequest.Type

/** Position in a session's plugin journal. */
export const PluginJournalCursor = Cursor.annotations({ identifier: "PluginJournalCursor" })

/** A page of the plugin journal. */
export const PluginJournalQuery = Schema.Struct({
  after: Schema.optional(WholeNumber),
  limit: Schema.optional(PageLimit)
}).annotations({ identifier: "PluginJournalQuery", ...strict })
export type PluginJournalQueryValue = typeof PluginJournalQuery.Type

/** Something that happened to a plugin. */
export const PluginJournalEntry = Schema.Struct({
  cursor: PluginJournalCursor,
  at: Timestamp,
  pluginId: PluginId,
  kind: Schema.String,
  message: Schema.String
}).annotations({ identifier: "PluginJournalEntry" })

/** What happened to a session's plugins, oldest first. */
export const PluginJournalResponse = Schema.Struct({ entries: Schema.Array(PluginJournalEntry), next }).annotations({
  identifier: "PluginJournalResponse"
})
export type PluginJournalResponseValue = typeof PluginJournalResponse.Type
