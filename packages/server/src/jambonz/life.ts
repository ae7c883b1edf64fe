import type { SessionEnd } from "@harness/protocol/jambonz"
import { Effect } from "effect"
import { CommitRoom } from "../log/Commit.ts"
import { Detached } from "../loop/Detached.ts"
import { SessionsRepo } from "../sessions/SessionsRepo.ts"
import { Bell } from "../turns/Bell.ts"
import { markCancelled } from "../turns/settle.ts"
import { TurnsRepo } from "../turns/TurnsRepo.ts"
import { VoiceRepo } from "../voice/VoiceRepo.ts"
import { endedBy } from "./commands.ts"
import { showFacts } from "./facts.ts"
import { settleRequest } from "./requests.ts"
import type { Wire } from "./Speaker.ts"
import { CALLER, type Input, type Scene } from "./scene.ts"
import { wantSummary } from "./summary.ts"
import { askAgain } from "./turns.ts"

/** A call without a socket is waited for this long. */
export const RESUME_MILLIS = 5_000

/** Tools of ours that run when a call ends have this long. */
const TOOLS_END_WITHIN = "30 seconds"

/** Stops what the call was being answered with. Tools that run go on, and what comes of them is kept. */
const stopTurn = (scene: Scene, reason: string) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const bell = yield* Bell
    const { sessionId } = scene
    yield* room.commit<void, never>((tx) =>
      Effect.gen(function* () {
        const session = yield* SessionsRepo.find(tx, sessionId)
        if (session === undefined || session.activeTurn === null) return
        const turn = yield* TurnsRepo.find(tx, sessionId, session.activeTurn)
        if (turn === undefined || turn.settledAt !== null) return
        yield* markCancelled(tx, bell, turn, { stopReason: "cancelled", reason, detach: true }, CALLER)
      })
    )
  })

/** What the call's end says of it stays on the session. */
const keepEnd = (scene: Scene, end: { readonly reason: string; readonly duration_ms?: number | undefined }) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const { sessionId } = scene
    yield* room.commit<void, never>((tx) =>
      Effect.gen(function* () {
        yield* VoiceRepo.endCall(tx, sessionId)
        if (scene.voice.summary) yield* wantSummary(tx, sessionId)
        yield* showFacts(tx, sessionId, {
          end: { reason: end.reason, ...(end.duration_ms === undefined ? {} : { duration_ms: end.duration_ms }) }
        })
      })
    )
  })

const finish = (scene: Scene, end: { readonly reason: string; readonly duration_ms?: number | undefined }) =>
  Effect.gen(function* () {
    scene.ended = true
    const detached = yield* Detached
    yield* stopTurn(scene, end.reason)
    yield* detached.endWithin(scene.sessionId, TOOLS_END_WITHIN)
    for (const row of [...scene.requests.values()]) {
      yield* settleRequest(scene, row, {
        content: "The call ended before a result came.",
        isError: true,
        code: "call.ended"
      })
    }
    yield* keepEnd(scene, end)
  })

/** `session:end`: the call is over. */
export const ended = (scene: Scene, { duration_ms, reason }: SessionEnd) =>
  Effect.zipRight(
    endedBy(scene, reason),
    finish(scene, { reason: reason ?? "unknown", ...(duration_ms === undefined ? {} : { duration_ms }) })
  )

/** A socket is gone without a word. The call may come back on another. */
export const gone = (scene: Scene, wire: Wire) =>
  Effect.sync(() => {
    scene.speaker.detach(wire)
    if (!scene.speaker.attached) scene.timers.set("resume", RESUME_MILLIS)
  })

/** It did not come back. */
export const giveUp = (scene: Scene) =>
  scene.speaker.attached ? Effect.void : finish(scene, { reason: "connection_lost" })

/** The call has a socket: what may not have arrived is said again; a turn whose start was lost is asked for again. */
export const goOn = (scene: Scene, { lastTurn, wire }: Extract<Input, { readonly _tag: "Attached" }>) =>
  Effect.gen(function* () {
    scene.timers.clear("resume")
    scene.speaker.attach(wire)
    if (lastTurn !== undefined && lastTurn > scene.lastTurn) yield* askAgain(scene, lastTurn)
  })
