import * as HttpApi from "@effect/platform/HttpApi"
import * as OpenApi from "@effect/platform/OpenApi"
import { ServerStreamEvent } from "./events/ServerEvent.ts"
import { SessionStreamEvent } from "./events/SessionEvent.ts"
import { TurnStreamEvent } from "./events/TurnEvent.ts"
import { AgentsGroup } from "./groups/Agents.ts"
import { BackgroundGroup, CallsGroup } from "./groups/Calls.ts"
import { CompactionsGroup } from "./groups/Compactions.ts"
import { ConversationGroup } from "./groups/Conversation.ts"
import { withEdgeErrors } from "./groups/errors.ts"
import { ForksGroup } from "./groups/Forks.ts"
import { HealthGroup } from "./groups/Health.ts"
import { HooksGroup, WebhooksGroup } from "./groups/Hooks.ts"
import { PermissionsGroup } from "./groups/Permissions.ts"
import { QuestionsGroup } from "./groups/Questions.ts"
import { QueueGroup } from "./groups/Queue.ts"
import { ReloadGroup } from "./groups/Reload.ts"
import { RuntimeGroup } from "./groups/Runtime.ts"
import { ServersGroup } from "./groups/Servers.ts"
import { SessionsGroup } from "./groups/Sessions.ts"
import { SystemGroup } from "./groups/System.ts"
import { TurnsGroup } from "./groups/Turns.ts"

/** Health, the API's own description, servers as a whole, and who a server asks and tells. */
export const SystemApi = withEdgeErrors(
  HttpApi.make("system")
    .add(HealthGroup)
    .add(SystemGroup)
    .add(ServersGroup)
    .add(HooksGroup)
    .add(WebhooksGroup)
    .prefix("/v1")
)

/** The process: what it supports, what it logs, what it counts, and what of it changes while it runs. */
export const RuntimeApi = withEdgeErrors(HttpApi.make("runtime").add(RuntimeGroup).add(ReloadGroup).prefix("/v1"))

/** Sessions and everything in them. */
export const SessionsApi = withEdgeErrors(
  HttpApi.make("sessions")
    .add(SessionsGroup)
    .add(ForksGroup)
    .add(TurnsGroup)
    .add(QueueGroup)
    .add(ConversationGroup)
    .add(PermissionsGroup)
    .add(QuestionsGroup)
    .add(CallsGroup)
    .add(BackgroundGroup)
    .add(CompactionsGroup)
    .add(AgentsGroup)
    .prefix("/v1")
)

/** Everything a server of this release answers. */
export const HarnessApi = HttpApi.make("harness")
  .addHttpApi(SystemApi)
  .addHttpApi(RuntimeApi)
  .addHttpApi(SessionsApi)
  .annotate(OpenApi.Title, "Harness")
  .annotate(OpenApi.Version, "1")
  .annotate(OpenApi.Description, "Runs agents: sessions, turns, forks, and streams of what they do.")
  .annotate(OpenApi.License, { name: "MIT" })
  .annotate(HttpApi.AdditionalSchemas, [SessionStreamEvent, TurnStreamEvent, ServerStreamEvent])
