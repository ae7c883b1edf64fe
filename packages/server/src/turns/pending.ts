import type * as SqlError from "@effect/sql/SqlError"
import type { Actor, CallResult, PermissionRequest, Question, ToolTurnPart } from "@harness/protocol"
import { Effect } from "effect"
import { HistoryRepo } from "../history/HistoryRepo.ts"
import type { Tx } from "../log/Commit.ts"
import { PermissionsRepo, type Settlement } from "../permissions/PermissionsRepo.ts"
import { QuestionsRepo } from "../questions/QuestionsRepo.ts"
import type { BellListener } from "./Bell.ts"
import { type Passed, type Pending, PendingRepo } from "./PendingRepo.ts"
import { type Change, record } from "./record.ts"
import { type PartRow, type TurnRow, TurnsRepo } from "./TurnsRepo.ts"

type Facts = NonNullable<Change["facts"]>

/** What a call is to wait for. */
export type Waiting =
  | { readonly kind: "permission"; readonly request: PermissionRequest }
  /** `part`: gives out the number of the part that shows it. Called in the commit. */
  | { readonly kind: "question"; readonly question: Question; readonly part: () => number }
  | { readonly kind: "external" }
  | { readonly kind: "hold"; readonly hookId: string }
  | { readonly kind: "child"; readonly childSession: string }

/** A call that stops here, with everything it needs to go on. */
export interface Stop {
  readonly row: PartRow
  readonly call: ToolTurnPart
  readonly waiting: Waiting
  readonly arguments: Pending["arguments"]
  readonly passed: Passed
  readonly deadline: number | null
}

const refOf = (waiting: Waiting): string => {
  switch (waiting.kind) {
    case "permission":
      return waiting.request.requestId
    case "question":
      return waiting.question.questionId
    case "hold":
      return waiting.hookId
    case "child":
      return waiting.childSession
    case "external":
      return ""
  }
}

const factsOf = (waiting: Waiting): Facts => {
  if (waiting.kind === "permission") return [["approval.requested", { request: waiting.request }]]
  if (waiting.kind === "question") return [["question.asked", { question: waiting.question }]]
  return []
}

const questionPart = (n: number, { questionId, questions }: Question): PartRow => ({
  n,
  step: 0,
  open: false,
  part: { type: "question", partId: `p${n}`, questionId, questions, state: "asked" }
})

/** A call waits: the row that will let it go on, what people are asked, and the part that shows it, in one commit. */
export const stopCall = (tx: Tx, turn: TurnRow, stop: Stop): Effect.Effect<TurnRow, SqlError.SqlError> =>
  Effect.gen(function* () {
    const { call, row, waiting } = stop
    yield* PendingRepo.put(tx, {
      sessionId: turn.sessionId,
      turnId: turn.turnId,
      callId: call.callId,
      n: row.n,
      kind: waiting.kind,
      ref: refOf(waiting),
      arguments: stop.arguments,
      passed: stop.passed,
      state: "open",
      deadline: stop.deadline
    })
    if (waiting.kind === "permission") yield* PermissionsRepo.insert(tx, waiting.request)
    const shown: Array<PartRow> = [{ ...row, part: { ...call, state: "waiting" } }]
    if (waiting.kind === "question") {
      const n = waiting.part()
      yield* QuestionsRepo.insert(tx, waiting.question, n)
      shown.push(questionPart(n, waiting.question))
    }
    return yield* record(tx, {
      from: turn,
      turn,
      parts: shown,
      facts: factsOf(waiting)
    })
  })

/** What came of a settlement from outside. */
export interface Outcome {
  readonly resolved: boolean
  readonly turnResumed: boolean
}

export const NOTHING: Outcome = { resolved: false, turnResumed: false }

/** The turn and the part of a call that still waits; undefined when there is nothing to settle. */
const waitingCall = (tx: Tx, pending: Pending) =>
  Effect.gen(function* () {
    const turn = yield* TurnsRepo.find(tx, pending.sessionId, pending.turnId)
    if (turn === undefined || turn.settledAt !== null) return undefined
    const open = yield* TurnsRepo.openParts(tx, pending.sessionId, pending.turnId)
    const row = open.find(({ n }) => n === pending.n)
    return row?.part.type === "tool" ? { turn, row, call: row.part } : undefined
  })

/** Whether a waiting turn can go on: something may run, or nothing waits any more. */
const mayGoOn = (left: ReadonlyArray<Pending>): boolean =>
  left.every(({ state }) => state === "released") || left.some(({ state }) => state === "released")

