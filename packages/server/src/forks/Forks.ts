import type * as SqlError from "@effect/sql/SqlError"
import type {
  Actor,
  ConflictError,
  ForkSessionRequestValue,
  NotFoundError,
  Session,
  SessionId,
  TurnId
} from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import { HistoryRepo, placeSql } from "../history/HistoryRepo.ts"
import { CommitRoom, type Tx } from "../log/Commit.ts"
import { Models } from "../models/Models.ts"
import { busy, entryNotFound, mismatch, sessionDeleted, turnNotFound } from "../sessions/refusals.ts"
import { establish, living } from "../sessions/Sessions.ts"
import { configurationOf, type SessionRow, SessionsRepo, toSession } from "../sessions/SessionsRepo.ts"
import { requestHash } from "../storage/columns.ts"
import { Home } from "../storage/Home.ts"
import { type TurnRow, TurnsRepo } from "../turns/TurnsRepo.ts"

/** How far a copy goes: turns up to `seq`, appended entries up to the place `ord`. */
interface Extent {
  readonly seq: number
  readonly ord: number
}

const EVERYTHING: Extent = { seq: Number.MAX_SAFE_INTEGER, ord: 2 ** 40 }

/** The places a turn's entries take. One that never ran stands behind everything of the turns before it. */
const placesOf = (tx: Tx, turn: TurnRow) =>
  Effect.gen(function* () {
    const [own] = yield* tx.query<{ first: number | null; last: number | null }>(
      `SELECT min(${placeSql("ord")}) AS first, max(${placeSql("ord")}) AS last FROM entry WHERE session_id = ? AND turn_id = ?`,
      [turn.sessionId, turn.turnId]
    )
    if (own?.first != null && own.last !== null) return { first: own.first, last: own.last }
    const [before] = yield* tx.query<{ last: number }>(
      `SELECT coalesce(max(${placeSql("e.ord")}), 0) AS last FROM entry e LEFT JOIN turn t ON t.session_id = e.session_id AND t.turn_id = e.turn_id ` +
        "WHERE e.session_id = ? AND e.ord < ? AND (t.seq < ? OR (e.turn_id IS NULL AND e.accepted_cursor < ?))",
      [turn.sessionId, EVERYTHING.ord, turn.seq, turn.acceptedCursor]
    )
    const last = before?.last ?? 0
    return { first: last + 1, last }
  })

/** A turn a boundary may name: known and settled. A prompt that joined another turn stands for that turn. */
const settledTurn = (tx: Tx, sessionId: SessionId, turnId: TurnId) =>
  Effect.gen(function* () {
    const named = yield* TurnsRepo.find(tx, sessionId, turnId)
    const joined = named?.state === "steered" ? named.joined : null
    const turn = joined === null ? named : yield* TurnsRepo.find(tx, sessionId, joined)
    if (turn === undefined) return yield* turnNotFound(turnId)
    if (turn.settledAt === null) return yield* busy(turnId)
    return turn
  })

const throughTurn = (tx: Tx, sessionId: SessionId, turnId: TurnId) =>
  Effect.gen(function* () {
    const turn = yield* settledTurn(tx, sessionId, turnId)
    const { last } = yield* placesOf(tx, turn)
    return { seq: turn.seq, ord: last }
  })

const extentOf = (
  tx: Tx,
  sessionId: SessionId,
  { turnId, through }: ForkSessionRequestValue
): Effect.Effect<Extent, NotFoundError | ConflictError | SqlError.SqlError> =>
  Effect.gen(function* () {
    if (turnId !== undefined) {
      const turn = yield* settledTurn(tx, sessionId, turnId)
      const { first } = yield* placesOf(tx, turn)
      return { seq: turn.seq - 1, ord: first - 1 }
    }
    if (through === undefined) return EVERYTHING
    if ("turnId" in through) return yield* throughTurn(tx, sessionId, through.turnId)
    const entry = yield* HistoryRepo.find(tx, sessionId, through.entryId)
    if (entry === undefined) return yield* entryNotFound(through.entryId)
    if (entry.turnId !== null) return yield* throughTurn(tx, sessionId, entry.turnId)
    if (entry.ord >= EVERYTHING.ord) return yield* busy(undefined)
    // Turns whose first word stands before the entry.
    const [last] = yield* tx.query<{ seq: number }>(
      "SELECT coalesce(max(t.seq), 0) AS seq FROM turn t JOIN entry e ON e.session_id = t.session_id AND e.turn_id = t.turn_id " +
        `WHERE t.session_id = ? AND ${placeSql("e.ord")} < ?`,
      [sessionId, entry.place]
    )
    return { seq: last?.seq ?? 0, ord: entry.place }
  })

