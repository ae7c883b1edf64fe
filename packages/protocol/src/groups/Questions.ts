import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { ConflictError, NotFoundError } from "../errors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { body, NoQuery, query } from "../request.ts"
import {
  DescendantQuestionsResponse,
  QuestionReplyRequest,
  QuestionReplyResponse,
  SessionQuestionsResponse
} from "../schema/Ask.ts"
import { PageQuery } from "../schema/Query.ts"
import { questionPath, sessionPath } from "./paths.ts"

const listQuestions = HttpApiEndpoint.get("listQuestions", "/servers/:server/sessions/:sessionId/questions")
  .setPath(sessionPath)
  .setUrlParams(query(PageQuery))
  .addSuccess(SessionQuestionsResponse)
  .annotate(OpenApi.Summary, "The questions a session waits on, oldest first")

const replyQuestion = HttpApiEndpoint.post(
  "replyQuestion",
  "/servers/:server/sessions/:sessionId/questions/:questionId/reply"
)
  .setPath(questionPath)
  .setUrlParams(NoQuery)
  .setPayload(body(QuestionReplyRequest))
  .addSuccess(QuestionReplyResponse)
  .annotate(OpenApi.Summary, "Answer a question; the first answer stands, and the same one again is fine")

const rejectQuestion = HttpApiEndpoint.post(
  "rejectQuestion",
  "/servers/:server/sessions/:sessionId/questions/:questionId/reject"
)
  .setPath(questionPath)
  .setUrlParams(NoQuery)
  .addSuccess(QuestionReplyResponse)
  .annotate(OpenApi.Summary, "Close a question without an answer")

const listDescendantQuestions = HttpApiEndpoint.get(
  "listDescendantQuestions",
  "/servers/:server/sessions/:sessionId/descendants/questions"
)
  .setPath(sessionPath)
  .setUrlParams(query(PageQuery))
  .addSuccess(DescendantQuestionsResponse)
  .annotate(OpenApi.Summary, "The open questions of every session below this one")

/** What an agent asks a person in the middle of a turn. */
export const QuestionsGroup = HttpApiGroup.make("questions")
  .add(listQuestions)
  .add(replyQuestion)
  .add(rejectQuestion)
  .add(listDescendantQuestions)
  .addError(NotFoundError)
  .addError(ConflictError)
  .middleware(Authorization)
