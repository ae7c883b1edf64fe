import { Schema } from "effect"
import { CallId, PermissionRequestId, QuestionId } from "../ids.ts"
import { Actor } from "../schema/Actor.ts"
import { Json } from "../schema/Json.ts"
import { CallResult } from "../schema/Message.ts"
import { PermissionReply, PermissionRequest } from "../schema/PermissionRequest.ts"
import { Answers, Question } from "../schema/Question.ts"
import { ToolCallState } from "../schema/Tool.ts"
import { TurnChange, TurnMode } from "../schema/Turn.ts"
import { Usage } from "../schema/Usage.ts"

/** What each durable event of a turn carries, whichever stream shows it. The key is the type without its prefix. */
export const turnFacts = {
  snapshot: { turn: TurnChange },
  started: { model: Schema.String, agent: Schema.String, mode: TurnMode },
  usage: { usage: Usage },
  "tool.requested": {
    call: Schema.Struct({
      callId: CallId,
      name: Schema.String,
      arguments: Json,
      /** Nobody here runs it: it waits for `resolve`. */
      external: Schema.Boolean
    })
  },
  "tool.completed": { callId: CallId, state: ToolCallState, result: CallResult },
  "approval.requested": { request: PermissionRequest },
  "approval.resolved": {
    requestId: PermissionRequestId,
    reply: PermissionReply,
    message: Schema.optional(Schema.String),
    actor: Schema.optional(Actor)
  },
  "question.asked": { question: Question },
  "question.replied": { questionId: QuestionId, answers: Answers },
  "question.rejected": { questionId: QuestionId }
} as const

/** What each preview carries. `offset` counts UTF-16 code units of the part's text before `delta`. */
export const turnPreviews = {
  delta: { partId: Schema.String, offset: Schema.NonNegativeInt, delta: Schema.String },
  "tool.activity": {
    callId: CallId,
    output: Schema.optional(Schema.String),
    progress: Schema.optional(Json)
  }
} as const
