import { Schema } from "effect"
import { GrantId, PermissionRequestId, QuestionId, Timestamp } from "../ids.ts"
import { strict } from "../strict.ts"
import { Actor } from "./Actor.ts"
import { PermissionReply, PermissionRequest } from "./PermissionRequest.ts"
import { Answers, Question } from "./Question.ts"

const next = Schema.NullOr(Schema.String)

/** Answers a permission request. `message` goes to the model with a reject. */
export const PermissionReplyRequest = Schema.Struct({
  reply: PermissionReply,
  message: Schema.optional(Schema.String)
}).annotations({ identifier: "PermissionReplyRequest", ...strict })
export type PermissionReplyRequestValue = typeof PermissionReplyRequest.Type

/** The reply that stands, the other requests its grant settled too, and that grant. */
export const PermissionReplyResponse = Schema.Struct({
  requestId: PermissionRequestId,
  reply: PermissionReply,
  alsoSettled: Schema.Array(PermissionRequestId),
  grantId: Schema.optional(GrantId)
}).annotations({ identifier: "PermissionReplyResponse" })
export type PermissionReplyResponseValue = typeof PermissionReplyResponse.Type

/** A session's open permission requests, oldest first. */
export const SessionPermissionsResponse = Schema.Struct({
  permissions: Schema.Array(PermissionRequest),
  next
}).annotations({ identifier: "SessionPermissionsResponse" })
export type SessionPermissionsResponseValue = typeof SessionPermissionsResponse.Type

/** What an `always` saved: these patterns are not asked for again in this session. */
export const SavedPermission = Schema.Struct({
  grantId: GrantId,
  permission: Schema.String,
  patterns: Schema.Array(Schema.String),
  createdAt: Timestamp,
  actor: Actor
}).annotations({ identifier: "SavedPermission" })
export type SavedPermission = typeof SavedPermission.Type
/** A grant is gone. `removed`: by this request, which then says what it was. */
export const SavedPermissionResponse = Schema.Struct({
  grantId: GrantId,
  removed: Schema.Boolean,
  permission: Schema.optional(Schema.String),
  patterns: Schema.optional(Schema.Array(Schema.String)),
  createdAt: Schema.optional(Timestamp),
  actor: Schema.optional(Actor)
}).annotations({ identifier: "SavedPermissionResponse" })
export type SavedPermissionResponseValue = typeof SavedPermissionResponse.Type

/** A session's saved grants, oldest first. */
export const SavedPermissionsResponse = Schema.Struct({
  grants: Schema.Array(SavedPermission),
  next
}).annotations({ identifier: "SavedPermissionsResponse" })
export type SavedPermissionsResponseValue = typeof SavedPermissionsResponse.Type

/** A session's open questions, oldest first. */
export const SessionQuestionsResponse = Schema.Struct({
  questions: Schema.Array(Question),
  next
}).annotations({ identifier: "SessionQuestionsResponse" })
export type SessionQuestionsResponseValue = typeof SessionQuestionsResponse.Type

/** One list of labels (or own words, where `custom`) per question. */
export const QuestionReplyRequest = Schema.Struct({ answers: Answers }).annotations({
  identifier: "QuestionReplyRequest",
  ...strict
})
export type QuestionReplyRequestValue = typeof QuestionReplyRequest.Type

/** The outcome that stands. */
export const QuestionReplyResponse = Schema.Struct({
  questionId: QuestionId,
  outcome: Schema.Literal("replied", "rejected"),
  answers: Schema.optional(Answers)
}).annotations({ identifier: "QuestionReplyResponse" })
export type QuestionReplyResponseValue = typeof QuestionReplyResponse.Type

/** Open permission requests of every descendant, each with its own session id. */
export const DescendantApprovalsResponse = Schema.Struct({
  permissions: Schema.Array(PermissionRequest),
  next
}).annotations({ identifier: "DescendantApprovalsResponse" })
export type DescendantApprovalsResponseValue = typeof DescendantApprovalsResponse.Type

/** Open questions of every descendant, each with its own session id. */
export const DescendantQuestionsResponse = Schema.Struct({
  questions: Schema.Array(Question),
  next
}).annotations({ identifier: "DescendantQuestionsResponse" })
export type DescendantQuestionsResponseValue = typeof DescendantQuestionsResponse.Type
