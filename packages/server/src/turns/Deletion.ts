import type { Actor, SessionDeletedResponseValue, SessionId } from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import { OutboxRepo } from "../hooks/OutboxRepo.ts"
import { CommitRoom, type Tx } from "../log/Commit.ts"
import { sessionNotFound } from "../sessions/refusals.ts"
import { type SessionRow, SessionsRepo } from "../sessions/SessionsRepo.ts"
import { toTimestamp } from "../storage/columns.ts"
import { Home } from "../storage/Home.ts"
import { forgetOutput } from "../tools/output.ts"
import { Jobs } from "../workspace/Jobs.ts"
import { Bell, compactionKey } from "./Bell.ts"
import { settle } from "./settle.ts"
import { type TurnRow, TurnsRepo } from "./TurnsRepo.ts"

const unsettled =
  "SELECT turn_id AS \"turnId\" FROM turn WHERE session_id = ? AND state IN ('running', 'waiting', 'queued') ORDER BY rank"

const openCompactions =
  "SELECT compaction_id AS \"compactionId\" FROM compaction WHERE session_id = ? AND state IN ('queued', 'running')"

/** Content that goes; rows of the log keep their stamps. */
const wipes = [
  "UPDATE event SET body = '' WHERE session_id = ? AND type <> 'deleted'",
  "DELETE FROM steer WHERE session_id = ?",
  "DELETE FROM growth WHERE session_id = ?",
  "DELETE FROM turn_part WHERE session_id = ?",
  "DELETE FROM turn WHERE session_id = ?",
  "DELETE FROM entry WHERE session_id = ?",
  "DELETE FROM pending WHERE session_id = ?",
  "DELETE FROM permission_request WHERE session_id = ?",
  "DELETE FROM permission_grant WHERE session_id = ?",
  "DELETE FROM question WHERE session_id = ?",
  "DELETE FROM compaction WHERE session_id = ?",
  "DELETE FROM task WHERE child_session = ?",
  "DELETE FROM task WHERE parent_session = ?",
  "DELETE FROM voice_call WHERE session_id = ?",
  "DELETE FROM voice_reply WHERE session_id = ?",
  "DELETE FROM voice_request WHERE session_id = ?",
  "DELETE FROM voice_fact WHERE session_id = ?"
]

const make = Effect.gen(function* () {
  const room = yield* CommitRoom
  const bell = yield* Bell
  const jobs = yield* Jobs
  const { folder, server } = yield* Home

  /** What its tools left running ends with a session, and the outputs that were kept whole go. Nobody waits for it. */
  const endJobs = (sessions: ReadonlyArray<SessionId>) =>
    Effect.forkDaemon(
      Effect.forEach(
        sessions,
        (sessionId) => Effect.zipRight(jobs.endSession({ server, sessionId }), forgetOutput(folder, sessionId)),
        { discard: true }
      )
    )

  const deleteOne = (tx: Tx, row: SessionRow, actor: Actor) =>
    Effect.gen(function* () {
      const { sessionId } = row
      for (const { turnId } of yield* tx.query<Pick<TurnRow, "turnId">>(unsettled, [sessionId])) {
        const turn = yield* TurnsRepo.find(tx, sessionId, turnId)
        if (turn === undefined || turn.settledAt !== null) continue
        yield* settle(tx, bell, turn, { state: "cancelled", stopReason: "cancelled", actor })
        tx.after(() => bell.stop(sessionId, turnId))
      }
      // Settling let steered prompts go on as turns of their own: they end here too.
      for (const { turnId } of yield* tx.query<Pick<TurnRow, "turnId">>(unsettled, [sessionId])) {
        const turn = yield* TurnsRepo.find(tx, sessionId, turnId)
        if (turn !== undefined) yield* settle(tx, bell, turn, { state: "cancelled", stopReason: "cancelled", actor })
      }
      for (const { compactionId } of yield* tx.query<{ compactionId: string }>(openCompactions, [sessionId])) {
        tx.after(() => bell.stop(sessionId, compactionKey(compactionId)))
      }
      const cursor = yield* SessionsRepo.advance(tx, sessionId, 1)
      yield* tx.append({ sessionId, cursor, type: "deleted" }, { actor }, { deletedAt: tx.at })
      for (const wipe of wipes) yield* tx.query(wipe, [sessionId])
      yield* OutboxRepo.forget(tx, sessionId)
      yield* tx.query(
        "UPDATE session SET deleted_at = ?, title = '', metadata = NULL, active_turn = NULL, active_state = NULL, queued = 0, " +
          `configuration = '{"systemPrompt":"","agent":"general","permissions":[],"tools":{},"externalTools":[]}' WHERE session_id = ?`,
        [tx.now, sessionId]
      )
    })

  /** A session and those it spawned, the last first. Forks are nobody's children. */
  const family = (tx: Tx, sessionId: string) =>
    tx.query<{ sessionId: SessionId }>(
      "WITH RECURSIVE family (id, level) AS (SELECT ?, 0 UNION ALL SELECT session_id, level + 1 FROM session JOIN family ON parent_id = id) " +
        'SELECT id AS "sessionId" FROM family ORDER BY level DESC',
      [sessionId]
    )

  const deleteSession = Effect.fn("Deletion.deleteSession")(function* (sessionId: SessionId, actor: Actor) {
    const ended: Array<SessionId> = []
    const deleted = yield* room.commit((tx) =>
      Effect.gen(function* () {
        const row = yield* SessionsRepo.find(tx, sessionId)
        if (row === undefined) return yield* sessionNotFound(sessionId)
        const answer = (deletedAt: number): SessionDeletedResponseValue => ({
          sessionId,
          deletedAt: toTimestamp(deletedAt)
        })
        if (row.deletedAt !== null) return answer(row.deletedAt)
        for (const member of yield* family(tx, sessionId)) {
          const found = yield* SessionsRepo.find(tx, member.sessionId)
          if (found !== undefined && found.deletedAt === null) yield* deleteOne(tx, found, actor)
          ended.push(member.sessionId)
        }
        return answer(tx.now)
      })
    )
    yield* endJobs(ended)
    return deleted
  })

  const deleteAll = Effect.fn("Deletion.deleteAll")((actor: Actor) =>
    room
      .commit<ReadonlyArray<SessionId>, never>((tx) =>
        Effect.gen(function* () {
          const rows = yield* tx.query<{ sessionId: SessionId }>(
            'SELECT session_id AS "sessionId" FROM session WHERE deleted_at IS NULL ORDER BY ord'
          )
          for (const { sessionId } of rows) {
            const row = yield* SessionsRepo.find(tx, sessionId)
            if (row !== undefined) yield* deleteOne(tx, row, actor)
          }
          return rows.map(({ sessionId }) => sessionId)
        })
      )
      .pipe(
        Effect.tap((ended) => Effect.zipRight(Effect.forkDaemon(jobs.endServer(server)), endJobs(ended))),
        Effect.map(({ length }) => length)
      )
  )

  return { deleteSession, deleteAll }
})

/** Ends sessions for good: their turns are cancelled, their content goes, their ids are never used again. */
export class Deletion extends Context.Tag("@harness/server/Deletion")<Deletion, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(Deletion, make)
}
