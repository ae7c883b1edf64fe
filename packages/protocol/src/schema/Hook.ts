import { Schema } from "effect"
import { Cursor, HookId, SessionId, WebhookId } from "../ids.ts"
import { strict } from "../strict.ts"

const next = Schema.NullOr(Schema.String)

/** Where in a turn a hook is asked. */
export const HookPoint = Schema.Literal(
  "pre-turn",
  "pre-generate",
  "post-generate",
  "pre-tool",
  "post-tool"
).annotations({ identifier: "HookPoint" })
export type HookPoint = typeof HookPoint.Type

/** What an unanswered hook means. */
export const HookOnError = Schema.Literal("fail_closed", "fail_open").annotations({ identifier: "HookOnError" })

/** Sets a hook; what is left out goes back to its default. A secret not sent is minted the first time, and kept later. */
export const PutHookRequest = Schema.Struct({
  point: HookPoint,
  url: Schema.NonEmptyString,
  /** Globs over tool names, for the tool points. */
  functions: Schema.optional(Schema.Array(Schema.NonEmptyString)),
  priority: Schema.optional(Schema.Int),
  timeoutMillis: Schema.optional(Schema.Int.pipe(Schema.positive())),
  onError: Schema.optional(HookOnError),
  secret: Schema.optional(Schema.NonEmptyString)
}).annotations({ identifier: "PutHookRequest", ...strict })
export type PutHookRequestValue = typeof PutHookRequest.Type

/** A hook over HTTP. `secret`: the one that was minted, in the answer to its first PUT alone. */
export const HookResponse = Schema.Struct({
  hookId: HookId,
  point: HookPoint,
  url: Schema.String,
  functions: Schema.optional(Schema.Array(Schema.String)),
  priority: Schema.Int,
  timeoutMillis: Schema.Int,
  onError: HookOnError,
  secret: Schema.optional(Schema.String)
}).annotations({ identifier: "HookResponse" })
export type HookResponseValue = typeof HookResponse.Type

/** A server's hooks. */
export const HooksResponse = Schema.Struct({ hooks: Schema.Array(HookResponse), next }).annotations({
  identifier: "HooksResponse"
})
export type HooksResponseValue = typeof HooksResponse.Type

/** What a webhook tells of. */
export const WebhookEvent = Schema.Literal("turn.started", "turn.completed").annotations({ identifier: "WebhookEvent" })

/** A hook is gone. `removed`: by this request. */
export const HookDeletedResponse = Schema.Struct({ hookId: HookId, removed: Schema.Boolean }).annotations({
  identifier: "HookDeletedResponse"
})
export type HookDeletedResponseValue = typeof HookDeletedResponse.Type

const filters = {
  events: Schema.optional(Schema.Array(WebhookEvent)),
  sessionId: Schema.optional(SessionId),
  parentSessionId: Schema.optional(SessionId)
}

/** Sets a webhook; no `events`: all of them. A secret not sent is minted the first time, and kept later. */
export const PutWebhookRequest = Schema.Struct({
  url: Schema.NonEmptyString,
  ...filters,
  secret: Schema.optional(Schema.NonEmptyString)
}).annotations({ identifier: "PutWebhookRequest", ...strict })
export type PutWebhookRequestValue = typeof PutWebhookRequest.Type

/** A webhook. `secret`: the one that was minted, in the answer to its first PUT alone. */
export const WebhookResponse = Schema.Struct({
  webhookId: WebhookId,
  url: Schema.String,
  ...filters,
  secret: Schema.optional(Schema.String)
}).annotations({ identifier: "WebhookResponse" })
export type WebhookResponseValue = typeof WebhookResponse.Type

/** A server's webhooks. */
export const WebhooksResponse = Schema.Struct({ webhooks: Schema.Array(WebhookResponse), next }).annotations({
  identifier: "WebhooksResponse"
})
export type WebhooksResponseValue = typeof WebhooksResponse.Type

/** Delivers everything after this position once more. */
export const RedeliverWebhookRequest = Schema.Struct({ afterServerCursor: Cursor }).annotations({
  identifier: "RedeliverWebhookRequest",
  ...strict
})
export type RedeliverWebhookRequestValue = typeof RedeliverWebhookRequest.Type

/** How many events wait to be delivered once more. */
export const RedeliverWebhookResponse = Schema.Struct({
  webhookId: WebhookId,
  deliveries: Schema.NonNegativeInt
}).annotations({ identifier: "RedeliverWebhookResponse" })
export type RedeliverWebhookResponseValue = typeof RedeliverWebhookResponse.Type

/** A webhook is gone. `removed`: by this request. */
export const WebhookDeletedResponse = Schema.Struct({ webhookId: WebhookId, removed: Schema.Boolean }).annotations({
  identifier: "WebhookDeletedResponse"
})
export type WebhookDeletedResponseValue = typeof WebhookDeletedResponse.Type
