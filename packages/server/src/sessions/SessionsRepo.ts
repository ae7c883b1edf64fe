import type * as SqlError from "@effect/sql/SqlError"
import type {
  ExternalTool,
  JsonObject,
  PermissionRule,
  PolicyLayer,
  ServerName,
  Session,
  SessionConfiguration,
  SessionId,
  TurnId
} from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import type { Tx } from "../log/Commit.ts"
import { fromColumn, toTimestamp } from "../storage/columns.ts"
import { Database } from "../storage/Sqlite.ts"

/** What a session is configured with; no `model` means whatever is the default at the time. */
export interface StoredConfiguration {
  readonly model?: string | undefined
  readonly systemPrompt: string
  readonly agent: string
  readonly permissions: ReadonlyArray<PermissionRule>
  readonly tools: PolicyLayer
  readonly externalTools: ReadonlyArray<ExternalTool>
}

/** One row, as SQLite keeps it. */
export interface SessionRow {
  readonly sessionId: SessionId
  readonly ord: number
  readonly cursor: number
  readonly requestHash: string
  readonly title: string
  readonly workdir: string
  readonly metadata: string | null
  readonly forkedFrom: string | null
  readonly spawnedFrom: string | null
  readonly depth: number
  readonly configuration: string
  readonly configurationRevision: number
  readonly activeTurn: TurnId | null
  readonly activeState: "running" | "waiting" | null
  readonly queued: number
  readonly turns: number
  readonly nextSeq: number
  readonly createdAt: number
  readonly deletedAt: number | null
}

const columns =
  'session_id AS "sessionId", ord, cursor, request_hash AS "requestHash", title, workdir, metadata, forked_from AS "forkedFrom", ' +
  'spawned_from AS "spawnedFrom", depth, configuration, configuration_revision AS "configurationRevision", ' +
  'active_turn AS "activeTurn", active_state AS "activeState", queued, turns, next_seq AS "nextSeq", ' +
  'created_at AS "createdAt", deleted_at AS "deletedAt"'

const findSql = `SELECT ${columns} FROM session WHERE session_id = ?`

export const configurationOf = (row: SessionRow): StoredConfiguration =>
  fromColumn<StoredConfiguration>(row.configuration)

/** A session whose next turn is about to start counts as running. */
const stateOf = (row: SessionRow): Session["state"] => row.activeState ?? (row.queued > 0 ? "running" : "idle")

/** A row as the wire shows it. A deleted one keeps its stamps and nothing else. */
export const toSession = (row: SessionRow, server: ServerName, defaultModel: string): Session => {
  const configuration = configurationOf(row)
  return {
    sessionId: row.sessionId,
    server,
    title: row.title,
    workdir: row.workdir,
    model: configuration.model ?? defaultModel,
    agent: configuration.agent,
    state: stateOf(row),
    configurationRevision: row.configurationRevision,
    cursor: row.cursor,
    ...(row.metadata === null ? {} : { metadata: fromColumn<JsonObject>(row.metadata) }),
    ...(row.forkedFrom === null ? {} : { forkedFrom: fromColumn<NonNullable<Session["forkedFrom"]>>(row.forkedFrom) }),
    ...(row.spawnedFrom === null
      ? {}
      : { spawnedFrom: fromColumn<NonNullable<Session["spawnedFrom"]>>(row.spawnedFrom) }),
    createdAt: toTimestamp(row.createdAt)
  }
}

export const toConfiguration = (row: SessionRow, defaultModel: string): SessionConfiguration => {
  const configuration = configurationOf(row)
  return { revision: row.configurationRevision, ...configuration, model: configuration.model ?? defaultModel }
}

const find = (tx: Tx, sessionId: string) => Effect.map(tx.query<SessionRow>(findSql, [sessionId]), (rows) => rows[0])

/** What a new row starts with. */
export interface NewSession {
  readonly sessionId: SessionId
  readonly requestHash: string
  readonly title: string
  readonly workdir: string
  readonly metadata?: JsonObject | undefined
  readonly forkedFrom?: Session["forkedFrom"]
  readonly spawnedFrom?: Session["spawnedFrom"]
  readonly depth: number
  readonly configuration: StoredConfiguration
}