/** Writes a changed call, and wakes its turn when that can go on now. */
const advance = (tx: Tx, bell: BellListener, turn: TurnRow, change: Omit<Change, "turn" | "from">) =>
  Effect.gen(function* () {
    const left = yield* PendingRepo.ofTurn(tx, turn.sessionId, turn.turnId)
    const turnResumed = turn.state === "waiting" && mayGoOn(left)
    yield* record(tx, { ...change, from: turn, turn: turnResumed ? { ...turn, state: "running" } : turn })
    if (turnResumed) tx.after(() => bell.wake(turn.sessionId))
    const outcome: Outcome = { resolved: true, turnResumed }
    return outcome
  })

/** How a call ends that somebody outside settles. */
export interface Delivery {
  readonly state: "completed" | "failed" | "rejected"
  readonly result: CallResult
  readonly facts?: Facts
  readonly parts?: ReadonlyArray<PartRow>
  readonly actor?: Actor | undefined
}

/** Gives a waiting call its one result. */
export const deliverCall = (
  tx: Tx,
  bell: BellListener,
  pending: Pending,
  delivery: Delivery
): Effect.Effect<Outcome, SqlError.SqlError> =>
  Effect.gen(function* () {
    const waiting = yield* waitingCall(tx, pending)
    if (waiting === undefined) return NOTHING
    const { call, row, turn } = waiting
    const { result, state } = delivery
    const { callId } = call
    yield* PendingRepo.remove(tx, turn.sessionId, callId)
    yield* HistoryRepo.fillResult(tx, turn.sessionId, callId, [
      { type: "result", callId, content: result.content, isError: result.isError }
    ])
    const part: ToolTurnPart = { ...call, state, result, settledAt: tx.at }
    const outcome = yield* advance(tx, bell, turn, {
      parts: [{ ...row, open: false, part }, ...(delivery.parts ?? [])],
      facts: [...(delivery.facts ?? []), ["tool.completed", { callId, state, result }]],
      actor: delivery.actor
    })
    tx.point("delivered", turn.sessionId)
    return outcome
  })

/** Lets a waiting call go on: its turn judges what is left to judge, and runs it. */
export const releaseCall = (
  tx: Tx,
  bell: BellListener,
  pending: Pending,
  release: { readonly passed: Passed; readonly facts?: Facts; readonly actor?: Actor | undefined }
): Effect.Effect<Outcome, SqlError.SqlError> =>
  Effect.gen(function* () {
    const waiting = yield* waitingCall(tx, pending)
    if (waiting === undefined) return NOTHING
    const { call, row, turn } = waiting
    yield* PendingRepo.put(tx, {
      ...pending,
      state: "released",
      deadline: null,
      passed: { ...pending.passed, ...release.passed }
    })
    const outcome = yield* advance(tx, bell, turn, {
      parts: [{ ...row, part: { ...call, state: "requested" } }],
      facts: release.facts ?? [],
      actor: release.actor
    })
    tx.point("released", turn.sessionId)
    return outcome
  })

/** Everything a turn's calls waited for ends with it. Answers the events that say so, and the parts that show it. */
export const closeAll = (tx: Tx, turn: TurnRow, settlement: Omit<Settlement, "reply" | "alsoSettled">) =>
  Effect.gen(function* () {
    const facts: Array<Facts[number]> = []
    const parts: Array<PartRow> = []
    for (const pending of yield* PendingRepo.ofTurn(tx, turn.sessionId, turn.turnId)) {
      yield* PendingRepo.remove(tx, turn.sessionId, pending.callId)
      if (pending.state === "released") continue
      if (pending.kind === "permission") {
        yield* PermissionsRepo.settle(tx, pending.ref, { ...settlement, reply: "reject", alsoSettled: [] })
        facts.push(["approval.resolved", { requestId: pending.ref, reply: "reject", message: settlement.message }])
      }
      if (pending.kind === "question") {
        const rejected = yield* rejectQuestion(tx, turn, pending.ref)
        facts.push(...rejected.facts)
        parts.push(...rejected.parts)
      }
    }
    return { facts, parts }
  })

/** A question that nobody will answer. */
export const rejectQuestion = (tx: Tx, turn: TurnRow, questionId: string) =>
  Effect.gen(function* () {
    const row = yield* QuestionsRepo.find(tx, turn.sessionId, questionId)
    yield* QuestionsRepo.settle(tx, questionId, "rejected", undefined)
    const fact: Facts[number] = ["question.rejected", { questionId }]
    if (row === undefined) return { facts: [fact], parts: [] }
    const { n, question } = row
    const part: PartRow = {
      n,
      step: 0,
      open: false,
      part: {
        type: "question",
        partId: `p${n}`,
        questionId: question.questionId,
        questions: question.questions,
        state: "rejected"
      }
    }
    return { facts: [fact], parts: [part] }
  })
