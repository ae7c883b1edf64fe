import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { ConflictError, NotFoundError } from "../errors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { answer, body, NoQuery, optionalBody, query, ResumeHeaders } from "../request.ts"
import { PageQuery, SessionListQuery, WatchSessionQuery } from "../schema/Query.ts"
import {
  CreateSessionRequest,
  DeleteSessionRequest,
  ReplaceSessionConfigurationRequest,
  SessionChildrenResponse,
  SessionConfigurationResponse,
  SessionDeletedResponse,
  SessionListResponse,
  SessionResponse,
  SessionStatusResponse,
  UpdateSessionRequest
} from "../schema/Session.ts"
import { SessionHistoryResponse } from "../schema/Submit.ts"
import { serverPath, sessionPath } from "./paths.ts"
import { EventStream } from "./stream.ts"

const listSessions = HttpApiEndpoint.get("listSessions", "/servers/:server/sessions")
  .setPath(serverPath)
  .setUrlParams(query(SessionListQuery))
  .addSuccess(SessionListResponse)
  .annotate(OpenApi.Summary, "A server's sessions, oldest first, deleted ones left out")

const createSession = HttpApiEndpoint.put("createSession", "/servers/:server/sessions/:sessionId")
  .setPath(sessionPath)
  .setUrlParams(NoQuery)
  .setPayload(optionalBody(CreateSessionRequest))
  .addSuccess(answer(201, SessionResponse))
  .addSuccess(answer(200, SessionResponse))
  .annotate(OpenApi.Summary, "Create a session under an id of the caller's; 201 the first time, 200 when repeated")

const getSession = HttpApiEndpoint.get("getSession", "/servers/:server/sessions/:sessionId")
  .setPath(sessionPath)
  .setUrlParams(NoQuery)
  .addSuccess(SessionResponse)
  .annotate(OpenApi.Summary, "Read a session")

const updateSession = HttpApiEndpoint.patch("updateSession", "/servers/:server/sessions/:sessionId")
  .setPath(sessionPath)
  .setUrlParams(NoQuery)
  .setPayload(body(UpdateSessionRequest))
  .addSuccess(SessionResponse)
  .annotate(OpenApi.Summary, "Give a session another title")

const deleteSession = HttpApiEndpoint.del("deleteSession", "/servers/:server/sessions/:sessionId")
  .setPath(sessionPath)
  .setUrlParams(NoQuery)
  .setPayload(optionalBody(DeleteSessionRequest))
  .addSuccess(SessionDeletedResponse)
  .annotate(OpenApi.Summary, "Delete a session and the ones it spawned; forks stay, and the id is not used again")

const getConfiguration = HttpApiEndpoint.get("getConfiguration", "/servers/:server/sessions/:sessionId/configuration")
  .setPath(sessionPath)
  .setUrlParams(NoQuery)
  .addSuccess(SessionConfigurationResponse)
  .annotate(OpenApi.Summary, "What a session's next turn runs with")

const replaceConfiguration = HttpApiEndpoint.put(
  "replaceConfiguration",
  "/servers/:server/sessions/:sessionId/configuration"
)
  .setPath(sessionPath)
  .setUrlParams(NoQuery)
  .setPayload(body(ReplaceSessionConfigurationRequest))
  .addSuccess(SessionConfigurationResponse)
  .annotate(OpenApi.Summary, "Replace a session's configuration whole; a stale revision is refused")

const children = HttpApiEndpoint.get("children", "/servers/:server/sessions/:sessionId/children")
  .setPath(sessionPath)
  .setUrlParams(query(PageQuery))
  .addSuccess(SessionChildrenResponse)
  .annotate(OpenApi.Summary, "The sessions this one spawned, oldest first")

const status = HttpApiEndpoint.get("status", "/servers/:server/sessions/:sessionId/status")
  .setPath(sessionPath)
  .setUrlParams(NoQuery)
  .addSuccess(SessionStatusResponse)
  .annotate(OpenApi.Summary, "What a session is doing, and what it waits on")

const history = HttpApiEndpoint.get("history", "/servers/:server/sessions/:sessionId/history")
  .setPath(sessionPath)
  .setUrlParams(query(PageQuery))
  .addSuccess(SessionHistoryResponse)
  .annotate(OpenApi.Summary, "What the model would be sent, in order")

const watchSession = HttpApiEndpoint.get("watchSession", "/servers/:server/sessions/:sessionId/events")
  .setPath(sessionPath)
  .setUrlParams(query(WatchSessionQuery))
  .setHeaders(ResumeHeaders)
  .addSuccess(EventStream)
  .annotate(OpenApi.Summary, "Watch a session: replay after a cursor, then live, with deltas")

/** Sessions: one conversation each, with a log, a configuration and a working directory of its own. */
export const SessionsGroup = HttpApiGroup.make("sessions")
  .add(listSessions)
  .add(createSession)
  .add(getSession)
  .add(updateSession)
  .add(deleteSession)
  .add(getConfiguration)
  .add(replaceConfiguration)
  .add(children)
  .add(status)
  .add(history)
  .add(watchSession)
  .addError(NotFoundError)
  .addError(ConflictError)
  .middleware(Authorization)
