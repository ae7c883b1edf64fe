import type * as SqlError from "@effect/sql/SqlError"
import type { Actor, CallResult, Prompt, SafeFailure, StopReason, ToolTurnPart } from "@harness/protocol"
import { Effect } from "effect"
import { HistoryRepo } from "../history/HistoryRepo.ts"
import { enqueueTurnEvent } from "../hooks/outbox.ts"
import type { Tx } from "../log/Commit.ts"
import type { BellListener } from "./Bell.ts"
import { envelopeOf, resultTurnId } from "./envelope.ts"
import { lineRow } from "./lines.ts"
import { PendingRepo } from "./PendingRepo.ts"
import { closeAll, deliverCall } from "./pending.ts"
import { record } from "./record.ts"
import { type TaskRow, TasksRepo } from "./TasksRepo.ts"
import {
  type CancelMark,
  cancelOf,
  type Outcome,
  optionsOf,
  outcomeOf,
  type PartRow,
  type TurnRow,
  TurnsRepo
} from "./TurnsRepo.ts"

/** How a turn ends. */
export interface Ending {
  readonly state: "completed" | "failed" | "cancelled"
  readonly stopReason: StopReason
  readonly failure?: SafeFailure | undefined
  readonly finalText?: string | undefined
  readonly result?: unknown
  readonly resultError?: string | undefined
  readonly rejected?: unknown
  /** Growing parts as the runner holds them, fresher than the last checkpoint. */
  readonly grown?: ReadonlyArray<PartRow>
  /** Parts to add, for example a notice. */
  readonly added?: ReadonlyArray<PartRow>
  /** The process that ran the turn is gone: what the model is told of calls that were running then. */
  readonly interrupted?: CallResult
  /** Which tools' calls may go on at all; undefined: all. */
  readonly detaches?: ((name: string) => boolean) | undefined
  /** Calls under way of these tools go on without the turn. */
  readonly detached?: ((name: string) => boolean) | undefined
  readonly actor?: Actor | undefined
}

/** What the model is told of a call that its turn's end cut off. */
const cutOff = (started: boolean, ending: Ending): CallResult => {
  const code = started ? "call.cancelled" : "call.not_run"
  const why = ending.state === "failed" ? "the turn failed" : "the turn was cancelled"
  const text = started ? `Cancelled: ${why} while this call was running.` : `Not run: ${why} first.`
  return { content: [{ type: "text", text }], isError: true, details: { code } }
}

/** The code of such a result: the call goes on without its turn. */
export const DETACHED = "call.detached"

/** What the model is told of it then. */
const goesOn: CallResult = {
  content: [{ type: "text", text: "Still running: the user spoke meanwhile. What comes of it will be told." }],
  isError: false,
  details: { code: DETACHED }
}

const closeCall = (
  row: PartRow,
  part: ToolTurnPart,
  ending: Ending,
  at: string,
  outside: ReadonlySet<string>
): PartRow => {
  const started = part.state === "running"
  if (ending.detached?.(part.name) === true && (started || outside.has(part.callId))) {
    return { ...row, open: false, part: { ...part, state: "cancelled", result: goesOn, settledAt: at } }
  }
  const closed: Pick<ToolTurnPart, "state" | "result"> =
    started && ending.interrupted !== undefined
      ? { state: "interrupted", result: ending.interrupted }
      : { state: "cancelled", result: cutOff(started, ending) }
  return { ...row, open: false, part: { ...part, ...closed, settledAt: at } }
}

/** The answer a turn was giving when it was cut: stays in the history as far as it came. */
const keepPartialAnswer = (
  tx: Tx,
  turn: TurnRow,
  { state }: Ending,
  provider: string | undefined,
  texts: ReadonlyArray<PartRow>
) => {
  const content = texts.flatMap(({ part }) =>
    (part.type === "text" || part.type === "refusal") && part.text !== ""
      ? [{ type: "text" as const, text: part.text }]
      : []
  )
  if (content.length === 0) return Effect.void
  return HistoryRepo.appendEntry(tx, {
    sessionId: turn.sessionId,
    turnId: turn.turnId,
    role: "assistant",
    ...(provider === undefined ? {} : { provider }),
    body: { content, ...(state === "completed" ? {} : { interrupted: true }) }
  })
}