/** Settled turns keep their ids, and the prompts that joined them go along. Their rows of the log stay behind. */
const copyTurns = (tx: Tx, from: string, to: string, extent: Extent) =>
  Effect.gen(function* () {
    const turns = yield* tx.query<{ turnId: string }>(
      'SELECT turn_id AS "turnId" FROM turn WHERE session_id = ? AND settled_at IS NOT NULL AND seq <= ?',
      [from, extent.seq]
    )
    const ids = turns.map(({ turnId }) => turnId)
    const list = JSON.stringify(ids)
    yield* tx.query(
      "INSERT INTO turn (session_id, turn_id, seq, rank, state, revision, attempt, request_hash, prompt, options, model, agent, mode, outcome, " +
        "cancel, joined, actor, accepted_cursor, accepted_at, started_at, settled_at) SELECT ?, turn_id, seq, rank, state, revision, attempt, " +
        "request_hash, prompt, options, model, agent, mode, outcome, cancel, joined, actor, accepted_cursor, accepted_at, started_at, settled_at " +
        "FROM turn WHERE session_id = ? AND (turn_id IN (SELECT value FROM json_each(?)) OR joined IN (SELECT value FROM json_each(?)))",
      [to, from, list, list]
    )
    yield* tx.query(
      "INSERT INTO turn_part (session_id, turn_id, n, step, open, body) SELECT ?, turn_id, n, step, open, body FROM turn_part " +
        "WHERE session_id = ? AND turn_id IN (SELECT value FROM json_each(?))",
      [to, from, list]
    )
    yield* tx.query(
      "UPDATE session SET turns = ?, next_seq = 1 + (SELECT coalesce(max(seq), 0) FROM turn WHERE session_id = ?) WHERE session_id = ?",
      [ids.length, to, to]
    )
    return ids
  })

const make = Effect.gen(function* () {
  const home = yield* Home
  const room = yield* CommitRoom
  const models = yield* Models

  /** Copies a session's settled history into a new session. The running turn and the queue stay behind. */
  const fork = Effect.fn("Forks.fork")(function* (
    sessionId: SessionId,
    forkedSessionId: SessionId,
    request: ForkSessionRequestValue,
    actor: Actor
  ) {
    const defaultModel = yield* models.defaultModel
    const hash = requestHash({ fork: sessionId, visibility: "all", ...request })
    return yield* room.commit((tx) =>
      Effect.gen(function* () {
        const again = (row: SessionRow) =>
          Effect.gen(function* () {
            if (row.deletedAt !== null) return yield* sessionDeleted(forkedSessionId)
            if (row.requestHash !== hash) return yield* mismatch("session", forkedSessionId)
            return { created: false, session: toSession(row, home.server, defaultModel) }
          })
        const known = yield* SessionsRepo.find(tx, forkedSessionId)
        if (known !== undefined) return yield* again(known)
        const parent = yield* living(tx, sessionId)
        const extent = yield* extentOf(tx, sessionId, request)
        const boundary =
          request.turnId !== undefined
            ? { turnId: request.turnId }
            : request.through !== undefined
              ? { through: request.through }
              : undefined
        const forkedFrom: Session["forkedFrom"] = { sessionId, ...(boundary === undefined ? {} : { boundary }) }
        yield* establish(
          tx,
          home.server,
          {
            sessionId: forkedSessionId,
            requestHash: hash,
            title: parent.title,
            workdir: parent.workdir,
            forkedFrom,
            depth: 0,
            configuration: configurationOf(parent),
            defaultModel
          },
          actor
        )
        const turns = yield* copyTurns(tx, sessionId, forkedSessionId, extent)
        yield* HistoryRepo.copy(tx, {
          from: sessionId,
          to: forkedSessionId,
          turns,
          upTo: extent.ord,
          actorId: request.visibility === "actor" ? actor.actorId : undefined
        })
        const row = yield* living(tx, forkedSessionId)
        return { created: true, session: toSession(row, home.server, defaultModel) }
      })
    )
  })

  return { fork }
})

/** A session that begins with another's history. */
export class Forks extends Context.Tag("@harness/server/Forks")<Forks, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(Forks, make)
}
