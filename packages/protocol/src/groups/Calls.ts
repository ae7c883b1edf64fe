import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { ConflictError, NotFoundError } from "../errors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { body, NoQuery } from "../request.ts"
import { ResolveCallRequest, ResolveCallResponse, SessionBackgroundResponse } from "../schema/Call.ts"
import { callPath, sessionPath } from "./paths.ts"

const resolveCall = HttpApiEndpoint.post(
  "resolveCall",
  "/servers/:server/sessions/:sessionId/turns/:turnId/calls/:callId/resolve"
)
  .setPath(callPath)
  .setUrlParams(NoQuery)
  .setPayload(body(ResolveCallRequest))
  .addSuccess(ResolveCallResponse)
  .annotate(
    OpenApi.Summary,
    "Give a waiting call its result, or let a held one run; one that is unknown or settled answers resolved: false"
  )

/** Calls that wait for somebody outside. */
export const CallsGroup = HttpApiGroup.make("calls")
  .add(resolveCall)
  .addError(NotFoundError)
  .addError(ConflictError)
  .middleware(Authorization)

const backgroundSession = HttpApiEndpoint.post("backgroundSession", "/servers/:server/sessions/:sessionId/background")
  .setPath(sessionPath)
  .setUrlParams(NoQuery)
  .addSuccess(SessionBackgroundResponse)
  .annotate(OpenApi.Summary, "Let sub-agents that are waited for go on by themselves; their results come as turns")

/** Sub-agents a turn waits for. */
export const BackgroundGroup = HttpApiGroup.make("background")
  .add(backgroundSession)
  .addError(NotFoundError)
  .addError(ConflictError)
  .middleware(Authorization)