/** Steers nobody took: a prompt that joined becomes a turn of its own, a steer stays as it is. */
const releaseSteers = (tx: Tx, turn: TurnRow) =>
  Effect.gen(function* () {
    for (const steer of yield* TurnsRepo.pendingSteers(tx.query, turn.sessionId, turn.turnId)) {
      yield* TurnsRepo.settleSteer(tx, turn.sessionId, steer, "dropped")
      if (steer.alias === 0) continue
      const alias = yield* TurnsRepo.find(tx, turn.sessionId, steer.entryId)
      if (alias === undefined || alias.state !== "steered") continue
      yield* record(tx, { from: alias, turn: { ...alias, state: "queued", joined: null }, causedBy: turn.turnId })
    }
  })

/**
 * Ends a turn in one commit: what grew is closed, open calls get their one result, steers go on, what waited behind it takes
 * its place, and the one terminal row is written. The row must be the one in the database, and not terminal.
 */
export const settle = (
  tx: Tx,
  bell: BellListener,
  turn: TurnRow,
  ending: Ending
): Effect.Effect<TurnRow, SqlError.SqlError> =>
  Effect.gen(function* () {
    const held = yield* TurnsRepo.openParts(tx, turn.sessionId, turn.turnId)
    const grown = ending.grown ?? []
    const fresh = new Set(grown.map(({ n }) => n))
    const open = [...held.filter(({ n }) => !fresh.has(n)), ...grown].sort((a, b) => a.n - b.n)
    const outside = new Set(
      (yield* PendingRepo.ofTurn(tx, turn.sessionId, turn.turnId))
        .filter(({ kind, state }) => kind === "external" && state === "open")
        .map(({ callId }) => callId)
    )
    const parts = [...open, ...(ending.added ?? [])].map((row): PartRow => {
      if (row.part.type === "tool") return closeCall(row, row.part, ending, tx.at, outside)
      return { ...row, open: false, part: "done" in row.part ? { ...row.part, done: true } : row.part }
    })
    const before = outcomeOf(turn)
    const apology = ending.state === "failed" ? optionsOf(turn).apology : undefined
    const last = yield* TurnsRepo.lastPart(tx, turn.sessionId, turn.turnId)
    const lines = apology === undefined ? [] : [lineRow(1 + Math.max(last, ...parts.map(({ n }) => n)), apology)]
    const closed = yield* closeAll(tx, turn, { by: "turn", message: "the turn ended" })
    const calls = parts.flatMap(({ part }) =>
      part.type === "tool" && part.result !== undefined
        ? [{ callId: part.callId, state: part.state, result: part.result }]
        : []
    )
    for (const { callId, result } of calls) {
      yield* HistoryRepo.fillResult(tx, turn.sessionId, callId, [
        { type: "result", callId, content: result.content, isError: result.isError }
      ])
    }
    const provider = before.steps.at(-1)?.provider
    yield* keepPartialAnswer(tx, turn, ending, provider, open)
    const outcome: Outcome = {
      ...before,
      stopReason: ending.stopReason,
      failure: ending.failure,
      finalText: ending.finalText,
      result: ending.result,
      resultError: ending.resultError,
      rejected: ending.rejected
    }
    const settled = yield* record(tx, {
      from: turn,
      turn: { ...turn, state: ending.state, settledAt: tx.now, outcome: JSON.stringify(outcome) },
      parts: [...parts, ...closed.parts, ...lines],
      facts: [...closed.facts, ...calls.map((call) => ["tool.completed", call] as const)],
      actor: ending.actor
    })
    yield* enqueueTurnEvent(tx, settled, "turn.completed")
    if (turn.state === "running" || turn.state === "waiting") yield* HistoryRepo.placeBehind(tx, turn.sessionId)
    yield* releaseSteers(tx, settled)
    if (ending.state !== "completed") yield* endChildren(tx, bell, settled)
    yield* deliverTask(tx, bell, settled)
    tx.point("settled", turn.sessionId)
    return settled
  })

