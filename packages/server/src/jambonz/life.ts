import { CLOSE_OVER, CLOSE_POLICY, type SessionEnd } from "@harness/protocol/jambonz"
import { Clock, Effect } from "effect"
import { CommitRoom, type Tx } from "../log/Commit.ts"
import { Beside } from "../loop/Beside.ts"
import { Detached } from "../loop/Detached.ts"
import { SessionsRepo } from "../sessions/SessionsRepo.ts"
import { Bell } from "../turns/Bell.ts"
import { markCancelled } from "../turns/settle.ts"
import { Turns } from "../turns/Turns.ts"
import { type CancelMark, cancelOf, type TurnRow, TurnsRepo } from "../turns/TurnsRepo.ts"
import { VoiceRepo } from "../voice/VoiceRepo.ts"
import { endedBy } from "./commands.ts"
import { keepDelivered } from "./delivered.ts"
import { showFacts } from "./facts.ts"
import { hearTheRest } from "./hearing.ts"
import { Patience } from "./Patience.ts"
import { drop } from "./requests.ts"
import type { Wire } from "./Speaker.ts"
import { CALLER, type Input, type Scene } from "./scene.ts"
import { wantSummary } from "./summary.ts"
import { askAgain, supersede } from "./turns.ts"

/** A tool that runs when the call ends may end by itself. */
const isAtWork = (tx: Tx, turn: TurnRow) =>
  Effect.map(TurnsRepo.openParts(tx, turn.sessionId, turn.turnId), (open) =>
    open.some(({ part }) => part.type === "tool" && part.state === "running")
  )

/** Stops what the call was being answered with; answers the turn whose tools still run. */
const stopTurn = (scene: Scene, reason: string) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const bell = yield* Bell
    const { sessionId } = scene
    return yield* room.commit<TurnRow | undefined, never>((tx) =>
      Effect.gen(function* () {
        const session = yield* SessionsRepo.find(tx, sessionId)
        if (session === undefined || session.activeTurn === null) return undefined
        const turn = yield* TurnsRepo.find(tx, sessionId, session.activeTurn)
        if (turn === undefined || turn.settledAt !== null) return undefined
        const mark: CancelMark = { stopReason: "cancelled", reason }
        if (turn.state !== "running" || cancelOf(turn) !== undefined || !(yield* isAtWork(tx, turn))) {
          yield* markCancelled(tx, bell, turn, mark, CALLER)
          return undefined
        }
        // It ends before its next generation.
        yield* TurnsRepo.update(tx, { ...turn, cancel: JSON.stringify(mark) })
        return turn
      })
    )
  })

/** Tools get a while to end by themselves. */
const awaitTools = ({ sessionId, turnId }: TurnRow) =>
  Effect.gen(function* () {
    const turns = yield* Turns
    const bell = yield* Bell
    const { end } = yield* Patience
    yield* turns.awaitTerminal(sessionId, turnId).pipe(
      Effect.timeout(end),
      Effect.catchAll(() => Effect.sync(() => bell.stop(sessionId, turnId)))
    )
  })

/** What the call's end says of it stays on the session. */
const keepEnd = (scene: Scene, end: { readonly reason: string; readonly duration_ms?: number | undefined }) =>
  Effect.flatMap(CommitRoom, (room) =>
    room.commit<void, never>((tx) =>
      Effect.gen(function* () {
        const { sessionId } = scene
        yield* VoiceRepo.endCall(tx, sessionId)
        if (scene.voice.summary) yield* wantSummary(tx, sessionId)
        yield* showFacts(tx, sessionId, {
          end: { reason: end.reason, ...(end.duration_ms === undefined ? {} : { duration_ms: end.duration_ms }) }
        })
      })
    )
  )

const finish = (scene: Scene, end: { readonly reason: string; readonly duration_ms?: number | undefined }) =>
  Effect.gen(function* () {
    scene.ended = true
    const endedAt = yield* Clock.currentTimeMillis
    const detached = yield* Detached
    const beside = yield* Beside
    yield* keepEnd(scene, end)
    beside.forget(scene.sessionId)
    const busy = yield* stopTurn(scene, end.reason)
    // Their calls have ended with the turn; who asked for one that was to come later is gone.
    for (const row of [...scene.requests.values()]) yield* drop(scene, row)
    scene.speaker.leave(CLOSE_OVER, "the call is over")
    yield* detached.endWithin(scene.sessionId, (yield* Patience).end)
    if (busy !== undefined) yield* awaitTools(busy)
    yield* hearTheRest(scene, endedAt)
  })

/** The session was deleted, and so was everything that is known of the call. */
export const deleted = (scene: Scene) =>
  Effect.sync(() => {
    scene.ended = true
    scene.speaker.leave(CLOSE_POLICY, "the call's session was deleted")
  })

/** `session:end`: the call is over. */
export const ended = (scene: Scene, { duration_ms, reason }: SessionEnd) =>
  Effect.zipRight(
    endedBy(scene, reason),
    finish(scene, { reason: reason ?? "unknown", ...(duration_ms === undefined ? {} : { duration_ms }) })
  )

/** A socket is gone without a word. The call may come back on another. */
export const gone = (scene: Scene, wire: Wire) =>
  Effect.gen(function* () {
    scene.speaker.detach(wire)
    yield* keepDelivered(scene)
    if (scene.speaker.attached) return
    scene.timers.set("resume", (yield* Patience).resume)
    yield* Effect.logInfo("voice: a line was lost, and the call waits for another")
  })

/** It did not come back. */
export const giveUp = (scene: Scene) =>
  scene.speaker.attached ? Effect.void : finish(scene, { reason: "connection_lost" })

/** The call has a socket: what may not have arrived is said again; a turn whose start was lost is asked for again. */
export const goOn = (scene: Scene, { lastTurn, wire }: Extract<Input, { readonly _tag: "Attached" }>) =>
  Effect.gen(function* () {
    scene.timers.clear("resume")
    const isLost = lastTurn !== undefined && lastTurn > scene.lastTurn
    // What was being said before that turn is of no use any more.
    if (isLost) for (const reply of scene.speaker.all) if (reply.turnNumber !== undefined) supersede(reply)
    scene.speaker.attach(wire)
    if (isLost) return yield* askAgain(scene, lastTurn)
    const { reply, voice } = scene
    if (reply?.state === "open" && reply.text.trim() === "") scene.timers.set("filler", voice.fillerAfterMillis)
  })
