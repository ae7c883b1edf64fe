import { Effect } from "effect"
import { speakingMillis, spokenAfter, VOICE_BEGINS_MILLIS } from "../voice/playout.ts"
import { cutUnheard } from "./hearing.ts"
import type { Reply } from "./Speaker.ts"
import type { Scene } from "./scene.ts"

/** So long the other side has to say what was heard of a reply that we cut off. */
const CUT_MILLIS = 1_000

/** A reply that is being said, and what of it has been. An estimate. */
interface Playing {
  readonly replyId: string
  readonly spoken: string
}

/** The reply that is playing now, of those in the order in which they are said; of each before it there was time to say all. */
const playingOf = (replies: ReadonlyArray<Reply>, now: number): Playing | undefined => {
  let free = 0
  for (const { firstChunkAt, replyId, state, text } of replies) {
    if (firstChunkAt === undefined || state === "held" || state === "muted") continue
    const begun = Math.max(firstChunkAt + VOICE_BEGINS_MILLIS, free)
    free = begun + speakingMillis(text)
    if (free > now) return { replyId, spoken: spokenAfter(text, Math.max(0, now - begun)) }
  }
  return undefined
}

/** One of our own replies begins that cuts off what plays: what was heard of that is guessed, unless we are told. */
export const cutsOff = (scene: Scene, by: Reply, now: number): void => {
  // Who speaks is not talked over, and what they interrupt we are told.
  if (scene.callerSpeaks) return
  const cut = playingOf(
    scene.speaker.all.filter((reply) => reply !== by),
    now
  )
  if (cut === undefined) return
  scene.control.cuts.set(cut.replyId, cut.spoken)
  scene.timers.set(`cut:${cut.replyId}`, CUT_MILLIS)
}

/** Nobody has said what was heard of a reply that we cut off. */
export const cutUntold = (scene: Scene, replyId: string) =>
  Effect.suspend(() => {
    const { cuts } = scene.control
    const spoken = cuts.get(replyId)
    cuts.delete(replyId)
    const reply = scene.speaker.byId(replyId)
    return spoken === undefined || reply === undefined ? Effect.void : cutUnheard(scene, reply, spoken)
  })
