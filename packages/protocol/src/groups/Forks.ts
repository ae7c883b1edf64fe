import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { ConflictError, NotFoundError } from "../errors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { answer, NoQuery, optionalBody } from "../request.ts"
import { ForkSessionRequest, SessionResponse } from "../schema/Session.ts"
import { forkPath } from "./paths.ts"

const forkSession = HttpApiEndpoint.post("forkSession", "/servers/:server/sessions/:sessionId/forks/:forkedSessionId")
  .setPath(forkPath)
  .setUrlParams(NoQuery)
  .setPayload(optionalBody(ForkSessionRequest))
  .addSuccess(answer(201, SessionResponse))
  .addSuccess(answer(200, SessionResponse))
  .annotate(OpenApi.Summary, "Copy a session's settled history into a new one; without a body, all of it")

/** Forks: a session that begins with another's history. */
export const ForksGroup = HttpApiGroup.make("forks")
  .add(forkSession)
  .addError(NotFoundError)
  .addError(ConflictError)
  .middleware(Authorization)
