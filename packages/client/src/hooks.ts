import {
  PageQuery,
  type PageQueryValue,
  PutHookRequest,
  PutWebhookRequest,
  RedeliverWebhookRequest
} from "@harness/protocol"
import { Effect, Schema } from "effect"
import type { Api, Call } from "./api.ts"
import { type HookAt, hookPath, parted, type ServerAt, serverPath, type WebhookAt, webhookPath } from "./input.ts"
import type { Repeat } from "./retry.ts"

const urlParams = {}
const nothing = Schema.Struct({})
const page = parted(serverPath, PageQuery)
const inputs = {
  putHook: parted(hookPath, PutHookRequest),
  hook: parted(hookPath, nothing),
  putWebhook: parted(webhookPath, PutWebhookRequest),
  webhook: parted(webhookPath, nothing),
  redeliver: parted(webhookPath, RedeliverWebhookRequest)
}

/** A minted secret is told once: a repetition whose first answer was lost would never learn it. */
const repeatOf = ({ secret }: { readonly secret?: string | undefined }): Repeat =>
  secret === undefined ? "unaccepted" : "safe"

/** Others who have a say at five points of a turn. */
export const hooks = (api: Api, call: Call) => ({
  /** One page of a server's hooks, by id, without their secrets. */
  list: (input: ServerAt & PageQueryValue) =>
    Effect.flatMap(page(input), ({ path, rest }) =>
      call("hooks.list", api.hooks().listHooks({ path, urlParams: rest }))
    ),
  /** Sets one, or replaces it. A secret that was minted is in the answer this one time. */
  put: (input: HookAt & typeof PutHookRequest.Encoded) =>
    Effect.flatMap(inputs.putHook(input), ({ path, rest }) =>
      call("hooks.put", api.hooks().putHook({ path, urlParams, payload: rest }), { repeat: repeatOf(rest) })
    ),
  delete: (input: HookAt) =>
    Effect.flatMap(inputs.hook(input), ({ path }) => call("hooks.delete", api.hooks().deleteHook({ path, urlParams })))
})

/** Who is told when turns start and end. */
export const webhooks = (api: Api, call: Call) => ({
  /** One page of a server's webhooks, by id, without their secrets. */
  list: (input: ServerAt & PageQueryValue) =>
    Effect.flatMap(page(input), ({ path, rest }) =>
      call("webhooks.list", api.webhooks().listWebhooks({ path, urlParams: rest }))
    ),
  /** Sets one, or replaces it. A secret that was minted is in the answer this one time. */
  put: (input: WebhookAt & typeof PutWebhookRequest.Encoded) =>
    Effect.flatMap(inputs.putWebhook(input), ({ path, rest }) =>
      call("webhooks.put", api.webhooks().putWebhook({ path, urlParams, payload: rest }), { repeat: repeatOf(rest) })
    ),
  delete: (input: WebhookAt) =>
    Effect.flatMap(inputs.webhook(input), ({ path }) =>
      call("webhooks.delete", api.webhooks().deleteWebhook({ path, urlParams }))
    ),
  /** Delivers once more what happened after a position. Not repeated once it may have arrived. */
  redeliver: (input: WebhookAt & typeof RedeliverWebhookRequest.Encoded) =>
    Effect.flatMap(inputs.redeliver(input), ({ path, rest }) =>
      call("webhooks.redeliver", api.webhooks().redeliverWebhook({ path, urlParams, payload: rest }), {
        repeat: "unaccepted"
      })
    )
})
