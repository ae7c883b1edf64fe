import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { ConflictError, NotFoundError } from "../errors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { answer, body, NoQuery } from "../request.ts"
import { AppendConversationReceiptResponse, AppendConversationRequest } from "../schema/Submit.ts"
import { entryPath } from "./paths.ts"

const appendEntry = HttpApiEndpoint.put("appendEntry", "/servers/:server/sessions/:sessionId/conversation/:entryId")
  .setPath(entryPath)
  .setUrlParams(NoQuery)
  .setPayload(body(AppendConversationRequest))
  .addSuccess(answer(202, AppendConversationReceiptResponse))
  .annotate(OpenApi.Summary, "Append an entry to a session's history without running a turn")

/** Entries of a conversation that no turn made. */
export const ConversationGroup = HttpApiGroup.make("conversation")
  .add(appendEntry)
  .addError(NotFoundError)
  .addError(ConflictError)
  .middleware(Authorization)
