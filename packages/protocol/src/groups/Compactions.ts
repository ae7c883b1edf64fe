import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { ConflictError, NotFoundError } from "../errors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { answer, NoQuery, optionalBody, query } from "../request.ts"
import {
  CancelContextCompactionRequest,
  ContextCompactionReceiptResponse,
  ContextCompactionResponse,
  SessionCompactionsResponse,
  SubmitContextCompactionRequest
} from "../schema/Compaction.ts"
import { SessionCompactionsQuery } from "../schema/Query.ts"
import { compactionPath, sessionPath } from "./paths.ts"

const listCompactions = HttpApiEndpoint.get("listCompactions", "/servers/:server/sessions/:sessionId/compactions")
  .setPath(sessionPath)
  .setUrlParams(query(SessionCompactionsQuery))
  .addSuccess(SessionCompactionsResponse)
  .annotate(OpenApi.Summary, "A session's compactions, oldest first, after or before a known one")

const submitCompaction = HttpApiEndpoint.put(
  "submitCompaction",
  "/servers/:server/sessions/:sessionId/compactions/:compactionId"
)
  .setPath(compactionPath)
  .setUrlParams(NoQuery)
  .setPayload(optionalBody(SubmitContextCompactionRequest))
  .addSuccess(answer(202, ContextCompactionReceiptResponse))
  .annotate(OpenApi.Summary, "Ask for a summary of the head of the history; it starts between turns")

const getCompaction = HttpApiEndpoint.get(
  "getCompaction",
  "/servers/:server/sessions/:sessionId/compactions/:compactionId"
)
  .setPath(compactionPath)
  .setUrlParams(NoQuery)
  .addSuccess(ContextCompactionResponse)
  .annotate(OpenApi.Summary, "Read a compaction")

const cancelCompaction = HttpApiEndpoint.post(
  "cancelCompaction",
  "/servers/:server/sessions/:sessionId/compactions/:compactionId/cancel"
)
  .setPath(compactionPath)
  .setUrlParams(NoQuery)
  .setPayload(optionalBody(CancelContextCompactionRequest))
  .addSuccess(ContextCompactionResponse)
  .annotate(OpenApi.Summary, "Stop a compaction that has not ended; the history stays as it was")

/** Summaries that stand for the head of a history. */
export const CompactionsGroup = HttpApiGroup.make("compactions")
  .add(listCompactions)
  .add(submitCompaction)
  .add(getCompaction)
  .add(cancelCompaction)
  .addError(NotFoundError)
  .addError(ConflictError)
  .middleware(Authorization)
