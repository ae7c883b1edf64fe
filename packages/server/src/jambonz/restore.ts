import { Clock, Effect } from "effect"
import { decodeTime } from "ulid"
import { CommitRoom, type Tx } from "../log/Commit.ts"
import { Hub } from "../log/Hub.ts"
import { Detached } from "../loop/Detached.ts"
import { SessionsRepo } from "../sessions/SessionsRepo.ts"
import { mint } from "../storage/mint.ts"
import { TurnsRepo } from "../turns/TurnsRepo.ts"
import { TOOL_PREFIX } from "../voice/applicationTools.ts"
import { type ReplyRow, type RequestRow, VoiceRepo } from "../voice/VoiceRepo.ts"
import { toolVoice } from "../voice/voiceOf.ts"
import { openAsks } from "./asks.ts"
import { leftRunning } from "./leftRunning.ts"
import type { Reply } from "./Speaker.ts"
import { type Input, newReply, type Scene } from "./scene.ts"

/** Replies that a call taken up again may still hear of. */
const REPLIES_KEPT = 20

interface Text {
  readonly partId: string
  readonly text: string
}

/** A turn as a reply sees it. */
interface Told {
  readonly settled: boolean
  /** What its answers say, each with the number of the answer, from 0. */
  readonly texts: ReadonlyArray<Text & { readonly answer: number }>
}

/** What a turn has said so far. Nothing happens in the process while a command runs: the next delta goes on from here. */
const told = (tx: Tx, hub: typeof Hub.Service, sessionId: string, turnId: string) =>
  Effect.gen(function* () {
    const turn = yield* TurnsRepo.find(tx, sessionId, turnId)
    if (turn === undefined) return undefined
    const rows = yield* TurnsRepo.parts(tx.query, sessionId, turnId)
    const steps = new Map(rows.map(({ part, step }) => [part.partId, step]))
    const parts = hub.live.get(sessionId, turnId)?.parts ?? rows.map(({ part }) => part)
    const texts = parts.flatMap((part) =>
      // Lines are told by the reply.
      (part.type === "text" || part.type === "refusal") && steps.get(part.partId) !== 0
        ? [{ partId: part.partId, text: part.text, answer: (steps.get(part.partId) ?? Number.POSITIVE_INFINITY) - 1 }]
        : []
    )
    const said: Told = { settled: turn.settledAt !== null, texts }
    return said
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

/** Says a reply once more as it was said, for nobody to hear: its text is the same again. */
const retell = ({ speaker }: Scene, reply: Reply, row: ReplyRow, texts: ReadonlyArray<Text>): void => {
  const { state } = reply
  reply.state = "held"
  const linesAt = (answer: number) => row.lines.filter(({ before }) => before === answer)
  texts.forEach(({ partId, text }, index) => {
    for (const line of linesAt(index)) speaker.line(reply, line.text)
    speaker.grow(reply, partId, 0, text)
  })
  for (const line of row.lines.filter(({ before }) => before >= texts.length)) speaker.line(reply, line.text)
  reply.state = state
  reply.delivered = Math.min(row.delivered, reply.text.length)
  reply.kept = reply.delivered
  reply.sent = reply.delivered
}

const stateOf = ({ delivered, heard, state, turnNumber }: ReplyRow, isNew: boolean): Reply["state"] => {
  if (heard !== null) return "muted"
  if (state === "done") return "done"
  if (turnNumber !== null) return isNew ? "open" : "muted"
  return delivered === 0 ? "held" : "open"
}

/** Takes a reply up where it was. */
const takeUp = (scene: Scene, row: ReplyRow, startedAt: number, turn: Told): void => {
  const isNew = row.turnNumber === scene.lastTurn
  const reply = newReply({
    replyId: row.replyId,
    turnId: row.turnId,
    turnNumber: row.turnNumber ?? undefined,
    model: scene.agent,
    startedAt,
    state: stateOf(row, isNew),
    restored: true
  })
  const { endEntry, firstEntry } = row
  const own = turn.texts.filter(({ answer }) => answer >= firstEntry && (endEntry === null || answer < endEntry))
  retell(scene, reply, row, own)
  reply.over = row.state === "done"
  // Whether its end arrived is not known. Of an old one nobody waits for it.
  reply.closed = row.turnNumber !== null && !isNew
  scene.speaker.open(reply)
  if (isNew) {
    scene.reply = reply
    scene.lastInput = row.input ?? ""
  }
  if (row.turnNumber !== null || row.heard !== null) return
  if (reply.state === "held") scene.waiting.push(reply)
  else if (!reply.over || reply.delivered < reply.text.length) scene.unprompted = reply
}

/** The turn under way, where nobody asked for it and its reply has no row yet. */
const unasked = (tx: Tx, scene: Scene, hub: typeof Hub.Service, now: number) =>
  Effect.gen(function* () {
    const { sessionId, speaker } = scene
    const turnId = (yield* SessionsRepo.find(tx, sessionId))?.activeTurn ?? undefined
    if (turnId === undefined || speaker.byTurn(turnId) !== undefined) return undefined
    const turn = yield* told(tx, hub, sessionId, turnId)
    if (turn === undefined) return undefined
    const reply = newReply({
      replyId: mint(now),
      turnId,
      turnNumber: undefined,
      model: scene.agent,
      startedAt: now,
      state: "held"
    })
    for (const { partId, text } of turn.texts) speaker.grow(reply, partId, 0, text)
    speaker.open(reply)
    return reply
  })

/** What was being said when the process ended, for a call that goes on. Answers what nobody has told the call yet. */
export const restore = (scene: Scene) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const hub = yield* Hub
    const repo = yield* VoiceRepo
    const { sessionId, speaker } = scene
    const rows = yield* repo.replies(sessionId, REPLIES_KEPT)
    const detached = yield* Detached
    const now = yield* Clock.currentTimeMillis
    const news: Array<Input> = []
    yield* room.commit<void, never>((tx) =>
      Effect.gen(function* () {
        // Of the replies of one turn the newest says what comes.
        for (const [index, row] of rows.entries()) {
          if (speaker.byId(row.replyId) !== undefined) continue
          if (rows.findIndex(({ turnId }) => turnId === row.turnId) < index) continue
          const turn = yield* told(tx, hub, sessionId, row.turnId)
          if (turn === undefined) {
            // The turn itself was not taken in any more: its words are lost.
            if (row.turnNumber === scene.lastTurn) scene.lastTurn--
            yield* VoiceRepo.forgetReply(tx, sessionId, row.replyId)
            continue
          }
          takeUp(scene, row, now, turn)
          if (!turn.settled) news.push({ _tag: "Waits", turnId: row.turnId })
          else if (row.state !== "done") news.push({ _tag: "Settled", turnId: row.turnId })
        }
        speaker.inOrder()
        const reply = yield* unasked(tx, scene, hub, now)
        if (reply !== undefined) news.push({ _tag: "Started", reply })
        const turns = rows.map(({ turnId }) => turnId).toReversed()
        for (const late of yield* leftRunning(tx, sessionId, turns)) {
          if (!detached.runs(late.callId)) news.push({ _tag: "Late", late })
        }
      })
    )
    yield* restoreRequests(scene)
    for (const asking of yield* openAsks(sessionId)) news.push({ _tag: "Asked", asking })
    return news
  })
