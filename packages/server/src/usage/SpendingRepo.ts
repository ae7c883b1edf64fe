import { Context, Effect, Layer } from "effect"
import { Database } from "../storage/Sqlite.ts"

/** What turns have used so far. */
export interface Spent {
  readonly tokens: number
  readonly costUsd: number
  /** From their starts to their ends, or to now. */
  readonly millis: number
}

const usage = (key: string) => `coalesce(json_extract(t.outcome, '$.usage.${key}'), 0)`

// A fork's copied turns were paid for where they ran: they are older than the fork.
const spentSql = (from: string) =>
  `SELECT coalesce(sum(${usage("inputTokens")} + ${usage("outputTokens")}), 0) AS tokens, ` +
  `coalesce(sum(${usage("costUsd")}), 0) AS "costUsd", coalesce(sum(coalesce(t.settled_at, ?) - t.started_at), 0) AS millis ` +
  `FROM turn t JOIN session s ON s.session_id = t.session_id ${from} t.started_at IS NOT NULL AND t.accepted_at >= s.created_at`

const ofSessionSql = spentSql("WHERE t.session_id = ? AND")

const ofTreeSql =
  "WITH RECURSIVE up (id) AS (SELECT ? UNION SELECT parent_id FROM session JOIN up ON session_id = id WHERE parent_id IS NOT NULL), " +
  "down (id) AS (SELECT id FROM up JOIN session ON session_id = id WHERE parent_id IS NULL " +
  "UNION SELECT session_id FROM session JOIN down ON parent_id = id) " +
  spentSql("JOIN down ON down.id = t.session_id WHERE")

const make = Effect.gen(function* () {
  const { read } = yield* Database
  const one = (sql: string, params: ReadonlyArray<string | number>) =>
    read<Spent>(sql, params).pipe(
      Effect.map(([row]) => row ?? { tokens: 0, costUsd: 0, millis: 0 }),
      Effect.orDie
    )
  return {
    /** What a session's own turns have used. */
    ofSession: (sessionId: string, now: number) => one(ofSessionSql, [now, sessionId]),
    /** What the turns of a session's whole family have used: its first ancestor and everybody below. */
    ofTree: (sessionId: string, now: number) => one(ofTreeSql, [sessionId, now])
  }
})

/** What was spent, added up. */
export class SpendingRepo extends Context.Tag("@harness/server/SpendingRepo")<
  SpendingRepo,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(SpendingRepo, make)
}
