import type { SubmitPromptRequestValue, TurnId, TurnSnapshot } from "@harness/protocol"
import { callTurn, type TurnInput, type TurnStart } from "@harness/protocol/jambonz"
import { Clock, Effect } from "effect"
import { CommitRoom } from "../log/Commit.ts"
import { Submissions } from "../turns/Submissions.ts"
import { Turns } from "../turns/Turns.ts"
import { optionsOf, type TurnRow, TurnsRepo } from "../turns/TurnsRepo.ts"
import { isJambonz } from "../voice/applicationTools.ts"
import { isControl } from "../voice/controlTools.ts"
import { lineOf } from "../voice/lines.ts"
import { turnRecordOf } from "../voice/turnRecord.ts"
import { type ReplyRow, VoiceRepo } from "../voice/VoiceRepo.ts"
import { answerAsked, spokenPrompt } from "./asks.ts"
import { callerActs } from "./callOff.ts"
import { freeFloor } from "./floor.ts"
import { keepHeard } from "./heard.ts"
import { keepLatency } from "./latency.ts"
import { beginReply, rowOf } from "./replies.ts"
import { detach, tellLate } from "./requests.ts"
import type { Reply } from "./Speaker.ts"
import { sayLine } from "./sayLine.ts"
import { CALLER, mintId, newReply, overlooked, type Scene } from "./scene.ts"

/** What a turn of the call asks of the session: a prompt and, where no model is needed, the words that answer it. */
interface Asked {
  readonly prompt: SubmitPromptRequestValue
  readonly line?: string
  readonly uninterruptible?: boolean
}

const told = (type: string, content: string, details = {}): SubmitPromptRequestValue => ({
  role: "custom",
  content,
  custom: { type, details }
})

/** What to do with an input. Empty words are none. */
const asked = (scene: Scene, input: TurnInput): Asked => {
  const { direction } = scene
  const { lines, uninterruptible } = scene.voice
  if (input.type === "greeting") {
    const where = direction === "outbound" ? "You called them." : "They called you."
    if (lines.greeting === undefined) {
      return { prompt: told("voice.greeting", `The call is connected. ${where} Greet the caller.`, { direction }) }
    }
    return {
      prompt: told("voice.greeting", `The call is connected. ${where}`, { direction }),
      line: lineOf(lines.greeting, scene.language),
      uninterruptible: uninterruptible.has("greeting")
    }
  }
  if (input.type === "speech" && input.text.trim() !== "") {
    return { prompt: spokenPrompt(input) }
  }
  const rest = scene.unheard.trim()
  return {
    prompt: told("voice.no_input", "The caller interrupted, and then said nothing."),
    line: rest === "" ? lineOf(lines.reprompt, scene.language) : rest,
    uninterruptible: rest === "" && uninterruptible.has("reprompt")
  }
}

/** Answers a turn of the call. The reply's row stands before its turn does: after a crash it has the same id. */
const answer = (scene: Scene, turnNumber: number, input: string, what: Asked) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const submissions = yield* Submissions
    const turnId = callTurn(scene.callSid, turnNumber)
    const replyId = yield* mintId
    const reply = newReply({
      replyId,
      turnId,
      turnNumber,
      model: scene.agent,
      startedAt: yield* Clock.currentTimeMillis,
      uninterruptible: what.uninterruptible === true
    })
    beginReply(scene, reply, input)
    const { sessionId } = scene
    const row = rowOf(scene, reply, { input })
    const noted = room.commit<void, never>((tx) =>
      Effect.gen(function* () {
        yield* VoiceRepo.putReply(tx, row)
        yield* VoiceRepo.setLastTurn(tx, sessionId, turnNumber)
        tx.point("reply-begun", sessionId)
      })
    )
    const submitted = submissions.submit(sessionId, turnId, { ...what.prompt, whenBusy: "interrupt" }, CALLER, {
      detach: true,
      apology: apologyOf(scene),
      ...(what.line === undefined ? {} : { line: what.line })
    })
    yield* Effect.all([noted, submitted], { concurrency: 2 }).pipe(
      Effect.catchAll((error) =>
        Effect.zipRight(
          Effect.logError("a turn of a call could not be taken in", error),
          Effect.sync(() => {
            apologise(scene, reply)
            scene.speaker.end(reply, undefined)
          })
        )
      )
    )
  })

const apologyOf = (scene: Scene): string => lineOf(scene.voice.lines.apology, scene.language)

const apologise = (scene: Scene, reply: Reply): void => scene.speaker.line(reply, apologyOf(scene))

/** Nobody wants to hear the rest of a reply: there is a newer turn. */
export const supersede = (reply: Reply): void => {
  reply.state = "muted"
  reply.cutAt ??= reply.sent
}

/** The caller has spoken, or the call has begun: `turn:start`. The same again is nothing, an older one is overlooked. */
export const startTurn = (scene: Scene, { input, turn_id }: TurnStart) =>
  Effect.gen(function* () {
    const words = JSON.stringify(input)
    if (turn_id === scene.lastTurn && words === scene.lastInput) return
    if (turn_id <= scene.lastTurn) return yield* overlooked(scene, "a turn:start of a turn that was started before")
    scene.callerSpeaks = false
    scene.timers.clear("speech")
    yield* callerActs(scene)
    if (input.type === "speech" && input.language !== undefined) scene.language = input.language
    const before = scene.reply
    if (scene.asking !== undefined && input.type === "speech" && input.text.trim() !== "") {
      yield* answerAsked(scene, scene.asking, turn_id, words, input)
    } else {
      if (before?.state === "open") supersede(before)
      if (before !== undefined && !before.over) yield* detach(scene, before.turnId)
      scene.asking = undefined
      yield* answer(scene, turn_id, words, asked(scene, input))
    }
    yield* tellLate(scene)
  })

