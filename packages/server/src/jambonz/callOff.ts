import type { CallResult, TurnId } from "@harness/protocol"
import { Effect } from "effect"
import { CommitRoom } from "../log/Commit.ts"
import { errorResult } from "../tools/results.ts"
import { Bell } from "../turns/Bell.ts"
import { PendingRepo } from "../turns/PendingRepo.ts"
import { deliverCall } from "../turns/pending.ts"
import { markCancelled, settle } from "../turns/settle.ts"
import { TurnsRepo } from "../turns/TurnsRepo.ts"
import { TOOL_PREFIX } from "../voice/applicationTools.ts"
import { toolVoice } from "../voice/voiceOf.ts"
import type { Wanted } from "./controls.ts"
import { detach, drop } from "./requests.ts"
import { CALLER, mintId, type Scene } from "./scene.ts"

const calledOff = errorResult("call.called_off", "Not done, the caller spoke.")
const cancelled = errorResult("call.cancelled", "Cancelled: the caller spoke while this was running.")

/** Says the command of a goodbye that no call asked for. */
export const leaveUnasked = (scene: Scene, command: Wanted) =>
  Effect.map(mintId, (commandId) => scene.speaker.send(command(commandId)))

/** Tools whose agent wants them ended when the caller speaks. */
const endingTools = (scene: Scene, turnId: TurnId) =>
  [...scene.requests.values()].filter(
    ({ kind, name, state, turnId: asking }) =>
      kind === "tool" &&
      state === "open" &&
      asking === turnId &&
      toolVoice(scene.voice, name.slice(TOOL_PREFIX.length)).onInterrupt === "cancel"
  )

/**
 * The caller speaks into a turn: its parting is off, and so are the tools that are not to outlive an interruption. Their
 * results and the turn's end are one commit: nothing is said in between.
 */
export const callOff = (scene: Scene, turnId: TurnId) =>
  Effect.gen(function* () {
    const { control, sessionId } = scene
    const results: Array<readonly [callId: string, result: CallResult]> = []
    const { parting } = control
    if (parting?.turnId === turnId) {
      control.parting = undefined
      scene.timers.clear("parting")
      if (parting.callId !== undefined) results.push([parting.callId, calledOff])
      else if (parting.isFinal) yield* leaveUnasked(scene, parting.command)
      else control.isEnding = false
    }
    const ending = endingTools(scene, turnId)
    for (const { callId } of ending) results.push([callId, cancelled])
    if (results.length === 0) return
    const room = yield* CommitRoom
    const bell = yield* Bell
    yield* room.commit<void, never>((tx) =>
      Effect.gen(function* () {
        const before = yield* TurnsRepo.find(tx, sessionId, turnId)
        if (before === undefined || before.settledAt !== null) return
        for (const [callId, result] of results) {
          const pending = yield* PendingRepo.find(tx, sessionId, callId)
          if (pending?.turnId === turnId)
            yield* deliverCall(tx, bell, pending, { state: "rejected", result, actor: CALLER })
        }
        const turn = yield* TurnsRepo.find(tx, sessionId, turnId)
        if (turn === undefined) return
        const mark = { stopReason: "interrupted", detach: true } as const
        // One that has a runner is ended by it.
        if (before.state === "running") return yield* Effect.asVoid(markCancelled(tx, bell, turn, mark, CALLER))
        const { stopReason } = mark
        yield* settle(tx, bell, turn, { state: "cancelled", stopReason, detached: () => true, actor: CALLER })
        tx.after(() => bell.wake(sessionId))
      })
    )
    for (const row of ending) yield* drop(scene, row)
    yield* detach(scene, turnId)
  })

/** The same for the turn of a reply, by its name. */
export const callOffReply = (scene: Scene, replyId: string) => {
  const reply = scene.speaker.byId(replyId)
  return reply === undefined ? Effect.void : callOff(scene, reply.turnId)
}

/** The same for a turn of the call, by its number. */
export const callOffTurn = (scene: Scene, turnNumber: number) => {
  const reply = scene.speaker.all.find((one) => one.turnNumber === turnNumber)
  return reply === undefined ? Effect.void : callOff(scene, reply.turnId)
}

/** The caller begins a turn of their own: nothing that was about to happen happens, and silences are counted anew. */
export const callerActs = (scene: Scene) =>
  Effect.gen(function* () {
    const { control, reply } = scene
    control.isAway = false
    control.streakBefore = 0
    if (control.parting !== undefined) yield* callOff(scene, control.parting.turnId)
    if (reply !== undefined && !reply.over) yield* callOff(scene, reply.turnId)
  })
