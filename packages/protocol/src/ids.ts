import { Schema } from "effect"
import { idForm } from "./idForm.ts"

/** An id the caller chooses: compared byte for byte, nothing folded or sanitised. */
const chosen = <const B extends string>(brand: B) =>
  Schema.String.pipe(Schema.pattern(idForm), Schema.brand(brand), Schema.annotations({ identifier: brand }))

/** An id the server mints: `<prefix>_<26 character ULID>`. */
const minted = <const P extends string, const B extends string>(prefix: P, brand: B) =>
  Schema.String.pipe(
    Schema.pattern(new RegExp(`^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$`)),
    Schema.brand(brand),
    Schema.annotations({ identifier: brand })
  )

/** A named home of sessions, with one database of its own. */
export const ServerName = Schema.String.pipe(
  Schema.pattern(/^[a-z0-9][a-z0-9-]{0,62}$/),
  Schema.brand("ServerName"),
  Schema.annotations({ identifier: "ServerName" })
)
export type ServerName = typeof ServerName.Type

/** One conversation, with a log of its own. */
export const SessionId = chosen("SessionId")
export type SessionId = typeof SessionId.Type
/** One prompt and the work that answers it. */
export const TurnId = chosen("TurnId")
export type TurnId = typeof TurnId.Type
/** One entry of a session's history. Chosen by the caller for appended entries and steers, minted for the rest. */
export const EntryId = chosen("EntryId")
export type EntryId = typeof EntryId.Type
/** One summary of a session's head. */
export const CompactionId = chosen("CompactionId")
export type CompactionId = typeof CompactionId.Type
/** A plugin of a session. */
export const PluginId = chosen("PluginId")
export type PluginId = typeof PluginId.Type
/** A hook of a server. */
export const HookId = chosen("HookId")
export type HookId = typeof HookId.Type
/** A webhook of a server. */
export const WebhookId = chosen("WebhookId")
export type WebhookId = typeof WebhookId.Type
/** Who runs models: `demo`, `openai`, … */
export const ProviderId = chosen("ProviderId")
export type ProviderId = typeof ProviderId.Type
/** One way into a provider. */
export const ConnectionId = chosen("ConnectionId")
export type ConnectionId = typeof ConnectionId.Type

/** One tool call. */
export const CallId = minted("call", "CallId")
export type CallId = typeof CallId.Type
/** One ask whether a call may run. */
export const PermissionRequestId = minted("req", "PermissionRequestId")
export type PermissionRequestId = typeof PermissionRequestId.Type
/** One ask of an agent to a person. */
export const QuestionId = minted("que", "QuestionId")
export type QuestionId = typeof QuestionId.Type
/** What an `always` saved. */
export const GrantId = minted("grt", "GrantId")
export type GrantId = typeof GrantId.Type

/** ISO-8601, UTC, with milliseconds. A string on both sides, so that an event needs no second encoding. */
export const Timestamp = Schema.String.pipe(
  Schema.pattern(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
  Schema.annotations({ identifier: "Timestamp" })
)
export type Timestamp = typeof Timestamp.Type

/** Position in a log: whole, from 1; 0 stands before the first row. */
export const Cursor = Schema.NonNegativeInt.annotations({ identifier: "Cursor" })
export type Cursor = typeof Cursor.Type
