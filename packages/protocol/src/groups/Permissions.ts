import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { ConflictError, NotFoundError } from "../errors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { body, NoQuery, query } from "../request.ts"
import {
  DescendantApprovalsResponse,
  PermissionReplyRequest,
  PermissionReplyResponse,
  SavedPermissionResponse,
  SavedPermissionsResponse,
  SessionPermissionsResponse
} from "../schema/Ask.ts"
import { PageQuery } from "../schema/Query.ts"
import { grantPath, permissionPath, sessionPath } from "./paths.ts"

const listPermissions = HttpApiEndpoint.get("listPermissions", "/servers/:server/sessions/:sessionId/permissions")
  .setPath(sessionPath)
  .setUrlParams(query(PageQuery))
  .addSuccess(SessionPermissionsResponse)
  .annotate(OpenApi.Summary, "The permission requests nobody has answered, oldest first")

const replyPermission = HttpApiEndpoint.post(
  "replyPermission",
  "/servers/:server/sessions/:sessionId/permissions/:requestId/reply"
)
  .setPath(permissionPath)
  .setUrlParams(NoQuery)
  .setPayload(body(PermissionReplyRequest))
  .addSuccess(PermissionReplyResponse)
  .annotate(OpenApi.Summary, "Answer a permission request; the first answer stands, and the same one again is fine")

const listGrants = HttpApiEndpoint.get("listGrants", "/servers/:server/sessions/:sessionId/grants")
  .setPath(sessionPath)
  .setUrlParams(query(PageQuery))
  .addSuccess(SavedPermissionsResponse)
  .annotate(OpenApi.Summary, "What is allowed in this session because somebody said always, oldest first")

const removeGrant = HttpApiEndpoint.del("removeGrant", "/servers/:server/sessions/:sessionId/grants/:grantId")
  .setPath(grantPath)
  .setUrlParams(NoQuery)
  .addSuccess(SavedPermissionResponse)
  .annotate(OpenApi.Summary, "Take a grant back: from the next call on it is asked again; twice is fine")

const listDescendantPermissions = HttpApiEndpoint.get(
  "listDescendantPermissions",
  "/servers/:server/sessions/:sessionId/descendants/permissions"
)
  .setPath(sessionPath)
  .setUrlParams(query(PageQuery))
  .addSuccess(DescendantApprovalsResponse)
  .annotate(OpenApi.Summary, "The open permission requests of every session below this one")

/** What people are asked before a call may run, and what they allowed for good. */
export const PermissionsGroup = HttpApiGroup.make("permissions")
  .add(listPermissions)
  .add(replyPermission)
  .add(listGrants)
  .add(removeGrant)
  .add(listDescendantPermissions)
  .addError(NotFoundError)
  .addError(ConflictError)
  .middleware(Authorization)
