import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { ConflictError, NotFoundError } from "../errors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { body, NoQuery, query } from "../request.ts"
import {
  HookDeletedResponse,
  HookResponse,
  HooksResponse,
  PutHookRequest,
  PutWebhookRequest,
  RedeliverWebhookRequest,
  RedeliverWebhookResponse,
  WebhookDeletedResponse,
  WebhookResponse,
  WebhooksResponse
} from "../schema/Hook.ts"
import { PageQuery } from "../schema/Query.ts"
import { hookPath, serverPath, webhookPath } from "./paths.ts"

const listHooks = HttpApiEndpoint.get("listHooks", "/servers/:server/hooks")
  .setPath(serverPath)
  .setUrlParams(query(PageQuery))
  .addSuccess(HooksResponse)
  .annotate(OpenApi.Summary, "A server's hooks, by id, without their secrets")

const putHook = HttpApiEndpoint.put("putHook", "/servers/:server/hooks/:hookId")
  .setPath(hookPath)
  .setUrlParams(NoQuery)
  .setPayload(body(PutHookRequest))
  .addSuccess(HookResponse)
  .annotate(OpenApi.Summary, "Set a hook, or replace it; a secret that was minted is told this one time")

const deleteHook = HttpApiEndpoint.del("deleteHook", "/servers/:server/hooks/:hookId")
  .setPath(hookPath)
  .setUrlParams(NoQuery)
  .addSuccess(HookDeletedResponse)
  .annotate(OpenApi.Summary, "Take a hook away; again is fine")

/** Others who have a say at five points of a turn. */
export const HooksGroup = HttpApiGroup.make("hooks")
  .add(listHooks)
  .add(putHook)
  .add(deleteHook)
  .addError(NotFoundError)
  .addError(ConflictError)
  .middleware(Authorization)

const listWebhooks = HttpApiEndpoint.get("listWebhooks", "/servers/:server/webhooks")
  .setPath(serverPath)
  .setUrlParams(query(PageQuery))
  .addSuccess(WebhooksResponse)
  .annotate(OpenApi.Summary, "A server's webhooks, by id, without their secrets")

const putWebhook = HttpApiEndpoint.put("putWebhook", "/servers/:server/webhooks/:webhookId")
  .setPath(webhookPath)
  .setUrlParams(NoQuery)
  .setPayload(body(PutWebhookRequest))
  .addSuccess(WebhookResponse)
  .annotate(OpenApi.Summary, "Set a webhook, or replace it; a secret that was minted is told this one time")

const deleteWebhook = HttpApiEndpoint.del("deleteWebhook", "/servers/:server/webhooks/:webhookId")
  .setPath(webhookPath)
  .setUrlParams(NoQuery)
  .addSuccess(WebhookDeletedResponse)
  .annotate(OpenApi.Summary, "Take a webhook away, and what it still waits for; again is fine")

const redeliverWebhook = HttpApiEndpoint.post("redeliverWebhook", "/servers/:server/webhooks/:webhookId/redeliver")
  .setPath(webhookPath)
  .setUrlParams(NoQuery)
  .setPayload(body(RedeliverWebhookRequest))
  .addSuccess(RedeliverWebhookResponse)
  .annotate(OpenApi.Summary, "Deliver once more what happened after a position")

/** Who is told when turns start and end. */
export const WebhooksGroup = HttpApiGroup.make("webhooks")
  .add(listWebhooks)
  .add(putWebhook)
  .add(deleteWebhook)
  .add(redeliverWebhook)
  .addError(NotFoundError)
  .addError(ConflictError)
  .middleware(Authorization)
