import { type JsonObject, QuestionId, QuestionItem } from "@harness/protocol"
import { Clock, Effect, Either, Schema } from "effect"
import { Hub } from "../log/Hub.ts"
import { toTimestamp } from "../storage/columns.ts"
import { mint } from "../storage/mint.ts"
import { Tasks } from "../tasks/Tasks.ts"
import { errorResult } from "../tools/results.ts"
import { type Held, Progress } from "../turns/Progress.ts"
import { answerSubmit, type Deliverable, SUBMIT_RESULT } from "./deliverable.ts"
import type { Planned } from "./plan.ts"

const decodeQuestions = Schema.decodeUnknownEither(Schema.Struct({ questions: Schema.Array(QuestionItem) }))

/** Puts a question to a person. The call waits for the answer. */
const ask = (held: Held, planned: Planned, args: JsonObject) =>
  Effect.gen(function* () {
    const progress = yield* Progress
    const hub = yield* Hub
    const decoded = decodeQuestions(args)
    if (Either.isLeft(decoded) || decoded.right.questions.length === 0) {
      return errorResult(
        "tool.arguments_invalid",
        "questions must be a list of questions with question, header and options."
      )
    }
    const now = yield* Clock.currentTimeMillis
    const { sessionId, turnId } = held.turn
    yield* progress.stopped(held.turn, {
      row: planned.row,
      call: planned.call,
      waiting: {
        kind: "question",
        // A steer that joins before it has its number, and its row, before this one.
        part: () => hub.live.takePart(sessionId, turnId) ?? 1,
        question: {
          questionId: QuestionId.make(`que_${mint(now)}`),
          sessionId,
          turnId,
          callId: planned.call.callId,
          questions: decoded.right.questions,
          askedAt: toTimestamp(now)
        }
      },
      arguments: args,
      passed: planned.passed,
      deadline: null
    })
    return undefined
  })

/** A call that no tool runs. Answers its result, or nothing when it has to wait for one. */
export const answerOwn = (
  held: Held,
  planned: Planned,
  deliverable: Deliverable | undefined,
  name: string,
  args: JsonObject
) =>
  Effect.gen(function* () {
    if (name === SUBMIT_RESULT && deliverable !== undefined) return answerSubmit(deliverable, args)
    if (name === "question") return yield* ask(held, planned, args)
    const tasks = yield* Tasks
    return yield* tasks.spawn(held, { row: planned.row, call: planned.call, passed: planned.passed }, args)
  })
