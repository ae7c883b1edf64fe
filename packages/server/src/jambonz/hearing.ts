import type { TurnId } from "@harness/protocol"
import type { ReplyDropped, ReplySpoken, TurnCancel, UserInterruption } from "@harness/protocol/jambonz"
import { Clock, Effect } from "effect"
import { CommitRoom, type Tx } from "../log/Commit.ts"
import { Bell } from "../turns/Bell.ts"
import { markCancelled } from "../turns/settle.ts"
import { Turns } from "../turns/Turns.ts"
import { TurnsRepo } from "../turns/TurnsRepo.ts"
import { remainderOf } from "../voice/align.ts"
import { spokenAfter, VOICE_BEGINS_MILLIS } from "../voice/playout.ts"
import { type ReplyRow, VoiceRepo } from "../voice/VoiceRepo.ts"
import { floorMillis, freeFloor } from "./floor.ts"
import { keepHeard } from "./heard.ts"
import { sayLater } from "./renew.ts"
import { rowOf } from "./replies.ts"
import { detach } from "./requests.ts"
import type { Reply } from "./Speaker.ts"
import { CALLER, overlooked, type Scene } from "./scene.ts"
import { sayNext } from "./turns.ts"

/** A runner has this long to put down what it has. */
const SETTLES_WITHIN = "3 seconds"

/** What is said of a reply, as it becomes known; undefined leaves it as it is. */
type Verdict = (row: ReplyRow) => Pick<ReplyRow, "heard" | "spoken"> | undefined

/** The lines said so far belong to the reply. */
const known = (row: ReplyRow, reply: Reply | undefined): ReplyRow =>
  reply === undefined ? row : { ...row, lines: reply.lines, delivered: Math.max(row.delivered, reply.delivered) }

const settleHistory = (tx: Tx, row: ReplyRow) =>
  Effect.gen(function* () {
    yield* keepHeard(tx, row)
    yield* VoiceRepo.putReply(tx, row)
  })

/**
 * Takes down how much of a reply was heard, ends the turn that still makes it, and makes the history say so. When this is
 * done, it is committed: the next frame finds it so.
 */
const hear = (scene: Scene, replyId: string, verdict: Verdict, options: { readonly cancel: boolean }) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const bell = yield* Bell
    const turns = yield* Turns
    const { sessionId } = scene
    const reply = scene.speaker.byId(replyId)
    let ends: TurnId | undefined
    const first = yield* room.commit<ReplyRow | undefined, never>((tx) =>
      Effect.gen(function* () {
        const found = yield* VoiceRepo.findReply(tx, sessionId, replyId)
        if (found === undefined) return undefined
        const said = verdict(found)
        const row = said === undefined ? known(found, reply) : { ...known(found, reply), ...said }
        const turn = yield* TurnsRepo.find(tx, sessionId, row.turnId)
        // A caller may cut a question off to answer it.
        const cancel = options.cancel && scene.asking === undefined
        const open = cancel && turn !== undefined && turn.settledAt === null ? turn : undefined
        ends = open?.turnId
        const stopping =
          open !== undefined &&
          (yield* markCancelled(tx, bell, open, { stopReason: "interrupted", detach: true }, CALLER))
        if (said === undefined && !stopping) return undefined
        // A runner that is about to put down what it has would come after this.
        if (stopping) yield* VoiceRepo.putReply(tx, row)
        else yield* settleHistory(tx, row)
        return stopping ? row : undefined
      })
    )
    // Also of a turn that only waited, and has ended by now.
    if (ends !== undefined) yield* detach(scene, ends)
    if (first === undefined) return
    yield* Effect.ignore(Effect.timeout(turns.awaitTerminal(sessionId, first.turnId), SETTLES_WITHIN))
    yield* room.commit<void, never>((tx) =>
      Effect.gen(function* () {
        const row = yield* VoiceRepo.findReply(tx, sessionId, replyId)
        if (row !== undefined) yield* settleHistory(tx, row)
      })
    )
  })

/** The reply is no longer being said. */
const leave = (scene: Scene, replyId: string) =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const reply = scene.speaker.byId(replyId)
    freeFloor(scene, reply, now)
    if (reply?.over === true) scene.speaker.forget(reply)
    if (scene.unprompted?.replyId !== replyId) return
    scene.unprompted = undefined
    sayNext(scene)
  })

/** What was heard of a reply: what it said under another id before was heard as well. */
const heardOf = (scene: Scene, replyId: string, spoken: string): string => {
  const reply = scene.speaker.byId(replyId)
  return (reply === undefined ? "" : reply.text.slice(0, reply.from)) + spoken
}

const upTo = (scene: Scene, replyId: string, spoken: string): Verdict => {
  const heard = heardOf(scene, replyId, spoken)
  return () => (heard.trim() === "" ? { heard: "none", spoken: null } : { heard: "part", spoken: heard })
}

