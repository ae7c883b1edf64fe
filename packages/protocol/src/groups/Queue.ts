import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { ConflictError, NotFoundError } from "../errors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { body, NoQuery, optionalBody, query } from "../request.ts"
import { PageQuery } from "../schema/Query.ts"
import {
  CancelTurnRequest,
  CancelTurnResponse,
  EditQueuedTurnRequest,
  SessionQueueResponse,
  TurnResponse
} from "../schema/Submit.ts"
import { sessionPath, turnPath } from "./paths.ts"

const listQueue = HttpApiEndpoint.get("listQueue", "/servers/:server/sessions/:sessionId/queue")
  .setPath(sessionPath)
  .setUrlParams(query(PageQuery))
  .addSuccess(SessionQueueResponse)
  .annotate(OpenApi.Summary, "The turns that wait, in the order they will run")

const editQueuedTurn = HttpApiEndpoint.patch("editQueuedTurn", "/servers/:server/sessions/:sessionId/queue/:turnId")
  .setPath(turnPath)
  .setUrlParams(NoQuery)
  .setPayload(body(EditQueuedTurnRequest))
  .addSuccess(TurnResponse)
  .annotate(OpenApi.Summary, "Say something else in a turn that has not started")

const withdrawQueuedTurn = HttpApiEndpoint.del(
  "withdrawQueuedTurn",
  "/servers/:server/sessions/:sessionId/queue/:turnId"
)
  .setPath(turnPath)
  .setUrlParams(NoQuery)
  .setPayload(optionalBody(CancelTurnRequest))
  .addSuccess(CancelTurnResponse)
  .annotate(OpenApi.Summary, "Cancel a turn that has not started")

/** The queue: turns accepted and not yet started. */
export const QueueGroup = HttpApiGroup.make("queue")
  .add(listQueue)
  .add(editQueuedTurn)
  .add(withdrawQueuedTurn)
  .addError(NotFoundError)
  .addError(ConflictError)
  .middleware(Authorization)
