import type { CreateSessionRequestValue, SessionId } from "@harness/protocol"
import { CLOSE_TAKEN_OVER, callSession, type SessionStart } from "@harness/protocol/jambonz"
import { Clock, Context, Effect, Exit, Layer, Option, Scope } from "effect"
import { GENERAL } from "../agents/Agent.ts"
import { Agents } from "../agents/Agents.ts"
import type { HistoryRepo } from "../history/HistoryRepo.ts"
import { CommitRoom } from "../log/Commit.ts"
import { inSlices } from "../log/Slices.ts"
import type { Models } from "../models/Models.ts"
import { Sessions } from "../sessions/Sessions.ts"
import { Home } from "../storage/Home.ts"
import type { Arrivals } from "../voice/Arrivals.ts"
import { externalOf } from "../voice/applicationTools.ts"
import { controlTools } from "../voice/controlTools.ts"
import { FactsRepo } from "../voice/FactsRepo.ts"
import { VoiceRepo } from "../voice/VoiceRepo.ts"
import { type Voice, voiceOf } from "../voice/voiceOf.ts"
import { type Beginning, beginCall, type Call } from "./Call.ts"
import { keepDelivered } from "./delivered.ts"
import { showFacts } from "./facts.ts"
import { limitTime } from "./limits.ts"
import { makeOneByOne } from "./oneByOne.ts"
import { Patience } from "./Patience.ts"
import { restore } from "./restore.ts"
import type { Wire } from "./Speaker.ts"
import { CALLER, type CallNeeds } from "./scene.ts"
import { forgetEnd, startFactsOf, titleOf, UNKNOWN_CALL } from "./startFacts.ts"
import { summarise } from "./summary.ts"
import type { Ticks } from "./Ticks.ts"

/** Calls one server has at the same time; who comes then is told to go elsewhere. */
export class CallsMax extends Context.Reference<CallsMax>()("@harness/server/CallsMax", {
  defaultValue: () => 1_000
}) {}

/** Calls that are summed up at the same time; the others wait. */
const SUMMARIES_AT_ONCE = 4

/** A call and the socket it has just now. */
interface Entry {
  readonly call: Call
  socket: Wire | undefined
}

/** The session of a new call: what is known of it, its tools, and leave to use them. */
const sessionOf = (start: SessionStart, agent: string, voice: Voice): CreateSessionRequestValue => ({
  title: titleOf(start),
  agent,
  metadata: startFactsOf(start),
  permissions: [{ permission: "external", pattern: "*", action: "allow" }],
  externalTools: [...controlTools(voice), ...start.tools.map(externalOf)]
})

type Needs = Arrivals | CallNeeds | HistoryRepo | Models | Ticks | VoiceRepo

