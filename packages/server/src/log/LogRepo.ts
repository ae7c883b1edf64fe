import { Context, Effect, Layer } from "effect"
import { Database } from "../storage/Sqlite.ts"
import type { LogRow } from "./fact.ts"

/** Rows of one read. */
const PAGE_ROWS = 256

const columns =
  'server_cursor AS "serverCursor", session_id AS "sessionId", session_cursor AS "cursor", turn_id AS "turnId", turn_revision AS "revision", type, body'

const make = Effect.gen(function* () {
  const { read } = yield* Database
  const heads = (sql: string, params: ReadonlyArray<string | number>) =>
    read<{ head: number }>(sql, params).pipe(
      Effect.map((rows) => rows[0]?.head ?? 0),
      Effect.orDie
    )
  return {
    /** Newest position of a session among rows up to a server cursor; 0 without one. */
    sessionHead: (sessionId: string, upTo: number) =>
      heads(
        "SELECT session_cursor AS head FROM event WHERE session_id = ? AND server_cursor <= ? ORDER BY session_cursor DESC LIMIT 1",
        [sessionId, upTo]
      ),
    turnHead: (sessionId: string, turnId: string, upTo: number) =>
      heads(
        "SELECT turn_revision AS head FROM event WHERE session_id = ? AND turn_id = ? AND server_cursor <= ? ORDER BY turn_revision DESC LIMIT 1",
        [sessionId, turnId, upTo]
      ),
    sessionPage: (sessionId: string, after: number, upTo: number) =>
      Effect.orDie(
        read<LogRow>(
          `SELECT ${columns} FROM event WHERE session_id = ? AND session_cursor > ? AND session_cursor <= ? ORDER BY session_cursor LIMIT ${PAGE_ROWS}`,
          [sessionId, after, upTo]
        )
      ),
    turnPage: (sessionId: string, turnId: string, after: number, upTo: number) =>
      Effect.orDie(
        read<LogRow>(
          `SELECT ${columns} FROM event WHERE session_id = ? AND turn_id = ? AND turn_revision > ? AND turn_revision <= ? ORDER BY turn_revision LIMIT ${PAGE_ROWS}`,
          [sessionId, turnId, after, upTo]
        )
      ),
    serverPage: (after: number, upTo: number) =>
      Effect.orDie(
        read<LogRow>(
          `SELECT ${columns} FROM event WHERE server_cursor > ? AND server_cursor <= ? ORDER BY server_cursor LIMIT ${PAGE_ROWS}`,
          [after, upTo]
        )
      )
  }
})

/** The log, read by cursor. */
export class LogRepo extends Context.Tag("@harness/server/LogRepo")<LogRepo, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(LogRepo, make)
}
