import { type CallResult, TurnId } from "@harness/protocol"
import type { ToolResult } from "@harness/protocol/jambonz"
import { Effect } from "effect"
import { Resolutions } from "../asks/Resolutions.ts"
import { CommitRoom } from "../log/Commit.ts"
import { PendingRepo } from "../turns/PendingRepo.ts"
import { Submissions } from "../turns/Submissions.ts"
import { Turns } from "../turns/Turns.ts"
import { isJambonz, TOOL_PREFIX } from "../voice/applicationTools.ts"
import { type RequestRow, VoiceRepo } from "../voice/VoiceRepo.ts"
import { toolVoice } from "../voice/voiceOf.ts"
import { CALLER, type LateOwn, mintId, type Outcome, overlooked, type Scene } from "./scene.ts"

/** Whether the other side was asked for this call. */
export const isAsked = (scene: Scene, callId: string): boolean =>
  [...scene.requests.values()].some((request) => request.callId === callId)

/** The same tool with the same arguments, asked for before and not answered yet. */
const sameAsked = (scene: Scene, name: string, args: string): RequestRow | undefined =>
  [...scene.requests.values()].find(
    (request) => request.state === "detached" && request.name === name && request.arguments === args
  )

/** Writes down what is about to be asked. */
export const keep = (scene: Scene, row: RequestRow) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    scene.requests.set(row.requestId, row)
    yield* room.commit<void, never>((tx) => Effect.asVoid(VoiceRepo.putRequest(tx, row)))
  })

/** Asks the other side for whatever the turn's calls wait for and was not asked yet. */
export const askFor = (scene: Scene, turnId: TurnId) =>
  Effect.gen(function* () {
    const pendings = yield* PendingRepo
    const turns = yield* Turns
    const snapshot = yield* Effect.option(turns.get(scene.sessionId, turnId))
    const names = new Map(
      (snapshot._tag === "Some" ? snapshot.value.parts : []).flatMap((part) =>
        part.type === "tool" ? [[part.callId, part.name] as const] : []
      )
    )
    for (const pending of yield* pendings.ofTurn(scene.sessionId, turnId)) {
      if (pending.kind !== "external" || pending.state !== "open" || isAsked(scene, pending.callId)) continue
      const name = names.get(pending.callId)
      if (name === undefined || !isJambonz(name)) continue
      const args = JSON.stringify(pending.arguments)
      const before = sameAsked(scene, name, args)
      const row: RequestRow = {
        sessionId: scene.sessionId,
        requestId: before?.requestId ?? (yield* mintId),
        kind: "tool",
        turnId,
        callId: pending.callId,
        name,
        arguments: args,
        state: "open"
      }
      yield* keep(scene, row)
      scene.timers.set(`request:${row.requestId}`, toolVoice(scene.voice, name.slice(TOOL_PREFIX.length)).timeoutMillis)
      if (before !== undefined) continue
      scene.speaker.send({
        type: "tool:call",
        call_id: row.requestId,
        turn_id: scene.speaker.byTurn(turnId)?.turnNumber ?? Math.max(0, scene.lastTurn),
        name: name.slice(TOOL_PREFIX.length),
        args: pending.arguments
      })
    }
  })

/** A turn was cut while the other side was at work for it: what comes is told later. */
export const detach = (scene: Scene, turnId: TurnId) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const open = [...scene.requests.values()].filter(
      (row) => row.kind === "tool" && row.turnId === turnId && row.state === "open"
    )
    for (const row of open) scene.requests.set(row.requestId, { ...row, state: "detached" })
    if (open.length === 0) return
    yield* room.commit<void, never>((tx) =>
      Effect.forEach(open, ({ requestId }) => VoiceRepo.setRequest(tx, scene.sessionId, requestId, "detached"), {
        discard: true
      })
    )
  })

