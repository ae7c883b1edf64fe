import type { SafeFailure } from "@harness/protocol"
import { Effect, Either } from "effect"
import { Compactions } from "../compaction/Compactions.ts"
import type { CompactionRow } from "../compaction/CompactionsRepo.ts"
import type { Keep } from "../compaction/plan.ts"
import { roomOf, tokensOfText } from "../compaction/tokens.ts"
import { HistoryRepo } from "../history/HistoryRepo.ts"
import { Models } from "../models/Models.ts"
import type { ResolvedModel } from "../providers/Model.ts"
import { configurationOf, SessionsRepo } from "../sessions/SessionsRepo.ts"
import { derivedId } from "../turns/envelope.ts"
import { VoiceRepo } from "../voice/VoiceRepo.ts"
import { Beside } from "./Beside.ts"
import { agentOf } from "./rulebooks.ts"
import type { Stage } from "./Stage.ts"
import { EVERYTHING, guarded, made, place, run, WHOLE_STEPS, WORTH } from "./summary.ts"

/** A call's history is summarised when it fills so much of its window's room; so much of the room stays as it is. */
const NEAR = 0.8
const KEPT_ON_CALL = 0.3
/** Replies of a call whose fate may still be open. */
const OPEN_REPLIES = 4

const over: SafeFailure = {
  kind: "transient",
  code: "compaction.interrupted",
  message: "the call has ended",
  retryable: true
}

/** Nobody asked for it. */
const isOwn = ({ requestHash }: CompactionRow): boolean => requestHash === ""

/** The session's model, else its agent's, else the default. */
const modelOf = (sessionId: CompactionRow["sessionId"]) =>
  Effect.gen(function* () {
    const models = yield* Models
    const sessions = yield* SessionsRepo
    const session = yield* sessions.find(sessionId)
    if (session === undefined) return yield* models.resolve(yield* models.defaultModel)
    const { agent, model } = configurationOf(session)
    const own = model ?? (yield* agentOf(session.workdir, agent)).model
    return yield* models.resolve(own ?? (yield* models.defaultModel))
  })

/** What was made beside a call takes its place once no turn is under way. Answers whether it did. */
const placeMade = (sessionId: CompactionRow["sessionId"]) =>
  Effect.gen(function* () {
    const beside = yield* Beside
    const sessions = yield* SessionsRepo
    const session = yield* sessions.find(sessionId)
    const done = session?.activeTurn === null ? beside.take(sessionId) : undefined
    if (done === undefined) return false
    const { tokensAfter = 0, tokensBefore = 0 } = done.details
    const placed = yield* guarded(done.row, false, place(done))
    if (placed && tokensAfter <= tokensBefore * WORTH) beside.gained(sessionId)
    return true
  })

/** What a compaction of a call keeps: all that the caller may yet turn out not to have heard, and of its own the newest. */
const keepOfCall = (row: CompactionRow, model: ResolvedModel) =>
  Effect.gen(function* () {
    const voice = yield* VoiceRepo
    const history = yield* HistoryRepo
    const newest = yield* voice.replies(row.sessionId, OPEN_REPLIES)
    const open = new Set(newest.filter(({ heard }) => heard === null).map(({ turnId }) => turnId))
    const entries = yield* history.forModel(row.sessionId)
    const from = entries.find(({ turnId }) => turnId !== undefined && open.has(turnId))?.ord
    const kept = isOwn(row)
      ? { tokens: Math.floor((roomOf(model) ?? 0) * KEPT_ON_CALL), units: WHOLE_STEPS }
      : EVERYTHING
    const keep: Keep = { ...kept, ...(from === undefined ? {} : { from }) }
    return keep
  })

/**
 * A compaction that waits, between turns. `watch` says what may stop it. Nobody on a call waits for one: it is made beside,
 * and takes its place between later turns. Answers whether there was something to do.
 */
export const compactBetween = (
  sessionId: CompactionRow["sessionId"],
  watch: (compactionId: string) => Effect.Effect<Effect.Effect<void>>
) =>
  Effect.gen(function* () {
    const beside = yield* Beside
    const compactions = yield* Compactions
    const voice = yield* VoiceRepo
    if (beside.has(sessionId)) return yield* placeMade(sessionId)
    const row = yield* compactions.takeUp(sessionId)
    if (row === undefined) return false
    const stopped = yield* watch(row.compactionId)
    const model = yield* Effect.either(modelOf(sessionId))
    if (Either.isLeft(model)) {
      const { code, message } = model.left
      yield* compactions.fail(row, { kind: "permanent", code, message, retryable: false })
      return true
    }
    const call = yield* voice.call(sessionId)
    if (call?.state === "live") {
      const making = Effect.flatMap(keepOfCall(row, model.right), (keep) => made(row, model.right, keep))
      yield* beside.begin(row, guarded(row, undefined, making))
    } else if (isOwn(row)) {
      yield* compactions.fail(row, over)
    } else {
      yield* Effect.raceFirst(guarded(row, false, run(row, model.right, EVERYTHING)), stopped)
    }
    return true
  })

/** A turn of a call has ended: a history that is about to outgrow its window is summarised before it does. */
export const compactSoon = ({ growing, held, load, model }: Stage) =>
  Effect.gen(function* () {
    const beside = yield* Beside
    const compactions = yield* Compactions
    const voice = yield* VoiceRepo
    const { sessionId, turnId } = held.turn
    const room = roomOf(model) ?? Number.POSITIVE_INFINITY
    const tokens = load + tokensOfText(growing.text)
    if (tokens < room * NEAR) return
    const call = yield* voice.call(sessionId)
    if (call?.state === "live" && beside.tries(sessionId, tokens, room)) {
      yield* compactions.want(sessionId, derivedId("call", turnId))
    }
  })

/** A compaction that a turn needs to go on. Answers whether the history is shorter now. */
export const compactNow = (sessionId: CompactionRow["sessionId"], id: string, model: ResolvedModel, keep: Keep) =>
  Effect.gen(function* () {
    const compactions = yield* Compactions
    const row = yield* compactions.begin(sessionId, id)
    return row === undefined ? false : yield* run(row, model, keep)
  })
