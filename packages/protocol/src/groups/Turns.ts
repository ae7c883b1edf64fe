import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import {
  ConflictError,
  NotFoundError,
  SteerConflictError,
  TurnNotActiveError,
  TurnNotSteerableError
} from "../errors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { answer, body, NoQuery, optionalBody, query, ResumeHeaders } from "../request.ts"
import { SessionTurnsQuery, SubmitPromptQuery, WatchTurnQuery } from "../schema/Query.ts"
import {
  CancelTurnRequest,
  CancelTurnResponse,
  SessionTurnsResponse,
  SteerTurnReceipt,
  SteerTurnRequest,
  SubmitPromptReceiptResponse,
  SubmitPromptRequest,
  TurnResponse,
  TurnWaitTimedOutResponse
} from "../schema/Submit.ts"
import { sessionPath, steerPath, turnPath } from "./paths.ts"
import { EventStream } from "./stream.ts"

const listTurns = HttpApiEndpoint.get("listTurns", "/servers/:server/sessions/:sessionId/turns")
  .setPath(sessionPath)
  .setUrlParams(query(SessionTurnsQuery))
  .addSuccess(SessionTurnsResponse)
  .annotate(OpenApi.Summary, "A session's turns, oldest first, after or before a known one")

const submitPrompt = HttpApiEndpoint.put("submitPrompt", "/servers/:server/sessions/:sessionId/turns/:turnId")
  .setPath(turnPath)
  .setUrlParams(query(SubmitPromptQuery))
  .setPayload(body(SubmitPromptRequest))
  .addSuccess(answer(202, SubmitPromptReceiptResponse))
  .addSuccess(answer(202, TurnWaitTimedOutResponse))
  .addSuccess(answer(200, TurnResponse))
  .annotate(
    OpenApi.Summary,
    "Submit a prompt. 202: it is accepted for good. With waitMillis: 200 when it ended in time, else 202 as it stands"
  )

const getTurn = HttpApiEndpoint.get("getTurn", "/servers/:server/sessions/:sessionId/turns/:turnId")
  .setPath(turnPath)
  .setUrlParams(NoQuery)
  .addSuccess(TurnResponse)
  .annotate(OpenApi.Summary, "Read a turn, whole")

const cancelTurn = HttpApiEndpoint.post("cancelTurn", "/servers/:server/sessions/:sessionId/turns/:turnId/cancel")
  .setPath(turnPath)
  .setUrlParams(NoQuery)
  .setPayload(optionalBody(CancelTurnRequest))
  .addSuccess(answer(202, CancelTurnResponse))
  .annotate(OpenApi.Summary, "Stop a turn; answers at once, however often")

const cancelSession = HttpApiEndpoint.post("cancelSession", "/servers/:server/sessions/:sessionId/cancel")
  .setPath(sessionPath)
  .setUrlParams(NoQuery)
  .setPayload(optionalBody(CancelTurnRequest))
  .addSuccess(answer(202, CancelTurnResponse))
  .annotate(OpenApi.Summary, "Stop whatever turn a session runs")

const steerTurn = HttpApiEndpoint.post("steerTurn", "/servers/:server/sessions/:sessionId/turns/:turnId/steer/:entryId")
  .setPath(steerPath)
  .setUrlParams(NoQuery)
  .setPayload(body(SteerTurnRequest))
  .addSuccess(answer(202, SteerTurnReceipt))
  .addError(SteerConflictError)
  .addError(TurnNotActiveError)
  .addError(TurnNotSteerableError)
  .annotate(OpenApi.Summary, "Say something to exactly this turn before its next step")

const watchTurn = HttpApiEndpoint.get("watchTurn", "/servers/:server/sessions/:sessionId/turns/:turnId/events")
  .setPath(turnPath)
  .setUrlParams(query(WatchTurnQuery))
  .setHeaders(ResumeHeaders)
  .addSuccess(EventStream)
  .annotate(OpenApi.Summary, "Watch a turn to its terminal event")

/** Turns: each answers one prompt. */
export const TurnsGroup = HttpApiGroup.make("turns")
  .add(listTurns)
  .add(submitPrompt)
  .add(getTurn)
  .add(cancelTurn)
  .add(cancelSession)
  .add(steerTurn)
  .add(watchTurn)
  .addError(NotFoundError)
  .addError(ConflictError)
  .middleware(Authorization)
