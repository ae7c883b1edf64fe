import type * as SqlError from "@effect/sql/SqlError"
import type { CallResult, Part, ToolTurnPart, TurnStep, Usage } from "@harness/protocol"
import { Context, Effect, Layer, Option } from "effect"
import { HistoryRepo } from "../history/HistoryRepo.ts"
import { enqueueTurnEvent } from "../hooks/outbox.ts"
import { CommitRoom, type Tx } from "../log/Commit.ts"
import { Hub } from "../log/Hub.ts"
import { living } from "../sessions/Sessions.ts"
import type { SessionRow } from "../sessions/SessionsRepo.ts"
import { addUsage } from "../usage/usage.ts"
import { Bell, type BellListener } from "./Bell.ts"
import { PendingRepo } from "./PendingRepo.ts"
import { type Stop, stopCall } from "./pending.ts"
import { record } from "./record.ts"
import { recoverTurn } from "./recover.ts"
import { type Ending, settle } from "./settle.ts"
import { growingParts, takeSteers } from "./steer.ts"
import {
  cancelOf,
  isSpent,
  type Outcome,
  outcomeOf,
  type PartRow,
  promptOf,
  type TurnRow,
  TurnsRepo,
  toSnapshot
} from "./TurnsRepo.ts"

/** A turn taken up by a runner. */
export interface Held {
  readonly turn: TurnRow
  readonly session: SessionRow
  readonly parts: ReadonlyArray<PartRow>
}

/** A call as the answer planned it, with the part that shows it. */
export interface PlannedCall {
  readonly row: PartRow
  readonly call: ToolTurnPart
  /** The same as the history keeps it. */
  readonly content: Part
  readonly external: boolean
}

/** A whole answer of the model. */
export interface Answer<P extends PlannedCall> {
  readonly step: TurnStep
  /** What the step said, in order, closed. */
  readonly parts: ReadonlyArray<PartRow>
  /** Its calls, each once its part has a number: given out in the commit, in the order of the log. */
  readonly calls: ReadonlyArray<(n: number) => P>
  /** What it said as the history keeps it. */
  readonly content: ReadonlyArray<Part>
  readonly provider: string
  readonly usage: Usage
  /** What people are told beside it. */
  readonly notice: Notice | undefined
  /** How the turn ends when the answer asks for no call; undefined: it goes on. */
  readonly ending: Ending | undefined
}

/** What a turn tells people that its model did not say. */
export interface Notice {
  readonly code: string
  readonly message: string
}

/** Why a runner has nothing more to do with its turn: it was settled, deleted, or taken up again by somebody else. */
export const GONE = "gone"
type Gone = typeof GONE

const same = (turn: TurnRow, held: TurnRow): boolean => turn.state === "running" && turn.attempt === held.attempt

