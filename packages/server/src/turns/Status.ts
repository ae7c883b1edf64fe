import { MAX_STEPS_DEFAULT, SessionId, type SessionStatusResponseValue, TurnId } from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import { Sessions } from "../sessions/Sessions.ts"
import type { SessionRow } from "../sessions/SessionsRepo.ts"
import { derivedId } from "./envelope.ts"
import { type Pending, PendingRepo } from "./PendingRepo.ts"
import { Turns } from "./Turns.ts"
import { optionsOf, TurnsRepo } from "./TurnsRepo.ts"

/** The turn a waiting call's sub-agent runs. */
const childOf = ({ callId, ref, sessionId, turnId }: Pending) => ({
  callId,
  sessionId: SessionId.make(ref),
  turnId: TurnId.make(derivedId("task", sessionId, turnId, callId))
})

const make = Effect.gen(function* () {
  const sessions = yield* Sessions
  const turns = yield* Turns
  const repo = yield* TurnsRepo
  const pendingCalls = yield* PendingRepo

  const activeOrLast = (session: SessionRow) =>
    session.activeTurn === null ? repo.last(session.sessionId) : repo.find(session.sessionId, session.activeTurn)

  const get = Effect.fn("Status.get")(function* (sessionId: SessionId) {
    const session = yield* sessions.row(sessionId)
    const { state } = yield* sessions.show(session)
    const row = yield* activeOrLast(session)
    const last = yield* repo.last(sessionId)
    const turn = row === undefined ? undefined : yield* turns.whole(row)
    const active = session.activeTurn
    const pending = active === null ? [] : yield* pendingCalls.ofTurn(sessionId, active)
    const waiting = pending.filter((call) => call.state === "open")
    const status: SessionStatusResponseValue = {
      state,
      ...(active === null ? {} : { activeTurnId: active }),
      ...(last === undefined ? {} : { lastTurnId: last.turnId }),
      queued: session.queued,
      depth: session.depth,
      step: turn?.steps.length ?? 0,
      maxSteps: (row === undefined ? undefined : optionsOf(row).maxSteps) ?? MAX_STEPS_DEFAULT,
      turnCount: session.turns,
      pendingCalls: (turn?.parts ?? []).flatMap((part) =>
        part.type === "tool" && part.result === undefined ? [part.callId] : []
      ),
      children: waiting.filter(({ kind }) => kind === "child").map(childOf),
      waitingOn: waiting.map(({ callId, kind, ref }) => ({ kind, id: ref === "" ? callId : ref })),
      ...(turn?.result === undefined ? {} : { result: turn.result }),
      ...(turn?.resultError === undefined ? {} : { resultError: turn.resultError })
    }
    return status
  })

  return { get }
})

/** What a session is doing, at a glance. */
export class Status extends Context.Tag("@harness/server/Status")<Status, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(Status, make)
}
