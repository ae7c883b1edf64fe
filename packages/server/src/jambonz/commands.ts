import type { CallId, JsonObject, TurnId } from "@harness/protocol"
import type { CommandResult, Recording } from "@harness/protocol/jambonz"
import { Effect, Predicate } from "effect"
import { CommitRoom } from "../log/Commit.ts"
import { Bell } from "../turns/Bell.ts"
import { isLine } from "../turns/lines.ts"
import { PendingRepo } from "../turns/PendingRepo.ts"
import { deliverCall } from "../turns/pending.ts"
import { settle } from "../turns/settle.ts"
import { Turns } from "../turns/Turns.ts"
import { TurnsRepo } from "../turns/TurnsRepo.ts"
import type { RequestRow } from "../voice/VoiceRepo.ts"
import { toolVoice } from "../voice/voiceOf.ts"
import type { Wanted } from "./controls.ts"
import { goOnSaying } from "./goOnSaying.ts"
import { drop, keep, settleRequest } from "./requests.ts"
import { CALLER, mintId, type Outcome, overlooked, type Scene, type Work } from "./scene.ts"
import { beginUnasked } from "./unasked.ts"

const isParting = (name: string): name is "hangup" | "transfer" => name === "hangup" || name === "transfer"

/** Sends a command for a call, and waits so long for what comes of it. */
export const sendCommand = (
  scene: Scene,
  of: { readonly turnId: TurnId; readonly callId: CallId; readonly name: string; readonly arguments: JsonObject },
  command: Wanted
) =>
  Effect.gen(function* () {
    const requestId = yield* mintId
    const { callId, name, turnId } = of
    const row: RequestRow = {
      sessionId: scene.sessionId,
      requestId,
      kind: "command",
      turnId,
      callId,
      name,
      arguments: JSON.stringify(of.arguments),
      state: "open"
    }
    yield* keep(scene, row)
    scene.timers.set(`request:${requestId}`, toolVoice(scene.voice, name).timeoutMillis)
    scene.speaker.send(command(requestId))
  })

/** The call was ended or handed on: its call has its result, and the turn ends without another word. */
const closeTurn = (scene: Scene, row: RequestRow, { content }: Outcome) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const bell = yield* Bell
    const { sessionId } = scene
    const { callId, turnId } = row
    yield* room.commit<void, never>((tx) =>
      Effect.gen(function* () {
        const pending = yield* PendingRepo.find(tx, sessionId, callId)
        if (pending === undefined || pending.turnId !== turnId) return
        yield* deliverCall(tx, bell, pending, {
          state: "completed",
          result: { content: [{ type: "text", text: content }], isError: false },
          actor: CALLER
        })
        const turn = yield* TurnsRepo.find(tx, sessionId, turnId)
        if (turn === undefined || turn.settledAt !== null) return
        const said = (yield* TurnsRepo.parts(tx.query, sessionId, turnId)).flatMap((row) =>
          row.part.type === "text" && row.part.text !== "" && !isLine(row) ? [row.part.text] : []
        )
        yield* settle(tx, bell, turn, {
          state: "completed",
          stopReason: "end",
          finalText: said.at(-1) ?? "",
          actor: CALLER
        })
        tx.after(() => bell.wake(sessionId))
      })
    )
    yield* drop(scene, row)
  })

/** The call stays ours: its turn goes on, and where that has ended, another begins. */
const stayHere = (scene: Scene, row: RequestRow, outcome: Outcome) =>
  Effect.gen(function* () {
    const turns = yield* Turns
    const snapshot = yield* Effect.option(turns.get(scene.sessionId, row.turnId))
    if (snapshot._tag === "Some" && snapshot.value.settledAt === undefined) {
      yield* goOnSaying(scene, row.turnId)
      return yield* settleRequest(scene, row, outcome)
    }
    yield* drop(scene, row)
    if (isParting(row.name)) yield* backAgain(scene, row.name, outcome.content)
  })

/** The caller is with us, although we had let go. */
export const backAgain = (scene: Scene, kind: "hangup" | "transfer", content: string) =>
  Effect.asVoid(beginUnasked(scene, { kind, content, whenBusy: "steer" }))

/** What comes of a command. */
export const settleCommand = (scene: Scene, row: RequestRow, outcome: Outcome): Work => {
  if (!isParting(row.name)) return settleRequest(scene, row, outcome)
  if (outcome.isError) scene.control.isAway = false
  return outcome.isError ? stayHere(scene, row, outcome) : closeTurn(scene, row, outcome)
}

const notDone = (why: string | undefined): Outcome => ({
  content: `Not done: ${why ?? "the telephone system refused it"}.`,
  isError: true,
  code: "command.refused"
})

const argumentOf = (row: RequestRow, name: string): unknown => {
  const args: unknown = JSON.parse(row.arguments)
  return Predicate.isRecord(args) ? args[name] : undefined
}

/** `command:result`. A transfer and a recording are not over with it. */
export const commandResult = (scene: Scene, { command_id, error, ok }: CommandResult) =>
  Effect.gen(function* () {
    const row = scene.requests.get(command_id)
    if (row?.kind !== "command") {
      if (!ok) scene.control.isEnding = false
      return yield* ok ? Effect.void : overlooked(scene, "a command nobody waits for was refused")
    }
    if (!ok) return yield* settleCommand(scene, row, notDone(error))
    const done = (content: string) => settleCommand(scene, row, { content, isError: false })
    switch (row.name) {
      case "hangup":
        return yield* done("The call is ended.")
      case "transfer":
        return scene.timers.clear(`request:${row.requestId}`)
      case "record":
        return scene.timers.set(`request:${row.requestId}`, toolVoice(scene.voice, row.name).timeoutMillis)
      case "set_language": {
        const language = argumentOf(row, "language")
        if (typeof language === "string") scene.language = language
        return yield* done(`The caller is listened to in ${String(language)} from here on.`)
      }
      default:
        return yield* done("Done. It holds from your next answer on.")
    }
  })

/** `recording`: a command to record has taken effect. What others did to the recording is theirs. */
export const recording = (scene: Scene, { by, command_id, state }: Recording) =>
  Effect.gen(function* () {
    const row = command_id === undefined ? undefined : scene.requests.get(command_id)
    if (row?.kind !== "command") return
    const content = `The recording is ${state ?? "changed"}${by === undefined ? "" : ` (by ${by})`}.`
    yield* settleCommand(scene, row, { content, isError: false })
  })

/** What was sent was refused, or nothing came of it in time. */
export const commandFailed = (scene: Scene, row: RequestRow, why: string) => settleCommand(scene, row, notDone(why))

/** A command whose end is the call's own end has come to it. */
export const endedBy = (scene: Scene, reason: string | undefined) =>
  Effect.forEach(
    [...scene.requests.values()].filter(
      ({ name }) =>
        (name === "hangup" && reason === "harness_hangup") || (name === "transfer" && reason === "transferred")
    ),
    (row) =>
      settleCommand(scene, row, {
        content: row.name === "hangup" ? "The call is ended." : "The caller was put through.",
        isError: false
      }),
    { discard: true }
  )