const make = Effect.gen(function* () {
  const room = yield* CommitRoom
  const hub = yield* Hub
  const bell = yield* Bell
  const repo = yield* TurnsRepo

  /** A command on a turn that must still be the runner's own. `point`: which ● it is. */
  const own = <A>(
    held: TurnRow,
    point: string,
    command: (tx: Tx, turn: TurnRow) => Effect.Effect<A, SqlError.SqlError>
  ) =>
    room.commit<A | Gone, never>((tx) =>
      Effect.flatMap(TurnsRepo.find(tx, held.sessionId, held.turnId), (turn) =>
        turn === undefined || !same(turn, held)
          ? Effect.succeed<A | Gone>(GONE)
          : Effect.tap(command(tx, turn), () => tx.point(point, held.sessionId))
      )
    )

  const enter = (turn: TurnRow, parts: ReadonlyArray<PartRow>) => {
    const last = parts.reduce((n, part) => Math.max(n, part.n), 0)
    const shown = toSnapshot(
      turn,
      parts.map(({ part }) => part)
    )
    // At once, not after the batch: a steer in the same batch takes its part's number here, and its row is folded in.
    hub.live.enter(shown, last + 1)
  }

  const leaveAll = (sessionId: string) => {
    for (const { turnId } of hub.live.ofSession(sessionId)) hub.live.leave(sessionId, turnId)
  }

  /** Takes up the session's next turn: the one under way, or the head of the queue. */
  const takeUp = Effect.fn("Progress.takeUp")((sessionId: string) =>
    room
      .commit<Option.Option<Held>, never>((tx) =>
        Effect.gen(function* () {
          const session = yield* Effect.option(living(tx, sessionId))
          if (Option.isNone(session)) return Option.none()
          const { activeTurn, activeState } = session.value
          if (activeTurn !== null && activeState !== "running") return Option.none()
          const row =
            activeTurn === null
              ? yield* TurnsRepo.head(tx, sessionId)
              : yield* TurnsRepo.find(tx, sessionId, activeTurn)
          if (row === undefined) return Option.none()
          const turn = activeTurn === null ? yield* start(tx, row) : row
          const parts = yield* TurnsRepo.parts(tx.query, sessionId, turn.turnId)
          enter(turn, parts)
          tx.point(activeTurn === null ? "started" : "taken-up", sessionId)
          return Option.some({ turn, session: session.value, parts })
        })
      )
      .pipe(Effect.onError(() => Effect.sync(() => leaveAll(sessionId))))
  )

  /** After a crash, before anybody is served: what ran is closed, or made ready to go on. */
  const recover = Effect.fn("Progress.recover")((sessionId: string) =>
    room.commit<void, never>((tx) =>
      Effect.gen(function* () {
        const session = yield* Effect.option(living(tx, sessionId))
        if (Option.isNone(session) || session.value.activeTurn === null || session.value.activeState !== "running")
          return
        const turn = yield* TurnsRepo.find(tx, sessionId, session.value.activeTurn)
        if (turn !== undefined) yield* recoverTurn(tx, bell, turn)
        tx.point("recovered", sessionId)
      })
    )
  )

  const start = (tx: Tx, row: TurnRow) =>
    Effect.gen(function* () {
      const prompt = promptOf(row)
      yield* HistoryRepo.appendEntry(tx, {
        sessionId: row.sessionId,
        turnId: row.turnId,
        role: prompt.role,
        body: { content: prompt.content, custom: prompt.custom }
      })
      const started = yield* record(tx, {
        from: row,
        turn: { ...row, state: "running", startedAt: tx.now },
        facts: [["started", { model: row.model, agent: row.agent, mode: row.mode }]]
      })
      yield* enqueueTurnEvent(tx, started, "turn.started")
      return started
    })

  const noticeOf = (turn: TurnRow, notice: Notice | undefined): ReadonlyArray<PartRow> => {
    if (notice === undefined) return []
    const n = hub.live.takePart(turn.sessionId, turn.turnId) ?? 1
    return [{ n, step: 0, open: false, part: { type: "notice", partId: `p${n}`, ...notice } }]
  }

  /** Keeps the newest tails of growing parts, without an event. */
  /** `beside`: what is kept with the text. */
  const checkpoint = (
    held: TurnRow,
    tails: ReadonlyArray<Tail>,
    beside: (tx: Tx) => Effect.Effect<void, SqlError.SqlError> = () => Effect.void
  ) =>
    own(held, "checkpoint", (tx, turn) =>
      Effect.zipRight(
        Effect.forEach(
          tails,
          ({ row, at, text }) => TurnsRepo.growPart(tx, turn.sessionId, turn.turnId, row, at, text),
          { discard: true }
        ),
        beside(tx)
      )
    )

  /** A turn at its last generation takes none: nobody would answer them, and a prompt goes on as a turn of its own. */
  const steers = (held: TurnRow) =>
    own(held, "steers", (tx, turn) => (isSpent(turn) ? Effect.succeed(turn) : takeSteers(tx, turn)))

  /**
   * The whole answer, its usage and its planned calls, before any call is judged. One without calls ends the turn in the
   * same commit: a crash leaves no answer that would be asked for again.
   */
  const answer = <P extends PlannedCall>(held: TurnRow, said: Answer<P>) =>
    own(held, "answer", (tx, turn) =>
      Effect.gen(function* () {
        const calls = said.calls.map((at) => at(hub.live.takePart(turn.sessionId, turn.turnId) ?? 1))
        const content = [...said.content, ...calls.map((planned) => planned.content)]
        const before = outcomeOf(turn)
        const outcome: Outcome = {
          ...before,
          steps: [...before.steps, said.step],
          usage: addUsage(before.usage, said.usage)
        }
        if (content.length > 0) {
          yield* HistoryRepo.appendEntry(tx, {
            sessionId: turn.sessionId,
            turnId: turn.turnId,
            role: "assistant",
            provider: said.provider,
            body: { content }
          })
        }
        const callIds = calls.map(({ call }) => call.callId)
        if (callIds.length > 0) yield* HistoryRepo.reserveResults(tx, turn.sessionId, turn.turnId, callIds)
        const answered = yield* record(tx, {
          from: turn,
          turn: { ...turn, outcome: JSON.stringify(outcome) },
          parts: [...said.parts, ...calls.map(({ row }) => row), ...noticeOf(turn, said.notice)],
          facts: [
            ["usage", { usage: outcome.usage }],
            ...calls.map(
              ({ call, external }) =>
                [
                  "tool.requested",
                  { call: { callId: call.callId, name: call.name, arguments: call.arguments, external } }
                ] as const
            )
          ]
        })
        return {
          calls,
          ended:
            calls.length === 0 && said.ending !== undefined ? yield* end(tx, bell, answered, said.ending) : undefined
        }
      })
    )

  const callStarted = (held: TurnRow, row: PartRow, call: ToolTurnPart) =>
    own(held, "call-started", (tx, turn) =>
      Effect.gen(function* () {
        const part: ToolTurnPart = { ...call, state: "running", startedAt: tx.at }
        yield* PendingRepo.remove(tx, turn.sessionId, call.callId)
        const started: PartRow = { ...row, part }
        yield* record(tx, { from: turn, turn, parts: [started] })
        return { row: started, call: part }
      })
    )

  /** A call's one result, with its event and its place in the history, together. */
  const callSettled = (
    held: TurnRow,
    row: PartRow,
    call: ToolTurnPart,
    state: "completed" | "failed" | "rejected",
    result: CallResult
  ) =>
    own(held, "call-settled", (tx, turn) =>
      Effect.gen(function* () {
        const { callId } = call
        const part: ToolTurnPart = { ...call, state, result, settledAt: tx.at }
        yield* PendingRepo.remove(tx, turn.sessionId, callId)
        yield* HistoryRepo.fillResult(tx, turn.sessionId, callId, [
          { type: "result", callId, content: result.content, isError: result.isError }
        ])
        yield* record(tx, {
          from: turn,
          turn,
          parts: [{ ...row, open: false, part }],
          facts: [["tool.completed", { callId, state, result }]]
        })
      })
    )

  /** A call waits for something outside; the others go on. */
  const stopped = (held: TurnRow, stop: Stop) =>
    own(held, `waits-${stop.waiting.kind}`, (tx, turn) => stopCall(tx, turn, stop))

  /**
   * What is left of a step when nothing runs any more: calls that may go on now, a turn that waits (and has no fiber from
   * here on), or nothing.
   */
  const park = (held: TurnRow) =>
    own(held, "step-done", (tx, turn) =>
      Effect.gen(function* () {
        const pending = yield* PendingRepo.ofTurn(tx, turn.sessionId, turn.turnId)
        const open = yield* TurnsRepo.openParts(tx, turn.sessionId, turn.turnId)
        const ready = open.filter(({ part }) => part.type === "tool" && part.state === "requested")
        if (ready.length > 0) return { _tag: "Ready", open: ready, pending } as const
        if (
          cancelOf(turn) !== undefined ||
          !open.some(({ part }) => part.type === "tool" && part.state === "waiting")
        ) {
          return { _tag: "Clear" } as const
        }
        yield* record(tx, { from: turn, turn: { ...turn, state: "waiting" } })
        tx.after(() => hub.live.leave(turn.sessionId, turn.turnId))
        tx.point("parked", turn.sessionId)
        return { _tag: "Parked" } as const
      })
    )

  const notice = (held: TurnRow, code: string, message: string) =>
    own(held, "notice", (tx, turn) =>
      Effect.gen(function* () {
        const growing = yield* growingParts(tx, hub, turn)
        return yield* record(tx, { from: turn, turn, parts: [...growing, ...noticeOf(turn, { code, message })] })
      })
    )

  /** As `end` says, on the runner's own turn, with what people are told of it. */
  const finish = (held: TurnRow, ending: Ending, notice?: Notice) =>
    own(held, "end", (tx, turn) => end(tx, bell, turn, { ...ending, added: noticeOf(turn, notice) }))

  /** A turn's parts as they stand. */
  const parts = (held: TurnRow) => repo.parts(held.sessionId, held.turnId)

  return { parts, takeUp, recover, checkpoint, steers, answer, callStarted, callSettled, stopped, park, notice, finish }
})

/** Ends the turn. A steer accepted meanwhile keeps a turn that would have ended by itself going: `steered`. */
const end = (tx: Tx, bell: BellListener, turn: TurnRow, ending: Ending) =>
  Effect.gen(function* () {
    const asked = cancelOf(turn)
    if (asked !== undefined) {
      const { detach, stopReason } = asked
      const grown = ending.grown ?? []
      const detached = detach === true ? (ending.detaches ?? (() => true)) : undefined
      return yield* settle(tx, bell, turn, { state: "cancelled", stopReason, grown, detached })
    }
    if (ending.stopReason === "end" && !isSpent(turn)) {
      const pending = yield* TurnsRepo.pendingSteers(tx.query, turn.sessionId, turn.turnId)
      if (pending.length > 0) return "steered" as const
    }
    return yield* settle(tx, bell, turn, ending)
  })

/** What grew since the last checkpoint. `at`: the offset it begins at. */
export interface Tail {
  readonly row: PartRow
  readonly at: number
  readonly text: string
}

/** A runner's commits: each ● of a turn's way. */
export class Progress extends Context.Tag("@harness/server/Progress")<Progress, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(Progress, make)
}