const everyTool = () => true

/** Asks an active turn to end: a running one by its runner, another here and now. Answers whether it is still stopping. */
export const markCancelled = (
  tx: Tx,
  bell: BellListener,
  turn: TurnRow,
  mark: CancelMark,
  actor?: Actor
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.gen(function* () {
    if (turn.state === "running") {
      if (cancelOf(turn) === undefined) yield* TurnsRepo.update(tx, { ...turn, cancel: JSON.stringify(mark) })
      tx.after(() => bell.stop(turn.sessionId, turn.turnId))
      tx.point("cancel-asked", turn.sessionId)
      return true
    }
    const { detach, stopReason } = mark
    yield* settle(tx, bell, turn, {
      state: "cancelled",
      stopReason,
      detached: detach === true ? everyTool : undefined,
      actor
    })
    tx.after(() => bell.wake(turn.sessionId))
    return false
  })

/** Sub-agents that a turn waited for end with it. */
const endChildren = (tx: Tx, bell: BellListener, turn: TurnRow) =>
  Effect.gen(function* () {
    for (const task of yield* TasksRepo.waitedFor(tx, turn.sessionId, turn.turnId)) {
      yield* TasksRepo.setState(tx, task, "delivered")
      const child = yield* TurnsRepo.find(tx, task.childSession, task.childTurn)
      if (child !== undefined && child.settledAt === null) {
        yield* markCancelled(tx, bell, child, { stopReason: "cancelled", reason: "its parent ended" })
      }
    }
  })

/** A sub-agent's turn has ended: whoever waits gets the result, once, in the same commit. */
const deliverTask = (tx: Tx, bell: BellListener, child: TurnRow) =>
  Effect.gen(function* () {
    const task = yield* TasksRepo.ofChild(tx, child.sessionId, child.turnId)
    if (task === undefined || task.state === "delivered") return
    yield* TasksRepo.setState(tx, task, "delivered")
    const envelope = envelopeOf(child)
    if (task.state === "background") return yield* submitResult(tx, bell, task, child, envelope)
    const pending = yield* PendingRepo.find(tx, task.parentSession, task.callId)
    if (pending === undefined) return
    yield* deliverCall(tx, bell, pending, { state: envelope.isError ? "failed" : "completed", result: envelope })
  })

/** A background result arrives as a queued turn of the parent, also when that has long ended. */
const submitResult = (tx: Tx, bell: BellListener, task: TaskRow, child: TurnRow, envelope: CallResult) =>
  Effect.gen(function* () {
    const spawning = yield* TurnsRepo.find(tx, task.parentSession, task.parentTurn)
    const [session] = yield* tx.query<{ seq: number }>(
      "SELECT next_seq AS seq FROM session WHERE session_id = ? AND deleted_at IS NULL",
      [task.parentSession]
    )
    if (session === undefined || spawning === undefined) return
    const prompt: Prompt = {
      role: "custom",
      content: [
        { type: "text", text: `The sub-agent ${task.childSession}, started in the background, has ended:` },
        ...envelope.content
      ],
      custom: { type: "task_result", details: envelope.details ?? {} }
    }
    yield* record(tx, {
      turn: {
        ...spawning,
        turnId: resultTurnId(child),
        seq: session.seq,
        rank: session.seq,
        state: "queued",
        revision: 0,
        attempt: 1,
        requestHash: "",
        prompt: JSON.stringify(prompt),
        options: "{}",
        outcome: JSON.stringify({ steps: [], usage: {} }),
        cancel: null,
        joined: null,
        actor: null,
        acceptedAt: tx.now,
        startedAt: null,
        settledAt: null
      },
      causedBy: child.turnId
    })
    tx.after(() => bell.wake(task.parentSession))
    tx.point("result-queued", task.parentSession)
  })
