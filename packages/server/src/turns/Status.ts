import { MAX_STEPS_DEFAULT, type SessionId, type SessionStatusResponseValue, type TurnId } from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import { Sessions } from "../sessions/Sessions.ts"
import type { SessionRow } from "../sessions/SessionsRepo.ts"
import { Turns } from "./Turns.ts"
import { optionsOf, TurnsRepo } from "./TurnsRepo.ts"

const make = Effect.gen(function* () {
  const sessions = yield* Sessions
  const turns = yield* Turns
  const repo = yield* TurnsRepo

  const activeOrLast = (session: SessionRow) =>
    session.activeTurn === null ? repo.last(session.sessionId) : repo.find(session.sessionId, session.activeTurn)

  const get = Effect.fn("Status.get")(function* (sessionId: SessionId) {
    const session = yield* sessions.row(sessionId)
    const { state } = yield* sessions.show(session)
    const row = yield* activeOrLast(session)
    const last = yield* repo.last(sessionId)
    const turn = row === undefined ? undefined : yield* turns.whole(row)
    const active: TurnId | null = session.activeTurn
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
      children: [],
      waitingOn: []
    }
    return status
  })

  return { get }
})

/** What a session is doing, at a glance. */
export class Status extends Context.Tag("@harness/server/Status")<Status, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(Status, make)
}
