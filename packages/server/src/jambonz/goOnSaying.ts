import type { TurnId } from "@harness/protocol"
import { Clock, Effect } from "effect"
import { HistoryRepo } from "../history/HistoryRepo.ts"
import { CommitRoom } from "../log/Commit.ts"
import { VoiceRepo } from "../voice/VoiceRepo.ts"
import { rowOf } from "./replies.ts"
import { mintId, newReply, type Scene } from "./scene.ts"
import { sayNext } from "./turns.ts"

/** A turn whose reply has ended says more: in another reply, which nobody asked for. */
export const goOnSaying = (scene: Scene, turnId: TurnId) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const { sessionId, speaker } = scene
    const before = speaker.byTurn(turnId)
    if (before !== undefined) {
      if (!before.over) return
      speaker.forget(before)
    }
    const reply = newReply({
      replyId: yield* mintId,
      turnId,
      turnNumber: undefined,
      model: scene.agent,
      startedAt: yield* Clock.currentTimeMillis,
      state: "held"
    })
    speaker.open(reply)
    yield* room.commit<void, never>((tx) =>
      Effect.gen(function* () {
        const { length } = yield* HistoryRepo.saidBy(tx, sessionId, turnId)
        yield* VoiceRepo.putReply(tx, rowOf(scene, reply, { firstEntry: length }))
      })
    )
    scene.waiting.push(reply)
    sayNext(scene)
  })