/** A turn whose words were lost on their way is answered by asking for them again. */
export const askAgain = (scene: Scene, turnNumber: number) =>
  answer(scene, turnNumber, "", {
    prompt: told("voice.lost", "The caller said something that was lost."),
    line: lineOf(scene.voice.lines.repeat, scene.language),
    uninterruptible: scene.voice.uninterruptible.has("repeat")
  })

/** A turn began that the caller did not ask for: what it says is said when nothing else of its kind is. */
export const unprompted = (scene: Scene, reply: Reply) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const row = rowOf(scene, reply, {})
    const turn = yield* room.commit<TurnRow | undefined, never>((tx) =>
      Effect.gen(function* () {
        yield* VoiceRepo.putReply(tx, row)
        const turn = yield* TurnsRepo.find(tx, scene.sessionId, reply.turnId)
        if (turn === undefined) return undefined
        const options = { ...optionsOf(turn), apology: apologyOf(scene) }
        yield* TurnsRepo.putOptions(tx, { ...turn, options: JSON.stringify(options) })
        return turn
      })
    )
    reply.interrupts ||= turn !== undefined && optionsOf(turn).interrupts === true
    if (reply.interrupts) scene.waiting.unshift(reply)
    else scene.waiting.push(reply)
    sayNext(scene)
  })

/** One reply that nobody asked for at a time; one that cuts off what plays waits for none. */
export const sayNext = (scene: Scene): void => {
  while (!scene.control.isAway) {
    const [next] = scene.waiting
    if (next === undefined || (scene.unprompted !== undefined && !next.interrupts)) return
    scene.waiting.shift()
    if (next.state !== "held") continue
    // One that ended without a word is never said.
    if (next.over && next.text.trim() === "") {
      next.state = "muted"
      continue
    }
    scene.unprompted = next
    scene.speaker.release(next)
  }
}

/** How a turn went, as the other side keeps it. */
const recordOf = (reply: Reply, turn: TurnSnapshot) => {
  const { firstChunkAt, startedAt } = reply
  const generations =
    turn.steps.length === 0 || firstChunkAt === undefined
      ? []
      : [{ step: 1, firstTokenMillis: firstChunkAt - startedAt }]
  return turnRecordOf(turn, { generations }, (name) => isJambonz(name) || isControl(name))
}

/** A turn has ended: its reply ends, with an apology where it failed, and with the record of how it went. */
export const endTurn = (scene: Scene, turnId: TurnId) =>
  Effect.gen(function* () {
    const turns = yield* Turns
    const reply = scene.speaker.byTurn(turnId)
    if (reply === undefined || reply.over) return
    const snapshot = yield* Effect.option(turns.get(scene.sessionId, turnId))
    if (snapshot._tag === "Some") yield* endReply(scene, reply, snapshot.value)
  })

/** Of a reply that was cut before its turn had ended, what had arrived until then was heard, unless we are told. */
const untold = (reply: Reply, { heard }: ReplyRow): Pick<ReplyRow, "heard" | "spoken"> | undefined => {
  const { cutAt, delivered, state, text } = reply
  if (heard !== null || cutAt === undefined || (state !== "muted" && cutAt >= text.length)) return undefined
  const spoken = text.slice(0, Math.min(cutAt, delivered))
  return spoken.trim() === "" ? { heard: "none", spoken: null } : { heard: "estimate", spoken }
}

/** A reply ends with its turn as it stands. */
export const endReply = (scene: Scene, reply: Reply, turn: TurnSnapshot) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    if (scene.reply === reply) scene.timers.clear("filler")
    if (turn.state === "failed") apologise(scene, reply)
    scene.speaker.end(reply, reply.turnNumber === undefined ? undefined : recordOf(reply, turn))
    reply.over = true
    // Of one that says nothing nobody tells.
    if (reply.text.trim() === "") freeFloor(scene, reply, yield* Clock.currentTimeMillis)
    if (reply.turnNumber === undefined && reply.text.trim() === "" && scene.unprompted === reply) {
      scene.unprompted = undefined
      sayNext(scene)
    }
    yield* room.commit<void, never>((tx) =>
      Effect.gen(function* () {
        const row = yield* VoiceRepo.findReply(tx, scene.sessionId, reply.replyId)
        if (row === undefined) return
        const { delivered, lines } = reply
        const verdict = untold(reply, row)
        const done = { ...row, ...verdict, state: "done" as const, lines, delivered }
        yield* VoiceRepo.putReply(tx, done)
        if (verdict !== undefined) yield* keepHeard(tx, done)
        yield* keepLatency(tx, scene.sessionId, reply, turn.steps.length > 0)
      })
    )
  })

/** Nothing was said for a while: a filler, and more of them as long as calls go on. */
export const fill = (scene: Scene) =>
  Effect.gen(function* () {
    const turns = yield* Turns
    const { reply, voice } = scene
    const filler = voice.filler[scene.fillers % Math.max(1, voice.filler.length)]
    if (reply === undefined || reply.over || reply.state !== "open" || filler === undefined) return
    scene.timers.set("filler", voice.fillerEveryMillis)
    const waitsForWords = reply.text.trim() === ""
    if (!waitsForWords) {
      const snapshot = yield* Effect.option(turns.get(scene.sessionId, reply.turnId))
      const calls =
        snapshot._tag === "Some" &&
        snapshot.value.parts.some((part) => part.type === "tool" && part.result === undefined)
      if (!calls) return
    }
    scene.fillers++
    const isSilent = () => !waitsForWords || reply.text.trim() === ""
    yield* sayLine(scene, reply, lineOf(filler, scene.language), isSilent)
  })
