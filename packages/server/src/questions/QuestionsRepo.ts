import type { Answers, Question } from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import type { Tx } from "../log/Commit.ts"
import { fromColumn } from "../storage/columns.ts"
import { Database } from "../storage/Sqlite.ts"

/** A question, the number of the part that shows it, and how it stands. */
export interface QuestionRow {
  readonly question: Question
  readonly n: number
  readonly state: "open" | "replied" | "rejected"
  readonly answers: Answers | undefined
}

interface Row {
  readonly body: string
  readonly n: number
  readonly state: QuestionRow["state"]
  readonly answers: string | null
}

const toRow = ({ body, n, state, answers }: Row): QuestionRow => ({
  question: fromColumn<Question>(body),
  n,
  state,
  answers: answers === null ? undefined : fromColumn<Answers>(answers)
})

const columns = "body, n, state, answers"

const insert = (tx: Tx, question: Question, n: number) =>
  tx.query(
    "INSERT INTO question (question_id, session_id, turn_id, call_id, n, body, state) VALUES (?, ?, ?, ?, ?, ?, 'open')",
    [question.questionId, question.sessionId, question.turnId, question.callId, n, JSON.stringify(question)]
  )

const find = (tx: Tx, sessionId: string, questionId: string) =>
  Effect.map(
    tx.query<Row>(`SELECT ${columns} FROM question WHERE session_id = ? AND question_id = ?`, [sessionId, questionId]),
    ([row]) => (row === undefined ? undefined : toRow(row))
  )

const settle = (tx: Tx, questionId: string, state: "replied" | "rejected", answers: Answers | undefined) =>
  tx.query("UPDATE question SET state = ?, answers = ? WHERE question_id = ? AND state = 'open'", [
    state,
    answers === undefined ? null : JSON.stringify(answers),
    questionId
  ])

const family =
  "WITH RECURSIVE family (id) AS (SELECT session_id FROM session WHERE parent_id = ? UNION ALL " +
  "SELECT session_id FROM session JOIN family ON parent_id = id) "

const make = Effect.gen(function* () {
  const { read } = yield* Database
  const questions = (sql: string, params: ReadonlyArray<string | number>) =>
    read<Row>(sql, params).pipe(
      Effect.map((rows) => rows.map((row) => toRow(row).question)),
      Effect.orDie
    )
  return {
    open: (sessionId: string, after: string, limit: number) =>
      questions(
        `SELECT ${columns} FROM question WHERE session_id = ? AND state = 'open' AND question_id > ? ORDER BY question_id LIMIT ?`,
        [sessionId, after, limit]
      ),
    openBelow: (sessionId: string, after: string, limit: number) =>
      questions(
        `${family} SELECT ${columns} FROM question WHERE session_id IN (SELECT id FROM family) AND state = 'open' AND question_id > ? ` +
          "ORDER BY question_id LIMIT ?",
        [sessionId, after, limit]
      )
  }
})

/** What people are asked in the middle of a turn. Writing is for commands alone. */
export class QuestionsRepo extends Context.Tag("@harness/server/QuestionsRepo")<
  QuestionsRepo,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(QuestionsRepo, make)
  static readonly insert = insert
  static readonly find = find
  static readonly settle = settle
}
