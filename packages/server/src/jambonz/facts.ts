import type { JsonObject, SessionId } from "@harness/protocol"
import { type CallSid, callSession, callTurn } from "@harness/protocol/jambonz"
import { Effect } from "effect"
import { CommitRoom, type Tx } from "../log/Commit.ts"
import { sessionNotFound } from "../sessions/refusals.ts"
import { SessionsRepo } from "../sessions/SessionsRepo.ts"
import { fromColumn, toTimestamp } from "../storage/columns.ts"
import { type Fact, FactsRepo, WANTED, WHOLE_CALL } from "../voice/FactsRepo.ts"
import { latencyOf } from "../voice/latency.ts"
import { VoiceRepo } from "../voice/VoiceRepo.ts"

/** What of a call is shown with its session: how it ended, how quick it was, and what went wrong. */
const SHOWN: Readonly<Record<string, ReadonlyArray<string>>> = {
  harness_failure: ["reason", "message"],
  done: ["completion_reason", "harness_error"]
}

const pick = (body: JsonObject, keys: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(
    keys.flatMap((key) => {
      const value = body[key]
      return value === undefined ? [] : [[key, value]]
    })
  )

/** Puts what is known of a call into its session's metadata, beside what is there. */
export const showFacts = (tx: Tx, sessionId: SessionId, more: JsonObject = {}) =>
  Effect.gen(function* () {
    const session = yield* SessionsRepo.find(tx, sessionId)
    if (session === undefined || session.deletedAt !== null) return
    const shown = (yield* FactsRepo.ofCall(tx, sessionId)).flatMap(({ body, kind }) => {
      const keys = Object.hasOwn(SHOWN, kind) ? SHOWN[kind] : undefined
      return keys === undefined ? [] : [[kind, pick(body, keys)] as const]
    })
    const latency = latencyOf(yield* FactsRepo.measured(tx, sessionId))
    yield* SessionsRepo.setMetadata(tx, sessionId, {
      ...(session.metadata === null ? {} : fromColumn<JsonObject>(session.metadata)),
      ...Object.fromEntries(shown),
      ...(Object.keys(latency).length === 0 ? {} : { latency }),
      ...more
    })
  })

/** Keeps what was told of a call. Of a call that has no session yet it is kept all the same; of a deleted one it is not. */
export const keepFact = (sessionId: SessionId, fact: Omit<Fact, "at">) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const kept = yield* room.commit<boolean, never>((tx) =>
      Effect.gen(function* () {
        const session = yield* SessionsRepo.find(tx, sessionId)
        if (session !== undefined && session.deletedAt !== null) return true
        if (!(yield* FactsRepo.put(tx, sessionId, fact))) return false
        // While a call goes on, its turns are not added up each time.
        if (fact.turn === WHOLE_CALL || (yield* VoiceRepo.hasEnded(tx, sessionId))) yield* showFacts(tx, sessionId)
        return true
      })
    )
    if (!kept) {
      yield* Effect.logWarning("voice: a call has more facts than are kept").pipe(Effect.annotateLogs({ sessionId }))
    }
  })

const isNumber = (value: unknown): value is number => typeof value === "number"

/** What is known of a call beside its log, and what was measured of its turns; with `turn`, what is known of that one. */
export const factsOf = (callSid: CallSid, turn: number | undefined) =>
  Effect.gen(function* () {
    const repo = yield* FactsRepo
    const sessionId = callSession(callSid)
    const session = yield* (yield* SessionsRepo).find(sessionId)
    const facts = yield* repo.of(sessionId, turn ?? WHOLE_CALL)
    const turns = turn === undefined ? yield* repo.measured(sessionId) : []
    const isGone = session !== undefined && session.deletedAt !== null
    if (isGone || (session === undefined && facts.length === 0)) return yield* sessionNotFound(sessionId)
    return {
      callSid,
      sessionId,
      facts: facts
        .filter(({ kind }) => kind !== WANTED)
        .map(({ at, body, kind }) => ({ kind, at: toTimestamp(at), body })),
      ...(turn === undefined
        ? {
            turns: turns.map(({ turn: number, ...times }) => ({
              turnId: callTurn(callSid, number),
              ...Object.fromEntries(Object.entries(times).filter(([, value]) => isNumber(value)))
            }))
          }
        : { turnId: callTurn(callSid, turn) })
    }
  })
