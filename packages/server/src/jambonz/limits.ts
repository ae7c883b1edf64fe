import { Clock, Effect } from "effect"
import { SpendingRepo } from "../usage/SpendingRepo.ts"
import { sayGoodbye } from "./parting.ts"
import type { Scene } from "./scene.ts"

/** A call that is being handed on just now is looked at again. */
const AGAIN_MILLIS = 5_000

/** Sees to it that the call is ended when its time is over. */
export const limitTime = (scene: Scene) =>
  Effect.gen(function* () {
    const { callMillis } = scene.voice.limits
    if (callMillis === undefined) return
    const now = yield* Clock.currentTimeMillis
    scene.timers.set("limit", Math.max(0, scene.startedAt + callMillis - now))
  })

/** The call's time is over. */
export const timeOver = (scene: Scene) => {
  const { control, timers } = scene
  if (control.isAway || control.parting?.name === "transfer") {
    return Effect.sync(() => timers.set("limit", AGAIN_MILLIS))
  }
  if (control.parting?.callId !== undefined) return Effect.void
  control.isEnding = false
  return sayGoodbye(scene, {
    why: "The call has lasted as long as it may.",
    reason: "call too long",
    interrupts: true,
    isFinal: true
  })
}

/** Ends the call once it has cost what it may. */
export const limitCost = (scene: Scene) =>
  Effect.gen(function* () {
    const { callCostUsd } = scene.voice.limits
    if (callCostUsd === undefined || scene.control.isEnding) return
    const spending = yield* SpendingRepo
    const { costUsd } = yield* spending.ofSession(scene.sessionId, yield* Clock.currentTimeMillis)
    if (costUsd < callCostUsd) return
    yield* sayGoodbye(scene, {
      why: "The call has cost as much as it may.",
      reason: "call too costly",
      interrupts: false,
      isFinal: true
    })
  })
