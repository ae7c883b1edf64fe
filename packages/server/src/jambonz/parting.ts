import type { JsonObject, TurnId } from "@harness/protocol"
import type { Transfer } from "@harness/protocol/jambonz"
import { Effect, Either } from "effect"
import { Resolutions } from "../asks/Resolutions.ts"
import { HistoryRepo } from "../history/HistoryRepo.ts"
import { CommitRoom } from "../log/Commit.ts"
import { configurationOf, type SessionRow, SessionsRepo } from "../sessions/SessionsRepo.ts"
import { type Pending, PendingRepo } from "../turns/PendingRepo.ts"
import { Turns } from "../turns/Turns.ts"
import { type ControlName, isControl, isOurs } from "../voice/controlTools.ts"
import { lineOf } from "../voice/lines.ts"
import { speakingMillis } from "../voice/playout.ts"
import { type ReplyRow, VoiceRepo } from "../voice/VoiceRepo.ts"
import { leaveUnasked } from "./callOff.ts"
import { backAgain, sendCommand, settleCommand } from "./commands.ts"
import type { Parting } from "./control.ts"
import { commandOf, type Wanted } from "./controls.ts"
import { isAsked } from "./requests.ts"
import type { Reply } from "./Speaker.ts"
import { CALLER, overlooked, type Scene } from "./scene.ts"
import { endReply, sayNext } from "./turns.ts"
import { beginUnasked } from "./unasked.ts"

/** What a voice may take longer than was guessed. */
const GRACE_MILLIS = 5_000

const refuse = (scene: Scene, turnId: TurnId, callId: string, why: string) =>
  Effect.gen(function* () {
    const resolutions = yield* Resolutions
    const result = { content: why, isError: true, details: { code: "command.refused" } }
    yield* Effect.ignore(resolutions.resolve(scene.sessionId, turnId, callId, result, CALLER))
  })

/** A call of a control tool that waits, with what it asks for. */
interface Wish {
  readonly pending: Pending
  readonly name: ControlName
  readonly arguments: JsonObject
}

/** The control tools that the turn's calls wait for and that nobody has looked at. */
const wishesOf = (scene: Scene, turnId: TurnId, pendings: ReadonlyArray<Pending>) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const turns = yield* Turns
    const { control, sessionId } = scene
    const waiting = pendings.filter(
      ({ callId, kind, state }) =>
        kind === "external" && state === "open" && !isAsked(scene, callId) && control.parting?.callId !== callId
    )
    if (waiting.length === 0) return []
    const snapshot = yield* Effect.option(turns.get(sessionId, turnId))
    if (snapshot._tag === "None") return []
    const names = new Map(
      snapshot.value.parts.flatMap((part) => (part.type === "tool" ? [[part.callId, part.name] as const] : []))
    )
    const session = yield* room.commit<SessionRow | undefined, never>((tx) => SessionsRepo.find(tx, sessionId))
    const tools = session === undefined ? [] : configurationOf(session).externalTools
    return waiting.flatMap((pending): ReadonlyArray<Wish> => {
      const name = names.get(pending.callId)
      if (name === undefined || !isControl(name) || !isOurs(tools, name)) return []
      return [{ pending, name, arguments: pending.arguments }]
    })
  })

/** Does what the turn's calls of control tools ask for. Ending the call, or handing it on, comes when all else is done. */
export const doWishes = (scene: Scene, turnId: TurnId) =>
  Effect.gen(function* () {
    const repo = yield* PendingRepo
    const pendings = yield* repo.ofTurn(scene.sessionId, turnId)
    let last: readonly [Wish, Wanted, "hangup" | "transfer"] | undefined
    for (const wish of yield* wishesOf(scene, turnId, pendings)) {
      const { name, pending } = wish
      const command = commandOf(name, wish.arguments, scene.voice)
      if (Either.isLeft(command)) yield* refuse(scene, turnId, pending.callId, command.left)
      else if (name !== "hangup" && name !== "transfer") {
        yield* sendCommand(scene, { turnId, callId: pending.callId, name, arguments: wish.arguments }, command.right)
      } else if (last === undefined) last = [wish, command.right, name]
      else yield* refuse(scene, turnId, pending.callId, "Not done: another call of this answer ends the call already.")
    }
    if (last === undefined || pendings.length > 1) return
    const [{ pending }, command, name] = last
    yield* part(scene, { turnId, name, command, callId: pending.callId, isFinal: false })
  })

/** Whether it is known what was heard of a reply. */
const isHeard = (scene: Scene, reply: Reply) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const row = yield* room.commit<ReplyRow | undefined, never>((tx) =>
      VoiceRepo.findReply(tx, scene.sessionId, reply.replyId)
    )
    return row !== undefined && row.heard !== null
  })

/** The reply ends here, although its turn does not. */
const endHere = (scene: Scene, reply: Reply) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const turns = yield* Turns
    const { sessionId } = scene
    const snapshot = yield* Effect.option(turns.get(sessionId, reply.turnId))
    if (snapshot._tag === "None") return
    yield* endReply(scene, reply, snapshot.value)
    yield* room.commit<void, never>((tx) =>
      Effect.gen(function* () {
        const row = yield* VoiceRepo.findReply(tx, sessionId, reply.replyId)
        if (row === undefined) return
        const { length } = yield* HistoryRepo.saidBy(tx, sessionId, reply.turnId)
        yield* VoiceRepo.putReply(tx, { ...row, endEntry: length })
      })
    )
  })

