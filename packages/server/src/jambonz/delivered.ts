import { Effect } from "effect"
import { CommitRoom, type Tx } from "../log/Commit.ts"
import { Hub } from "../log/Hub.ts"
import { growingParts } from "../turns/steer.ts"
import { TurnsRepo } from "../turns/TurnsRepo.ts"
import { VoiceRepo } from "../voice/VoiceRepo.ts"
import type { Reply } from "./Speaker.ts"
import type { Scene } from "./scene.ts"

/** A crash forgets at most so much of what has arrived, and that is said again. */
export const KEEP_MILLIS = 250

/** What was heard is kept with it: the turn's own checkpoint may be behind. */
const keepText = (tx: Tx, hub: typeof Hub.Service, { sessionId }: Scene, { turnId }: Reply) =>
  Effect.gen(function* () {
    const turn = yield* TurnsRepo.find(tx, sessionId, turnId)
    if (turn?.state !== "running") return
    const stored = new Map((yield* TurnsRepo.openParts(tx, sessionId, turnId)).map(({ n, part }) => [n, part]))
    for (const row of yield* growingParts(tx, hub, turn)) {
      const { part } = row
      if (part.type !== "text" && part.type !== "refusal") continue
      const before = stored.get(row.n)
      const at = before !== undefined && "text" in before ? before.text.length : 0
      if (part.text.length <= at) continue
      yield* TurnsRepo.growPart(tx, sessionId, turnId, { ...row, part: { ...part, text: "" } }, at, part.text.slice(at))
    }
  })

/** Keeps how far the call's replies have arrived: that much is not said again, also after a restart. */
export const keepDelivered = (scene: Scene) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const hub = yield* Hub
    const { sessionId, speaker } = scene
    const news = speaker.all
      .filter(({ delivered, kept }) => delivered > kept)
      .map((reply) => ({ reply, row: { replyId: reply.replyId, delivered: reply.delivered, lines: [...reply.lines] } }))
    if (news.length === 0) return
    yield* room.commit<void, never>((tx) =>
      Effect.gen(function* () {
        for (const { reply, row } of news) {
          if (!reply.over) yield* keepText(tx, hub, scene, reply)
          yield* VoiceRepo.keepDelivered(tx, sessionId, row)
        }
      })
    )
    for (const { reply, row } of news) reply.kept = row.delivered
  })
