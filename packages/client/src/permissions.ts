import { PageQuery, type PageQueryValue, PermissionReplyRequest, QuestionReplyRequest } from "@harness/protocol"
import { Effect, Schema } from "effect"
import type { Api, Call } from "./api.ts"
import {
  type GrantAt,
  grantPath,
  type PermissionAt,
  parted,
  permissionPath,
  type QuestionAt,
  questionPath,
  type SessionAt,
  sessionPath
} from "./input.ts"

const urlParams = {}
const nothing = Schema.Struct({})
const page = parted(sessionPath, PageQuery)
const inputs = {
  reply: parted(permissionPath, PermissionReplyRequest),
  removeGrant: parted(grantPath, nothing),
  answer: parted(questionPath, QuestionReplyRequest),
  reject: parted(questionPath, nothing)
}

/** What people are asked before a call may run, and what they allowed for good. */
export const permissions = (api: Api, call: Call) => ({
  /** One page of the requests of a session that nobody has answered, oldest first. */
  list: (input: SessionAt & PageQueryValue) =>
    Effect.flatMap(page(input), ({ path, rest }) =>
      call("permissions.list", api.permissions().listPermissions({ path, urlParams: rest }))
    ),
  /** The same of every session below it, each with its own session id. */
  below: (input: SessionAt & PageQueryValue) =>
    Effect.flatMap(page(input), ({ path, rest }) =>
      call("permissions.below", api.permissions().listDescendantPermissions({ path, urlParams: rest }))
    ),
  /** Answers one. The first answer stands: the same again is fine, another is a ConflictError. */
  reply: (input: PermissionAt & typeof PermissionReplyRequest.Encoded) =>
    Effect.flatMap(inputs.reply(input), ({ path, rest }) =>
      call("permissions.reply", api.permissions().replyPermission({ path, urlParams, payload: rest }))
    ),
  /** One page of what is allowed because somebody said always. */
  grants: (input: SessionAt & PageQueryValue) =>
    Effect.flatMap(page(input), ({ path, rest }) =>
      call("permissions.grants", api.permissions().listGrants({ path, urlParams: rest }))
    ),
  /** Takes a grant back: from the next call on it is asked again. */
  removeGrant: (input: GrantAt) =>
    Effect.flatMap(inputs.removeGrant(input), ({ path }) =>
      call("permissions.removeGrant", api.permissions().removeGrant({ path, urlParams }))
    )
})

/** What an agent asks a person in the middle of a turn. */
export const questions = (api: Api, call: Call) => ({
  /** One page of the questions a session waits on, oldest first. */
  list: (input: SessionAt & PageQueryValue) =>
    Effect.flatMap(page(input), ({ path, rest }) =>
      call("questions.list", api.questions().listQuestions({ path, urlParams: rest }))
    ),
  /** The same of every session below it, each with its own session id. */
  below: (input: SessionAt & PageQueryValue) =>
    Effect.flatMap(page(input), ({ path, rest }) =>
      call("questions.below", api.questions().listDescendantQuestions({ path, urlParams: rest }))
    ),
  /** Answers one: a list of labels, or own words, for each thing it asks. The first answer stands. */
  reply: (input: QuestionAt & typeof QuestionReplyRequest.Encoded) =>
    Effect.flatMap(inputs.answer(input), ({ path, rest }) =>
      call("questions.reply", api.questions().replyQuestion({ path, urlParams, payload: rest }))
    ),
  /** Closes one without an answer. */
  reject: (input: QuestionAt) =>
    Effect.flatMap(inputs.reject(input), ({ path }) =>
      call("questions.reject", api.questions().rejectQuestion({ path, urlParams }))
    )
})