/** Nobody waits for this any more. */
export const drop = (scene: Scene, row: RequestRow) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    scene.requests.delete(row.requestId)
    scene.timers.clear(`request:${row.requestId}`)
    yield* room.commit<void, never>((tx) =>
      Effect.asVoid(VoiceRepo.setRequest(tx, scene.sessionId, row.requestId, "done"))
    )
  })

const toolOf = ({ kind, name }: RequestRow): string => (kind === "tool" ? name.slice(TOOL_PREFIX.length) : name)

/** Gives a request's call its result, or tells a call that went on without its turn. The first outcome stands. */
export const settleRequest = (scene: Scene, row: RequestRow, outcome: Outcome) =>
  Effect.gen(function* () {
    const resolutions = yield* Resolutions
    const { content, isError } = outcome
    if (row.state !== "open" && scene.callerSpeaks) {
      scene.late.push([row, outcome])
      return
    }
    if (row.state === "open") {
      yield* resolutions
        .resolve(
          scene.sessionId,
          row.turnId,
          row.callId,
          {
            content,
            isError,
            ...(outcome.code === undefined ? {} : { details: { code: outcome.code } })
          },
          CALLER
        )
        .pipe(Effect.ignore)
      return yield* drop(scene, row)
    }
    yield* tell(scene, { callId: row.callId, name: toolOf(row), content, isError })
    yield* drop(scene, row)
  })

/** The turn in which it is told what came of such a call. */
export const lateTurn = (callId: string): TurnId => TurnId.make(`late-${callId}`)

/** What came of a call that went on without its turn: told to the turn that runs, or in one of its own. */
const tell = (
  scene: Scene,
  late: { readonly callId: string; readonly name: string; readonly content: string; readonly isError: boolean }
) =>
  Effect.gen(function* () {
    const submissions = yield* Submissions
    const { callId, content, isError, name } = late
    const came = isError ? "failed" : "come to this"
    yield* submissions
      .submit(
        scene.sessionId,
        lateTurn(callId),
        {
          role: "custom",
          content: `${name}, which was still running when the caller spoke, has ${came}:\n${content}`,
          custom: { type: "voice.late_result", details: { callId } },
          whenBusy: "steer"
        },
        CALLER
      )
      .pipe(Effect.ignoreLogged)
  })

const textOf = ({ content }: CallResult): string =>
  content.map((part) => (part.type === "text" ? part.text : `(${part.type})`)).join("\n")

/** The same for a tool of ours. While the caller speaks nothing is said of it. */
export const late = (scene: Scene, { callId, name, result }: LateOwn): Effect.Effect<void, never, Submissions> => {
  if (scene.callerSpeaks) {
    scene.lateOwn.push({ callId, name, result })
    return Effect.void
  }
  return tell(scene, { callId, name, content: textOf(result), isError: result.isError })
}

/** What came while the caller spoke is told now. */
export const tellLate = (scene: Scene) =>
  Effect.zipRight(
    Effect.forEach(scene.late.splice(0), ([row, outcome]) => settleRequest(scene, row, outcome), { discard: true }),
    Effect.forEach(scene.lateOwn.splice(0), (one) => late(scene, one), { discard: true })
  )

/** `tool:result`. */
export const toolResult = (scene: Scene, { call_id, error, result }: ToolResult) =>
  Effect.gen(function* () {
    const row = scene.requests.get(call_id)
    if (row?.kind !== "tool") return yield* overlooked(scene, "a tool:result nobody waits for")
    yield* settleRequest(scene, row, {
      content: error ?? (typeof result === "string" ? result : JSON.stringify(result ?? null)),
      isError: error !== undefined
    })
  })

/** The time of a request is over. */
export const requestOverdue = (scene: Scene, requestId: string) =>
  Effect.gen(function* () {
    const row = scene.requests.get(requestId)
    if (row === undefined) return
    yield* settleRequest(scene, row, {
      content: "No result came in time.",
      isError: true,
      code: "tool.pending_timeout"
    })
  })
