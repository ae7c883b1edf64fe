import { Effect } from "effect"
import { CommitRoom } from "../log/Commit.ts"
import { Hub } from "../log/Hub.ts"
import { addLine } from "../turns/lines.ts"
import { TurnsRepo } from "../turns/TurnsRepo.ts"
import type { Reply } from "./Speaker.ts"
import type { Scene } from "./scene.ts"

/**
 * Says words of ours in a reply, and keeps them as a part of the turn that it answers. Both in one breath: what the model says
 * meanwhile comes before both, or behind both. `isWanted` is asked just then.
 */
export const sayLine = (scene: Scene, reply: Reply, text: string, isWanted = () => true) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const hub = yield* Hub
    let isOver = false
    const say = () => {
      if (!isOver && isWanted()) scene.speaker.line(reply, text)
      isOver = true
    }
    const kept = room.commit<void, never>((tx) =>
      Effect.gen(function* () {
        if (reply.state === "muted" || reply.state === "done" || !isWanted()) return
        const turn = yield* TurnsRepo.find(tx, scene.sessionId, reply.turnId)
        if (turn !== undefined) yield* addLine(tx, hub, turn, text)
        tx.after(say)
      })
    )
    // A caller is not left waiting for a disk that fails.
    yield* Effect.ensuring(kept, Effect.sync(say))
  })
