import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import { HarnessApi, NotFoundError, PAGE_DEFAULT } from "@harness/protocol"
import { Effect, Layer } from "effect"
import { onNewServer, onServer } from "../servers/on.ts"
import { HookAdmin } from "./HookAdmin.ts"
import { Webhooks } from "./Webhooks.ts"

const hooks = HttpApiBuilder.group(HarnessApi, "hooks", (handlers) =>
  handlers
    .handle("listHooks", ({ path, urlParams }) =>
      onServer(
        path.server,
        Effect.flatMap(HookAdmin, (room) => room.list(urlParams.after ?? "", urlParams.limit ?? PAGE_DEFAULT)),
        { hooks: [], next: null }
      )
    )
    .handle("putHook", ({ path, payload }) =>
      onNewServer(
        path.server,
        Effect.flatMap(HookAdmin, (room) => room.put(path.hookId, payload))
      )
    )
    .handle("deleteHook", ({ path }) =>
      onServer(
        path.server,
        Effect.flatMap(HookAdmin, (room) => room.remove(path.hookId)),
        { hookId: path.hookId, removed: false }
      )
    )
)

const webhooks = HttpApiBuilder.group(HarnessApi, "webhooks", (handlers) =>
  handlers
    .handle("listWebhooks", ({ path, urlParams }) =>
      onServer(
        path.server,
        Effect.flatMap(Webhooks, (room) => room.list(urlParams.after ?? "", urlParams.limit ?? PAGE_DEFAULT)),
        { webhooks: [], next: null }
      )
    )
    .handle("putWebhook", ({ path, payload }) =>
      onNewServer(
        path.server,
        Effect.flatMap(Webhooks, (room) => room.put(path.webhookId, payload))
      )
    )
    .handle("deleteWebhook", ({ path }) =>
      onServer(
        path.server,
        Effect.flatMap(Webhooks, (room) => room.remove(path.webhookId)),
        { webhookId: path.webhookId, removed: false }
      )
    )
    .handle("redeliverWebhook", ({ path, payload }) =>
      Effect.gen(function* () {
        const redeliver = Effect.flatMap(Webhooks, (room) => room.redeliver(path.webhookId, payload.afterServerCursor))
        const answer = yield* onServer(path.server, redeliver, undefined)
        if (answer !== undefined) return answer
        return yield* new NotFoundError({
          code: "webhook.not_found",
          message: `there is no webhook ${path.webhookId}`
        })
      })
    )
)

/** Handlers of hooks and webhooks: they translate, and decide nothing. */
export const HooksHandlers = Layer.mergeAll(hooks, webhooks)
