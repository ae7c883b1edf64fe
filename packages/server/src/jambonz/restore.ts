import type { TurnId } from "@harness/protocol"
import { Clock, Effect, Option } from "effect"
import { Turns } from "../turns/Turns.ts"
import { type ReplyRow, VoiceRepo } from "../voice/VoiceRepo.ts"
import type { Reply } from "./Speaker.ts"
import { newReply, type Scene } from "./scene.ts"

/** Replies that a call taken up again may still hear of. */
const REPLIES_KEPT = 20

const stateOf = ({ heard, state }: ReplyRow): Reply["state"] =>
  heard !== null ? "muted" : state === "done" ? "done" : "open"

const restored = (scene: Scene, row: ReplyRow) =>
  Effect.gen(function* () {
    const turns = yield* Turns
    const startedAt = yield* Clock.currentTimeMillis
    const snapshot = Option.getOrUndefined(yield* Effect.option(turns.get(scene.sessionId, row.turnId)))
    const texts = (snapshot?.parts ?? []).flatMap((part) =>
      part.type === "text" || part.type === "refusal" ? [part] : []
    )
    const reply = newReply({
      replyId: row.replyId,
      turnId: row.turnId,
      turnNumber: row.turnNumber ?? undefined,
      model: scene.agent,
      startedAt,
      state: stateOf(row),
      restored: true
    })
    reply.lines.push(...row.lines)
    reply.text = texts.map(({ text }) => text).join(" ")
    reply.part = texts.at(-1)?.partId
    reply.partAt = reply.text.length - (texts.at(-1)?.text.length ?? 0)
    reply.answers = texts.length
    reply.delivered = Math.min(row.delivered, reply.text.length)
    reply.sent = reply.delivered
    reply.over = row.state === "done"
    return { reply, settled: snapshot?.settledAt !== undefined }
  })

/** What was being said when the process ended, for a call that goes on. Answers turns whose end nobody has told yet. */
export const restore = (scene: Scene) =>
  Effect.gen(function* () {
    const repo = yield* VoiceRepo
    const rows = yield* repo.replies(scene.sessionId, REPLIES_KEPT)
    const ended: Array<TurnId> = []
    for (const row of rows.toReversed()) {
      const { reply, settled } = yield* restored(scene, row)
      scene.speaker.open(reply)
      if (row.turnNumber === scene.lastTurn) {
        scene.reply = reply
        scene.lastInput = row.input ?? ""
      }
      if (!reply.over && settled) ended.push(row.turnId)
    }
    for (const row of yield* repo.requests(scene.sessionId)) scene.requests.set(row.requestId, row)
    return ended
  })
