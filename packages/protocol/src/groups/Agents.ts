import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { NotFoundError } from "../errors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { query } from "../request.ts"
import { PageQuery } from "../schema/Query.ts"
import { SessionAgentsResponse } from "../schema/Skill.ts"
import { sessionPath } from "./paths.ts"

const listAgents = HttpApiEndpoint.get("listAgents", "/servers/:server/sessions/:sessionId/agents")
  .setPath(sessionPath)
  .setUrlParams(query(PageQuery))
  .addSuccess(SessionAgentsResponse)
  .annotate(OpenApi.Summary, "The agents a session can be given, by name, and the files that could not be read")

/** Agents: the built-in ones, and those of files. */
export const AgentsGroup = HttpApiGroup.make("agents").add(listAgents).addError(NotFoundError).middleware(Authorization)
