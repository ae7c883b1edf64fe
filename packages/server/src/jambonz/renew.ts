import { Effect } from "effect"
import { CommitRoom } from "../log/Commit.ts"
import { VoiceRepo } from "../voice/VoiceRepo.ts"
import type { Reply } from "./Speaker.ts"
import { mintId, type Scene } from "./scene.ts"
import { sayNext } from "./turns.ts"

/**
 * A reply went on over a new socket, and the other side has forgotten it: what is left is said under another id. Where
 * nothing is left it was only the word of its end that nobody missed.
 */
export const renew = (scene: Scene, reply: Reply, from: number) =>
  Effect.gen(function* () {
    if (reply.state === "muted" || from >= reply.text.length) return
    const room = yield* CommitRoom
    const { sessionId, speaker } = scene
    const replyId = yield* mintId
    const again: Reply = {
      ...reply,
      replyId,
      from,
      sent: from,
      delivered: from,
      closed: false,
      resumedAt: undefined,
      cutAt: undefined
    }
    speaker.forget(reply)
    speaker.open(again)
    if (scene.reply === reply) scene.reply = again
    if (scene.unprompted === reply) scene.unprompted = again
    yield* room.commit<void, never>((tx) => Effect.asVoid(VoiceRepo.renameReply(tx, sessionId, reply.replyId, replyId)))
    speaker.sayAgain(again)
  })

/** A reply that nobody asked for was never said, for a newer one took its place: it is said after that one. */
export const sayLater = (scene: Scene, reply: Reply) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const { sessionId, speaker } = scene
    const replyId = yield* mintId
    const again: Reply = {
      ...reply,
      replyId,
      state: "held",
      interrupts: false,
      from: 0,
      sent: 0,
      delivered: 0,
      kept: 0,
      closed: false,
      firstChunkAt: undefined,
      resumedAt: undefined,
      cutAt: undefined
    }
    speaker.forget(reply)
    speaker.open(again)
    yield* room.commit<void, never>((tx) =>
      Effect.gen(function* () {
        const row = yield* VoiceRepo.findReply(tx, sessionId, reply.replyId)
        if (row === undefined) return
        yield* VoiceRepo.forgetReply(tx, sessionId, reply.replyId)
        yield* VoiceRepo.putReply(tx, { ...row, replyId, delivered: 0 })
      })
    )
    if (scene.unprompted === reply) scene.unprompted = undefined
    scene.waiting.push(again)
    sayNext(scene)
  })
