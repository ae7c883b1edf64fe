import {
  type Actor,
  type Answers,
  ConflictError,
  NotFoundError,
  type Question,
  type QuestionId,
  type QuestionReplyResponseValue,
  type SessionId,
  ValidationError
} from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import { CommitRoom, type Tx } from "../log/Commit.ts"
import { type QuestionRow, QuestionsRepo } from "../questions/QuestionsRepo.ts"
import { living, Sessions } from "../sessions/Sessions.ts"
import { requestHash } from "../storage/columns.ts"
import { errorResult, textResult } from "../tools/results.ts"
import { Bell } from "../turns/Bell.ts"
import { PendingRepo } from "../turns/PendingRepo.ts"
import { deliverCall, rejectQuestion } from "../turns/pending.ts"
import { type PartRow, TurnsRepo } from "../turns/TurnsRepo.ts"

const notFound = (questionId: string) =>
  new NotFoundError({ code: "question.not_found", message: `there is no question ${questionId}` })

const settled = ({ question, state, answers }: QuestionRow) =>
  new ConflictError({
    code: "question.settled",
    message: `the question was already ${state}`,
    details: { questionId: question.questionId, outcome: state, ...(answers === undefined ? {} : { answers }) }
  })

/** All answers together, in bytes of JSON: they are told to the model whole. */
const ANSWERS_MAX = 65_536

/** What is wrong with the answers, or nothing: one list per question, of its labels, or own words where it takes them. */
const problem = ({ questions }: Question, answers: Answers): string | undefined => {
  if (Buffer.byteLength(JSON.stringify(answers)) > ANSWERS_MAX) return `must hold at most ${ANSWERS_MAX} bytes`
  if (answers.length !== questions.length) return `must hold one list for each of the ${questions.length} questions`
  for (const [index, item] of questions.entries()) {
    const given = answers[index] ?? []
    if (given.length === 0) return `[${index}] must hold an answer`
    if (given.length > 1 && item.multiple !== true) return `[${index}] must hold one answer`
    const labels = new Set(item.options.map(({ label }) => label))
    if (item.custom !== true && labels.size > 0 && given.some((answer) => !labels.has(answer))) {
      return `[${index}] must be of the labels offered`
    }
  }
  return undefined
}

const told = ({ questions }: Question, answers: Answers): string =>
  questions.map((item, index) => `${item.question}\n${(answers[index] ?? []).join(", ")}`).join("\n\n")

const make = Effect.gen(function* () {
  const room = yield* CommitRoom
  const bell = yield* Bell
  const repo = yield* QuestionsRepo
  const sessions = yield* Sessions

  const found = (tx: Tx, sessionId: SessionId, questionId: string) =>
    Effect.gen(function* () {
      yield* living(tx, sessionId)
      return (yield* QuestionsRepo.find(tx, sessionId, questionId)) ?? (yield* notFound(questionId))
    })

  const reply = Effect.fn("Questions.reply")(function* (
    sessionId: SessionId,
    questionId: QuestionId,
    answers: Answers,
    actor: Actor
  ) {
    return yield* room.commit((tx) =>
      Effect.gen(function* () {
        const row = yield* found(tx, sessionId, questionId)
        const answer: QuestionReplyResponseValue = { questionId, outcome: "replied", answers }
        if (row.state === "replied" && requestHash(row.answers) === requestHash(answers)) return answer
        if (row.state !== "open") return yield* settled(row)
        const reason = problem(row.question, answers)
        if (reason !== undefined) {
          return yield* new ValidationError({
            code: "request.invalid",
            message: `answers ${reason}`,
            details: { issues: [{ path: "answers", reason }] }
          })
        }
        yield* QuestionsRepo.settle(tx, questionId, "replied", answers)
        const pending = yield* PendingRepo.find(tx, sessionId, row.question.callId)
        if (pending === undefined) return answer
        const { n, question } = row
        const part: PartRow = {
          n,
          step: 0,
          open: false,
          part: {
            type: "question",
            partId: `p${n}`,
            questionId,
            questions: question.questions,
            state: "replied",
            answers
          }
        }
        yield* deliverCall(tx, bell, pending, {
          state: "completed",
          result: textResult(told(question, answers), { answers }),
          parts: [part],
          facts: [["question.replied", { questionId, answers }]],
          actor
        })
        return answer
      })
    )
  })

  const rejectRow = (tx: Tx, row: QuestionRow, why: string, actor: Actor | undefined) =>
    Effect.gen(function* () {
      const { callId, questionId, sessionId, turnId } = row.question
      const pending = yield* PendingRepo.find(tx, sessionId, callId)
      const turn = yield* TurnsRepo.find(tx, sessionId, turnId)
      if (pending === undefined || turn === undefined) return
      const { facts, parts } = yield* rejectQuestion(tx, turn, questionId)
      yield* deliverCall(tx, bell, pending, {
        state: "rejected",
        result: errorResult("question.rejected", why),
        parts,
        facts,
        actor
      })
    })

  const reject = Effect.fn("Questions.reject")(function* (sessionId: SessionId, questionId: QuestionId, actor: Actor) {
    return yield* room.commit((tx) =>
      Effect.gen(function* () {
        const row = yield* found(tx, sessionId, questionId)
        const answer: QuestionReplyResponseValue = { questionId, outcome: "rejected" }
        if (row.state === "rejected") return answer
        if (row.state !== "open") return yield* settled(row)
        yield* rejectRow(tx, row, "The question was not answered: a person rejected it.", actor)
        return answer
      })
    )
  })

  /** Nobody answered in time. */
  const expire = (tx: Tx, sessionId: string, questionId: string) =>
    Effect.gen(function* () {
      const row = yield* QuestionsRepo.find(tx, sessionId, questionId)
      if (row?.state === "open") yield* rejectRow(tx, row, "Nobody answered the question in time.", undefined)
    })

  const open = Effect.fn("Questions.open")(function* (
    sessionId: SessionId,
    query: { readonly after?: string | undefined; readonly limit: number },
    below = false
  ) {
    yield* sessions.row(sessionId)
    const after = query.after ?? ""
    const questions = yield* below
      ? repo.openBelow(sessionId, after, query.limit)
      : repo.open(sessionId, after, query.limit)
    const last = questions.at(-1)
    return { questions, next: questions.length < query.limit || last === undefined ? null : last.questionId }
  })

  return { reply, reject, expire, open }
})

/** What an agent asks a person, and the answers. */
export class Questions extends Context.Tag("@harness/server/Questions")<
  Questions,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(Questions, make)
}