const wholly: Verdict = (row) => (row.heard === "all" ? undefined : { heard: "all", spoken: null })
const not: Verdict = (row) => (row.heard === null ? { heard: "none", spoken: null } : undefined)

/** What there was time to say of a reply of which nobody told. */
const guessed =
  (reply: Reply, spoken: string): Verdict =>
  (row) => {
    if (row.heard !== null || spoken === reply.text) return undefined
    return spoken.trim() === "" ? { heard: "none", spoken: null } : { heard: "estimate", spoken }
  }

/** What can have been heard of a reply of which nobody told: what had arrived, and no more than there was time for. */
const inTime = (scene: Scene, reply: Reply, now: number): Verdict => {
  const { delivered, text, turnNumber } = reply
  const arrived = text.slice(0, delivered)
  if (turnNumber !== undefined) return guessed(reply, arrived)
  return guessed(reply, spokenAfter(arrived, Math.max(0, floorMillis(scene, reply, now) - VOICE_BEGINS_MILLIS)))
}

/** A reply that one of our own cut off, and nobody says what was heard of it. What its turn says after that was not. */
export const cutUnheard = (scene: Scene, reply: Reply, spoken: string) =>
  Effect.suspend(() => {
    const { over, replyId } = reply
    if (over) return hear(scene, replyId, guessed(reply, spoken), { cancel: false })
    reply.cutAt ??= spoken.length
    return Effect.void
  }).pipe(Effect.zipRight(leave(scene, reply.replyId)))

/** The call is over. What had not arrived was not heard, and of what nobody asked for no more than there was time for. */
export const hearTheRest = (scene: Scene, endedAt: number) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const turns = yield* Turns
    const unsure = scene.speaker.all.filter(
      ({ delivered, restored, text, turnNumber }) => !restored && (delivered < text.length || turnNumber === undefined)
    )
    for (const reply of unsure) {
      yield* Effect.ignore(Effect.timeout(turns.awaitTerminal(scene.sessionId, reply.turnId), SETTLES_WITHIN))
      yield* room.commit<void, never>((tx) =>
        Effect.gen(function* () {
          const row = yield* VoiceRepo.findReply(tx, scene.sessionId, reply.replyId)
          if (row === undefined) yield* VoiceRepo.putReply(tx, rowOf(scene, reply, {}))
        })
      )
      yield* hear(scene, reply.replyId, inTime(scene, reply, endedAt), { cancel: false })
    }
  })

/** `reply_spoken`: all of it was heard. */
export const spoken = (scene: Scene, { reply_id }: ReplySpoken) =>
  Effect.zipRight(hear(scene, reply_id, wholly, { cancel: false }), leave(scene, reply_id))

/** `user_interruption`: what was heard of it, word for word. The turn that still makes it ends. */
export const interrupted = (scene: Scene, event: UserInterruption) =>
  Effect.gen(function* () {
    const { reply_id, spoken, unspoken } = event
    const text = scene.speaker.byId(reply_id)?.text
    scene.unheard = (text === undefined ? undefined : remainderOf([text], heardOf(scene, reply_id, spoken))) ?? unspoken
    yield* hear(scene, reply_id, upTo(scene, reply_id, spoken), { cancel: true })
    yield* leave(scene, reply_id)
  })

/** `reply_dropped`: nobody heard a word of it. What a newer one took the place of is said after that. */
export const dropped = (scene: Scene, { reason, reply_id }: ReplyDropped) =>
  Effect.suspend(() => {
    const reply = scene.speaker.byId(reply_id)
    if (reason === "replaced" && reply !== undefined && reply.turnNumber === undefined && reply.state !== "muted") {
      return sayLater(scene, reply)
    }
    return Effect.zipRight(hear(scene, reply_id, upTo(scene, reply_id, ""), { cancel: false }), leave(scene, reply_id))
  })

/** `turn:cancel`: nothing more of that turn is wanted. Until an event says otherwise, nothing of it was heard. */
export const cancelTurn = (scene: Scene, { turn_id }: TurnCancel) =>
  Effect.gen(function* () {
    const reply = scene.speaker.all.find(({ turnNumber }) => turnNumber === turn_id)
    // What was heard of it may be known by now, and the reply forgotten.
    if (reply === undefined && turn_id <= scene.lastTurn) return
    if (reply === undefined) return yield* overlooked(scene, "a turn:cancel of a turn that is not there")
    scene.timers.clear("filler")
    yield* hear(scene, reply.replyId, not, { cancel: true })
    freeFloor(scene, reply, yield* Clock.currentTimeMillis)
  })

/** A reply that the other side did not take: its turn has nobody to talk to. */
export const notSaid = (scene: Scene, reply: Reply) =>
  Effect.gen(function* () {
    reply.state = "muted"
    yield* hear(scene, reply.replyId, not, { cancel: true })
    yield* leave(scene, reply.replyId)
  })