const make = Effect.gen(function* () {
  const home = yield* Home
  const room = yield* CommitRoom
  const sessions = yield* Sessions
  const agents = yield* Agents
  const repo = yield* VoiceRepo
  const facts = yield* FactsRepo
  const context = yield* Effect.context<Needs>()
  const scope = yield* Effect.scope
  const entries = new Map<string, Entry>()
  const most = yield* CallsMax
  const oneByOne = makeOneByOne<SessionId>()
  const aFew = yield* Effect.makeSemaphore(SUMMARIES_AT_ONCE)

  const agentNamed = (name: unknown) =>
    typeof name === "string" ? agents.find(home.root, name) : Effect.succeed(Option.none())

  /** Who answers: whom the door names, then whom the verb names, then whoever is always there. */
  const agentOf = (door: string | undefined, start: SessionStart) =>
    Effect.map(agentNamed(door ?? start.metadata?.["agent"]), (found) =>
      Option.isSome(found) ? found.value.name : GENERAL
    )

  const voiceOfAgent = (agent: string) =>
    Effect.map(agentNamed(agent), (found) => voiceOf(Option.isSome(found) ? found.value.voice : undefined))

  /** Writes the summary of a call that is over. */
  const sumUp = (sessionId: SessionId) =>
    Effect.gen(function* () {
      const call = yield* repo.call(sessionId)
      const agent = Option.getOrUndefined(yield* agentNamed(call?.agent))
      yield* Effect.provide(summarise(sessionId, agent?.model), context)
    }).pipe(aFew.withPermits(1))

  /** Starts the fiber of a call. It outlives its sockets, and ends with the call. */
  const run = (beginning: Beginning, isKnown: boolean) =>
    Effect.gen(function* () {
      const own = yield* Scope.fork(scope, { _tag: "Sequential" })
      const { call, life } = yield* Effect.provide(Scope.extend(beginCall(beginning), own), context)
      const entry: Entry = { call, socket: undefined }
      entries.set(beginning.sessionId, entry)
      const news = isKnown ? yield* Effect.provide(restore(call.scene), context) : []
      yield* limitTime(call.scene)
      const over = Effect.suspend(() => {
        if (entries.get(beginning.sessionId) === entry) entries.delete(beginning.sessionId)
        // Also when the process ends: what arrived until now is not said again.
        return Effect.zipRight(Effect.provide(keepDelivered(call.scene), context), Scope.close(own, Exit.void))
      })
      yield* Effect.provide(life, context).pipe(
        Effect.ensuring(over),
        Effect.zipRight(beginning.voice.summary ? sumUp(beginning.sessionId) : Effect.void),
        inSlices,
        Effect.forkIn(scope)
      )
      for (const input of news) call.offer(input)
      return entry
    })

  const beginNew = (start: SessionStart, door: string | undefined) =>
    Effect.gen(function* () {
      const sessionId = callSession(start.call_sid)
      const agent = yield* agentOf(door, start)
      const voice = yield* voiceOfAgent(agent)
      yield* sessions.create(sessionId, sessionOf(start, agent, voice), CALLER).pipe(
        // A session that was made for this call before is the call's.
        Effect.catchIf(
          (error) => error.code === "idempotency.mismatch",
          () => Effect.void
        )
      )
      const startedAt = yield* Clock.currentTimeMillis
      const language = start.language ?? voice.language
      yield* room.commit<void, never>((tx) =>
        Effect.gen(function* () {
          yield* VoiceRepo.putCall(tx, {
            sessionId,
            callSid: start.call_sid,
            agent,
            language: language ?? null,
            state: "live",
            lastTurn: -1,
            startedAt
          })
          if (start.resumed) yield* showFacts(tx, sessionId, { notices: [UNKNOWN_CALL] })
        })
      )
      if (start.resumed) yield* Effect.annotateLogs(Effect.logWarning(`voice: ${UNKNOWN_CALL.message}`), { sessionId })
      return yield* run(
        {
          sessionId,
          callSid: start.call_sid,
          agent,
          direction: start.direction ?? "inbound",
          voice,
          language,
          lastTurn: -1,
          lastInput: "",
          startedAt
        },
        false
      )
    })

  /** The call of a `session:start`: the one that goes on, the one a restart left, or a new one. */
  const find = (start: SessionStart, door: string | undefined) =>
    Effect.gen(function* () {
      const sessionId = callSession(start.call_sid)
      const there = entries.get(sessionId)
      if (there !== undefined && !there.call.scene.ended) return there
      const row = yield* repo.call(sessionId)
      if (row === undefined) return yield* beginNew(start, door)
      const { agent, callSid, lastTurn } = row
      const voice = yield* voiceOfAgent(agent)
      yield* room.commit<void, never>((tx) =>
        Effect.zipRight(VoiceRepo.putCall(tx, { ...row, state: "live" }), forgetEnd(tx, sessionId))
      )
      return yield* run(
        {
          sessionId,
          callSid,
          agent,
          direction: start.direction ?? "inbound",
          voice,
          language: row.language ?? undefined,
          lastTurn,
          lastInput: "",
          startedAt: row.startedAt
        },
        true
      )
    })

  /** Gives a call its socket; the one it had is closed. */
  const attach = Effect.fn("Calls.attach")((start: SessionStart, door: string | undefined, socket: Wire) =>
    oneByOne(
      callSession(start.call_sid),
      Effect.map(find(start, door), (entry) => {
        entry.socket?.close(CLOSE_TAKEN_OVER, "the call goes on over another socket")
        entry.socket = socket
        entry.call.offer({ _tag: "Attached", wire: socket, lastTurn: start.resumed ? start.last_turn_id : undefined })
        return entry.call
      })
    )
  )

  // Calls that a restart cut off have a while to come back; then what they were being answered with ends.
  const forgotten = Effect.gen(function* () {
    const { resume } = yield* Patience
    for (const row of yield* repo.live) {
      if (entries.has(row.sessionId)) continue
      const voice = yield* voiceOfAgent(row.agent)
      const { agent, callSid, lastTurn, sessionId, startedAt } = row
      const language = row.language ?? undefined
      const entry = yield* run(
        { sessionId, callSid, agent, direction: "inbound", voice, language, lastTurn, lastInput: "", startedAt },
        true
      )
      entry.call.scene.timers.set("resume", resume)
    }
  })
  yield* forgotten
  for (const sessionId of yield* facts.unsummarised) yield* Effect.forkIn(sumUp(sessionId), scope)

  return {
    attach,
    isFull: () => entries.size >= most,
    /** Whether somebody of that name can answer. */
    knows: (agent: string) => Effect.map(agentNamed(agent), Option.isSome)
  }
})

/** The telephone calls of one server, each with a session, and with a fiber for as long as it goes on. */
export class Calls extends Context.Tag("@harness/server/Calls")<Calls, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.scoped(Calls, make)
}
