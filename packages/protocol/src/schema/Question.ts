import { Schema } from "effect"
import { CallId, QuestionId, SessionId, Timestamp, TurnId } from "../ids.ts"

/** One thing asked: labels to choose from, or (`custom`) an answer in own words. */
export const QuestionItem = Schema.Struct({
  question: Schema.NonEmptyString,
  header: Schema.String,
  options: Schema.Array(Schema.Struct({ label: Schema.String, description: Schema.String })),
  multiple: Schema.optional(Schema.Boolean),
  custom: Schema.optional(Schema.Boolean)
}).annotations({ identifier: "QuestionItem" })
export type QuestionItem = typeof QuestionItem.Type

/** What an agent asks a person in the middle of a turn. It can wait for days. */
export const Question = Schema.Struct({
  questionId: QuestionId,
  sessionId: SessionId,
  turnId: TurnId,
  callId: CallId,
  questions: Schema.Array(QuestionItem),
  askedAt: Timestamp
}).annotations({ identifier: "Question" })
export type Question = typeof Question.Type

/** One list of labels (or own words) per question asked. */
export const Answers = Schema.Array(Schema.Array(Schema.String)).annotations({ identifier: "Answers" })
export type Answers = typeof Answers.Type
