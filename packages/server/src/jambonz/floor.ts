import type { Reply } from "./Speaker.ts"
import type { Scene } from "./scene.ts"

/** A turn of the call begins: until its reply is heard, what nobody asked for waits. */
export const takeFloor = ({ control }: Scene): void => {
  control.floorFreeAt = Number.POSITIVE_INFINITY
}

/** A reply is no longer being said. The floor of a turn is free with its own. */
export const freeFloor = ({ control, lastTurn }: Scene, reply: Reply | undefined, now: number): void => {
  if (reply === undefined) return
  if (reply.turnNumber === lastTurn || (reply.turnNumber === undefined && Number.isFinite(control.floorFreeAt))) {
    control.floorFreeAt = now
  }
}

/** For how long a reply that nobody asked for can have been said: it waits for the floor, unless it takes it. */
export const floorMillis = ({ callerSpeaks, control, utterance }: Scene, reply: Reply, now: number): number => {
  const { firstChunkAt, interrupts, uninterruptible } = reply
  if (firstChunkAt === undefined) return 0
  if (callerSpeaks && utterance !== undefined && utterance.since <= firstChunkAt) return 0
  const begins = interrupts || uninterruptible ? firstChunkAt : Math.max(firstChunkAt, control.floorFreeAt)
  return Math.max(0, now - begins)
}
