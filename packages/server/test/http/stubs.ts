import { HttpApiBuilder } from "@effect/platform"
import { HarnessApi, NotFoundError } from "@harness/protocol"
import { Effect, Layer } from "effect"

const absent = () => Effect.fail(new NotFoundError({ code: "session.not_found", message: "no such session" }))

const permissions = HttpApiBuilder.group(HarnessApi, "permissions", (handlers) =>
  handlers
    .handle("listPermissions", absent)
    .handle("replyPermission", absent)
    .handle("listGrants", absent)
    .handle("removeGrant", absent)
    .handle("listDescendantPermissions", absent)
)
const questions = HttpApiBuilder.group(HarnessApi, "questions", (handlers) =>
  handlers
    .handle("listQuestions", absent)
    .handle("replyQuestion", absent)
    .handle("rejectQuestion", absent)
    .handle("listDescendantQuestions", absent)
)
const calls = HttpApiBuilder.group(HarnessApi, "calls", (handlers) => handlers.handle("resolveCall", absent))
const background = HttpApiBuilder.group(HarnessApi, "background", (handlers) =>
  handlers.handle("backgroundSession", absent)
)
const compactions = HttpApiBuilder.group(HarnessApi, "compactions", (handlers) =>
  handlers
    .handle("listCompactions", absent)
    .handle("submitCompaction", absent)
    .handle("getCompaction", absent)
    .handle("cancelCompaction", absent)
)
const agents = HttpApiBuilder.group(HarnessApi, "agents", (handlers) => handlers.handle("listAgents", absent))
const hooks = HttpApiBuilder.group(HarnessApi, "hooks", (handlers) =>
  handlers
    .handle("listHooks", () => Effect.succeed({ hooks: [], next: null }))
    .handle("putHook", absent)
    .handle("deleteHook", ({ path }) => Effect.succeed({ hookId: path.hookId, removed: false }))
)
const webhooks = HttpApiBuilder.group(HarnessApi, "webhooks", (handlers) =>
  handlers
    .handle("listWebhooks", () => Effect.succeed({ webhooks: [], next: null }))
    .handle("putWebhook", absent)
    .handle("deleteWebhook", ({ path }) => Effect.succeed({ webhookId: path.webhookId, removed: false }))
    .handle("redeliverWebhook", absent)
)
const reload = HttpApiBuilder.group(HarnessApi, "reload", (handlers) =>
  handlers.handle("reloadRuntime", () => Effect.succeed({ revision: 0, changed: [], failures: [] }))
)

/** Handlers that know nothing, for the groups these tests do not look into. */
export const Stubs = Layer.mergeAll(
  permissions,
  questions,
  calls,
  background,
  compactions,
  agents,
  hooks,
  webhooks,
  reload
)