/** Ends the reply and waits until it was heard; then the call ends, or goes to somebody else. */
const part = (scene: Scene, parting: Parting) =>
  Effect.gen(function* () {
    const { control, speaker } = scene
    const turns = yield* Turns
    const { turnId } = parting
    const snapshot = yield* Effect.option(turns.get(scene.sessionId, turnId))
    // Calls of ours may still run beside it: it is looked at again when the turn waits.
    if (snapshot._tag === "None" || snapshot.value.state !== "waiting") return
    const reply = speaker.byTurn(turnId)
    control.parting = parting
    if (reply === undefined) return yield* depart(scene)
    if (reply.state === "muted") {
      if (yield* isHeard(scene, reply)) return yield* depart(scene)
      // The caller has spoken, which is about to be heard of.
      control.parting = undefined
      return
    }
    if (!reply.over) yield* endHere(scene, reply)
    yield* awaitHeard(scene, reply)
  })

const awaitHeard = (scene: Scene, reply: Reply) =>
  Effect.suspend(() => {
    if (reply.text.trim() === "") return depart(scene)
    scene.timers.set("parting", speakingMillis(reply.text) + GRACE_MILLIS)
    return Effect.void
  })

/** What was to be said first has been said. */
const depart = (scene: Scene) =>
  Effect.gen(function* () {
    const { control } = scene
    const { parting } = control
    if (parting === undefined) return
    control.parting = undefined
    scene.timers.clear("parting")
    if (parting.name === "transfer") {
      control.isAway = true
      control.keys = ""
      scene.timers.clear("keys")
    }
    const { callId, command, name, turnId } = parting
    if (callId === undefined) return yield* leaveUnasked(scene, command)
    yield* sendCommand(scene, { turnId, callId, name, arguments: {} }, command)
  })

/** A reply was heard to its end: if it was the last one, the call ends. */
export const heardOut = (scene: Scene, turnId: TurnId | undefined) =>
  turnId !== undefined && scene.control.parting?.turnId === turnId ? depart(scene) : Effect.void

/** Nobody has said that the last reply was heard, and it must have been. */
export const partingOverdue = (scene: Scene) =>
  Effect.suspend(() => {
    const { parting } = scene.control
    const reply = parting === undefined ? undefined : scene.speaker.byTurn(parting.turnId)
    return reply?.state === "held" ? awaitHeard(scene, reply) : depart(scene)
  })

/** A turn has ended: where its words were a goodbye, they are waited for; a parting whose turn was ended by others is off. */
export const partingEnded = (scene: Scene, turnId: TurnId) =>
  Effect.suspend(() => {
    const { control } = scene
    if (control.parting?.turnId !== turnId) return Effect.void
    if (control.parting.callId !== undefined) {
      control.parting = undefined
      scene.timers.clear("parting")
      return Effect.void
    }
    const reply = scene.speaker.byTurn(turnId)
    return reply === undefined || reply.state === "muted" ? depart(scene) : awaitHeard(scene, reply)
  })

/** Says goodbye and ends the call. */
export const sayGoodbye = (
  scene: Scene,
  of: { readonly why: string; readonly reason: string; readonly interrupts: boolean; readonly isFinal: boolean }
) =>
  Effect.gen(function* () {
    const { control, voice } = scene
    if (control.isEnding) return
    control.isEnding = true
    const turnId = yield* beginUnasked(scene, {
      kind: "goodbye",
      content: of.why,
      line: lineOf(voice.lines.goodbye, scene.language),
      whenBusy: of.interrupts ? "interrupt" : "queue",
      manner: { interrupts: of.interrupts, uninterruptible: voice.uninterruptible.has("goodbye") }
    })
    const command: Wanted = (command_id) => ({
      type: "command",
      command_id,
      name: "hangup",
      args: { reason: of.reason }
    })
    if (turnId === undefined) return yield* leaveUnasked(scene, command)
    control.parting = { turnId, name: "hangup", command, callId: undefined, isFinal: of.isFinal }
  })

/** `transfer`: how one came out. */
export const transferred = (scene: Scene, { command_id, outcome, reason }: Transfer) =>
  Effect.gen(function* () {
    const { control, requests } = scene
    const row = requests.get(command_id)
    if (outcome === "bridged") {
      control.isAway = true
      if (row === undefined) return
      return yield* settleCommand(scene, row, { content: "The caller was put through.", isError: false })
    }
    if (outcome !== "failed" && outcome !== "returned") {
      return yield* overlooked(scene, "a transfer came out in a way that is not known")
    }
    control.isAway = false
    const why = reason === undefined ? "" : ` (${reason})`
    const content =
      outcome === "failed"
        ? `The transfer failed${why}. The caller is still with you.`
        : `The transfer is over${why}, and the caller is back with you.`
    if (row === undefined) yield* backAgain(scene, "transfer", content)
    else yield* settleCommand(scene, row, { content, isError: true, code: `transfer.${outcome}` })
    sayNext(scene)
  })
