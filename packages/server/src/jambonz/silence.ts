import type { Silence } from "@harness/protocol/jambonz"
import { Clock, Effect } from "effect"
import { CommitRoom } from "../log/Commit.ts"
import { type SessionRow, SessionsRepo } from "../sessions/SessionsRepo.ts"
import { lineOf } from "../voice/lines.ts"
import { speakingMillis } from "../voice/playout.ts"
import { sayGoodbye } from "./parting.ts"
import type { Reply } from "./Speaker.ts"
import type { Scene } from "./scene.ts"
import { beginUnasked } from "./unasked.ts"

/** A reply that must have been heard by now, although nobody said so. */
const GRACE_MILLIS = 5_000

const isUnheard = (reply: Reply, now: number): boolean => {
  if (reply.state === "held" || reply.state === "open") return true
  const until = (reply.firstChunkAt ?? reply.startedAt) + speakingMillis(reply.text) + GRACE_MILLIS
  return reply.state === "done" && reply.text.trim() !== "" && now < until
}

/** Whether there is something that the caller may be waiting for, or busy with. */
const isBusy = (scene: Scene, now: number): boolean => {
  const { callerSpeaks, control, requests, speaker } = scene
  return (
    callerSpeaks ||
    control.isAway ||
    control.isEnding ||
    control.parting !== undefined ||
    control.keys !== "" ||
    requests.size > 0 ||
    speaker.all.some((reply) => isUnheard(reply, now))
  )
}

/** Whether a turn is open, or about to be. */
const isTurnOpen = ({ sessionId }: Scene) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const session = yield* room.commit<SessionRow | undefined, never>((tx) => SessionsRepo.find(tx, sessionId))
    return session !== undefined && (session.activeTurn !== null || session.queued > 0)
  })

/** Silences since the caller last did something: those before a key was pressed do not count. */
const streakOf = ({ control }: Scene, { streak = 1 }: Silence): number => {
  if (streak <= control.streakBefore) control.streakBefore = 0
  control.streak = streak
  return streak - control.streakBefore
}

/** `silence`: the caller is asked whether they are there; after some of them in a row the call ends. */
export const silent = (scene: Scene, event: Silence) =>
  Effect.gen(function* () {
    const { asking, language, voice } = scene
    const streak = streakOf(scene, event)
    if (isBusy(scene, yield* Clock.currentTimeMillis)) return
    // The turn that asked the caller something is open until they answer.
    if (asking === undefined && (yield* isTurnOpen(scene))) return
    const { seconds } = event
    const said =
      seconds === undefined ? "The caller has said nothing." : `The caller has said nothing for ${seconds} s.`
    if (streak >= voice.goodbyeAfter) {
      return yield* sayGoodbye(scene, {
        why: said,
        reason: "silence",
        interrupts: asking !== undefined,
        isFinal: false
      })
    }
    // The turn that asked is still open: nothing can be said beside it.
    if (asking !== undefined) return
    yield* beginUnasked(scene, {
      kind: "silence",
      content: said,
      details: { streak, ...(seconds === undefined ? {} : { seconds }) },
      line: lineOf(voice.lines.reprompt, language),
      whenBusy: "queue",
      manner: { uninterruptible: voice.uninterruptible.has("reprompt") }
    })
  })
