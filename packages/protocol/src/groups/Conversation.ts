import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
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