const insert = (tx: Tx, session: NewSession): Effect.Effect<SessionRow, SqlError.SqlError> =>
  Effect.gen(function* () {
    const json = (value: unknown) => (value === undefined ? null : JSON.stringify(value))
    yield* tx.query(
      "INSERT INTO session (session_id, ord, cursor, request_hash, title, workdir, metadata, forked_from, spawned_from, parent_id, depth, " +
        "configuration, configuration_revision, created_at) " +
        "VALUES (?, (SELECT coalesce(max(ord), 0) + 1 FROM session), 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)",
      [
        session.sessionId,
        session.requestHash,
        session.title,
        session.workdir,
        json(session.metadata),
        json(session.forkedFrom),
        json(session.spawnedFrom),
        session.spawnedFrom?.sessionId ?? null,
        session.depth,
        JSON.stringify(session.configuration),
        tx.now
      ]
    )
    const [row] = yield* tx.query<SessionRow>(findSql, [session.sessionId])
    return row ?? (yield* Effect.dieMessage("a session just inserted is missing"))
  })

/** Moves the session's log on by some rows; answers the first of their positions. */
const advance = (tx: Tx, sessionId: string, rows: number): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    tx.query<{ cursor: number }>("UPDATE session SET cursor = cursor + ? WHERE session_id = ? RETURNING cursor", [
      rows,
      sessionId
    ]),
    ([row]) => (row?.cursor ?? rows) - rows + 1
  )

/** Facts about a session, whole; nobody is told. */
const setMetadata = (tx: Tx, sessionId: string, metadata: JsonObject) =>
  tx.query("UPDATE session SET metadata = ? WHERE session_id = ?", [JSON.stringify(metadata), sessionId])

/** Filters of the session list. */
export interface SessionFilter {
  readonly workdir?: string | undefined
  readonly parent?: string | undefined
  readonly state?: Session["state"] | undefined
}

const stateSql: Record<Session["state"], string> = {
  idle: "active_state IS NULL AND queued = 0",
  running: "(active_state = 'running' OR (active_state IS NULL AND queued > 0))",
  waiting: "active_state = 'waiting'"
}

const make = Effect.gen(function* () {
  const { read } = yield* Database
  return {
    find: (sessionId: string) =>
      read<SessionRow>(findSql, [sessionId]).pipe(
        Effect.map((rows) => rows[0]),
        Effect.orDie
      ),
    /** Not deleted, oldest first, after one place. */
    list: (filter: SessionFilter, after: number, limit: number) => {
      const where = ["deleted_at IS NULL", "ord > ?"]
      const params: Array<string | number> = [after]
      if (filter.workdir !== undefined) {
        where.push("workdir = ?")
        params.push(filter.workdir)
      }
      if (filter.parent !== undefined) {
        where.push("parent_id = ?")
        params.push(filter.parent)
      }
      if (filter.state !== undefined) where.push(stateSql[filter.state])
      return Effect.orDie(
        read<SessionRow>(`SELECT ${columns} FROM session WHERE ${where.join(" AND ")} ORDER BY ord LIMIT ?`, [
          ...params,
          limit
        ])
      )
    },
    /** Sessions with a turn to run, for the start. One whose turn waits is left alone: a settlement wakes it. */
    due: Effect.orDie(
      read<{ sessionId: SessionId }>(
        `SELECT session_id AS "sessionId" FROM session WHERE deleted_at IS NULL AND ${stateSql.running} ORDER BY ord`
      )
    )
  }
})

/** The session table. Writing is for commands alone. */
export class SessionsRepo extends Context.Tag("@harness/server/SessionsRepo")<
  SessionsRepo,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(SessionsRepo, make)
  static readonly find = find
  static readonly insert = insert
  static readonly advance = advance
  static readonly setMetadata = setMetadata
}
