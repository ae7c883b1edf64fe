import { Context, Effect, Layer } from "effect"
import { Database, type Query } from "../storage/Sqlite.ts"
import type { LogRow } from "./fact.ts"

/** Rows of one page, and the bytes at which it stops: who reads slowly holds no more than these, and one row. */
const PAGE_ROWS = 256
const PAGE_BYTES = 65_536

const columns =
  'server_cursor AS "serverCursor", session_id AS "sessionId", session_cursor AS "cursor", turn_id AS "turnId", turn_revision AS "revision", type, body'

/** Rows in the order of a position, as many as a page takes, and one at least. Sizes are read first: they cost no row. */
const pager = (read: Query, where: string, position: string) => {
  const sizes = `SELECT octet_length(body) AS size FROM event WHERE ${where} ORDER BY ${position} LIMIT ${PAGE_ROWS}`
  const rows = `SELECT ${columns} FROM event WHERE ${where} ORDER BY ${position} LIMIT ?`
  return (params: ReadonlyArray<string | number>): Effect.Effect<ReadonlyArray<LogRow>> =>
    read<{ size: number }>(sizes, params).pipe(
      Effect.flatMap((found) => {
        let count = 0
        for (let bytes = 0; count < found.length && bytes < PAGE_BYTES; count++) bytes += found[count]?.size ?? 0
        return read<LogRow>(rows, [...params, count])
      }),
      Effect.orDie
    )
}

const make = Effect.gen(function* () {
  const { read } = yield* Database
  const heads = (sql: string, params: ReadonlyArray<string | number>) =>
    read<{ head: number }>(sql, params).pipe(
      Effect.map((rows) => rows[0]?.head ?? 0),
      Effect.orDie
    )
  const ofSession = pager(read, "session_id = ? AND session_cursor > ? AND session_cursor <= ?", "session_cursor")
  const ofTurn = pager(
    read,
    "session_id = ? AND turn_id = ? AND turn_revision > ? AND turn_revision <= ?",
    "turn_revision"
  )
  const ofServer = pager(read, "server_cursor > ? AND server_cursor <= ?", "server_cursor")
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
    sessionPage: (sessionId: string, after: number, upTo: number) => ofSession([sessionId, after, upTo]),
    turnPage: (sessionId: string, turnId: string, after: number, upTo: number) =>
      ofTurn([sessionId, turnId, after, upTo]),
    serverPage: (after: number, upTo: number) => ofServer([after, upTo])
  }
})

/** The log, read by cursor. */
export class LogRepo extends Context.Tag("@harness/server/LogRepo")<LogRepo, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(LogRepo, make)
}
