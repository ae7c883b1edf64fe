import { Effect } from "effect"
import { CommitRoom } from "../log/Commit.ts"
import type { Live } from "../log/Live.ts"
import type { Arrival } from "../voice/Arrivals.ts"
import { VoiceRepo } from "../voice/VoiceRepo.ts"
import type { Scene } from "./scene.ts"

/** A crash forgets at most so much of what has arrived, and that is said again. */
export const KEEP_MILLIS = 250

/** How far the call's replies have arrived since that was last kept: so much is not said again, also after a restart. */
export const arrivalOf = ({ sessionId, speaker }: Scene): Arrival | undefined => {
  const news = speaker.all
    .filter(({ delivered, kept }) => delivered > kept)
    .map((reply) => ({ reply, row: { replyId: reply.replyId, delivered: reply.delivered, lines: [...reply.lines] } }))
  if (news.length === 0) return undefined
  return {
    write: (tx) => Effect.forEach(news, ({ row }) => VoiceRepo.keepDelivered(tx, sessionId, row), { discard: true }),
    kept: () => {
      for (const { reply, row } of news) reply.kept = row.delivered
    }
  }
}

/** Whether a turn of the session says something just now: then its checkpoints keep what has arrived, too. */
export const isKeptByTurn = (live: Live, sessionId: string): boolean =>
  live.ofSession(sessionId).some(({ turnId }) => live.growing(sessionId, turnId).length > 0)

export const keepDelivered = (scene: Scene) =>
  Effect.gen(function* () {
    const arrival = arrivalOf(scene)
    if (arrival === undefined) return
    const room = yield* CommitRoom
    yield* room.commit<void, never>(arrival.write)
    arrival.kept()
  })
