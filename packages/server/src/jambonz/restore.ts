import { Clock, Effect, Option } from "effect"
import { decodeTime } from "ulid"
import { Turns } from "../turns/Turns.ts"
import { type ReplyRow, type RequestRow, VoiceRepo } from "../voice/VoiceRepo.ts"
import { toolVoice } from "../voice/voiceOf.ts"
import type { Reply } from "./Speaker.ts"
import { type Input, newReply, type Scene } from "./scene.ts"
import { TOOL_PREFIX } from "./tools.ts"

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

/** What is left of its time for a request that was made before. */
const remaining = ({ voice }: Scene, { kind, name, requestId }: RequestRow, now: number): number => {
  const tool = kind === "tool" ? name.slice(TOOL_PREFIX.length) : name
  return Math.max(0, decodeTime(requestId) + toolVoice(voice, tool).timeoutMillis - now)
}

/** What was asked of the other side: its answer may have been lost, and is not asked for again. */
const restoreRequests = (scene: Scene) =>
  Effect.gen(function* () {
    const repo = yield* VoiceRepo
    const now = yield* Clock.currentTimeMillis
    for (const row of yield* repo.requests(scene.sessionId)) {
      scene.requests.set(row.requestId, row)
      scene.timers.set(`request:${row.requestId}`, remaining(scene, row, now))
      if (row.kind === "command" && row.name === "transfer") scene.control.isAway = true
    }
  })

/** What was being said when the process ended, for a call that goes on. Answers what nobody has told the call yet. */
export const restore = (scene: Scene) =>
  Effect.gen(function* () {
    const repo = yield* VoiceRepo
    const rows = yield* repo.replies(scene.sessionId, REPLIES_KEPT)
    const news: Array<Input> = []
    for (const row of rows.toReversed()) {
      const { reply, settled } = yield* restored(scene, row)
      scene.speaker.open(reply)
      if (row.turnNumber === scene.lastTurn) {
        scene.reply = reply
        scene.lastInput = row.input ?? ""
      }
      if (!settled) news.push({ _tag: "Waits", turnId: row.turnId })
      else if (!reply.over) news.push({ _tag: "Settled", turnId: row.turnId })
    }
    yield* restoreRequests(scene)
    return news
  })
