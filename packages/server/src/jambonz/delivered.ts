import { Effect } from "effect"
import { CommitRoom } from "../log/Commit.ts"
import { VoiceRepo } from "../voice/VoiceRepo.ts"
import type { Scene } from "./scene.ts"

/** A crash forgets at most so much of what has arrived, and that is said again. */
export const KEEP_MILLIS = 250

/** Keeps how far the call's replies have arrived: that much is not said again, also after a restart. */
export const keepDelivered = (scene: Scene) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const { sessionId, speaker } = scene
    const news = speaker.all
      .filter(({ delivered, kept }) => delivered > kept)
      .map((reply) => ({ reply, row: { replyId: reply.replyId, delivered: reply.delivered, lines: [...reply.lines] } }))
    if (news.length === 0) return
    yield* room.commit<void, never>((tx) =>
      Effect.forEach(news, ({ row }) => VoiceRepo.keepDelivered(tx, sessionId, row), { discard: true })
    )
    for (const { reply, row } of news) reply.kept = row.delivered
  })
