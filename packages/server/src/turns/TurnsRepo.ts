import {
  type Actor,
  MAX_STEPS_DEFAULT,
  type Prompt,
  type PromptPart,
  type SessionId,
  type SessionTurnState,
  type StopReason,
  type TurnId,
  type TurnMode,
  type TurnOptions,
  type TurnPart,
  type TurnSnapshot,
  type TurnStep,
  type Usage
} from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import type { Tx } from "../log/Commit.ts"
import { fromColumn, toTimestamp } from "../storage/columns.ts"
import { Database, type Query } from "../storage/Sqlite.ts"

/** What a turn has come to so far. */
export interface Outcome {
  readonly steps: ReadonlyArray<TurnStep>
  readonly usage: Usage
  readonly stopReason?: StopReason | undefined
  readonly failure?: TurnSnapshot["failure"]
  readonly finalText?: string | undefined
  /** What a JSON contract was given, or why it was not, and the last try. */
  readonly result?: unknown
  readonly resultError?: string | undefined
  readonly rejected?: unknown
}

/** Who asked for the end, and what it is to be called. */
export interface CancelMark {
  readonly stopReason: "cancelled" | "interrupted"
  readonly reason?: string | undefined
  /** Its running calls are not ended with it: what comes of them is told later. */
  readonly detach?: true
}

/** What a turn is asked for beside what the wire knows. */
export interface InnerOptions {
  /** These words are the answer; no model is asked. */
  readonly line?: string
  /** What is said should it fail. */
  readonly apology?: string
  /** It took the place of a turn that was running. */
  readonly interrupts?: true
}

/** One row, as SQLite keeps it. `steered`: it joined another turn and has no life of its own. */
export interface TurnRow {
  readonly sessionId: SessionId
  readonly turnId: TurnId
  readonly seq: number
  readonly rank: number
  readonly state: SessionTurnState | "steered"
  readonly revision: number
  readonly attempt: number
  readonly requestHash: string
  readonly prompt: string
  readonly options: string
  readonly model: string
  readonly agent: string
  readonly mode: TurnMode
  readonly outcome: string
  readonly cancel: string | null
  readonly joined: TurnId | null
  readonly actor: string | null
  readonly acceptedCursor: number
  readonly acceptedAt: number
  readonly startedAt: number | null
  readonly settledAt: number | null
}

/** One part with its place; `step` tells which generation it belongs to. */
export interface PartRow {
  readonly n: number
  readonly step: number
  readonly open: boolean
  readonly part: TurnPart
}

export interface SteerRow {
  readonly entryId: string
  readonly turnId: TurnId
  readonly n: number
  readonly content: string
  readonly requestHash: string
  readonly state: "pending" | "applied" | "dropped"
  readonly alias: number
  readonly acceptedCursor: number
}

const columns =
  'session_id AS "sessionId", turn_id AS "turnId", seq, rank, state, revision, attempt, request_hash AS "requestHash", prompt, options, ' +
  'model, agent, mode, outcome, cancel, joined, actor, accepted_cursor AS "acceptedCursor", accepted_at AS "acceptedAt", ' +
  'started_at AS "startedAt", settled_at AS "settledAt"'
const findSql = `SELECT ${columns} FROM turn WHERE session_id = ? AND turn_id = ?`
const headSql = `SELECT ${columns} FROM turn WHERE session_id = ? AND state = 'queued' ORDER BY rank LIMIT 1`
const partsSql =
  "SELECT n, step, open, body, (SELECT json_group_array(json_array(at, text)) FROM (SELECT at, text FROM growth g " +
  "WHERE g.session_id = p.session_id AND g.turn_id = p.turn_id AND g.n = p.n ORDER BY at)) AS growth " +
  "FROM turn_part p WHERE session_id = ? AND turn_id = ?"
const steerColumns =
  'entry_id AS "entryId", turn_id AS "turnId", n, content, request_hash AS "requestHash", state, alias, accepted_cursor AS "acceptedCursor"'

interface StoredPart {
  readonly n: number
  readonly step: number
  readonly open: number
  readonly body: string
  readonly growth: string
}

/** A piece begins where its offset says: a row of the log may have told more than the last checkpoint held. */
const toPart = ({ n, step, open, body, growth }: StoredPart): PartRow => {
  const part = fromColumn<TurnPart>(body)
  const pieces = fromColumn<ReadonlyArray<readonly [at: number, text: string]>>(growth)
  const grown =
    pieces.length > 0 && "text" in part
      ? { ...part, text: pieces.reduce((text, [at, piece]) => text.slice(0, at) + piece, part.text) }
      : part
  return { n, step, open: open === 1, part: grown }
}

export const outcomeOf = (row: TurnRow): Outcome => fromColumn<Outcome>(row.outcome)
export const promptOf = (row: TurnRow): Prompt => fromColumn<Prompt>(row.prompt)
export const optionsOf = (row: TurnRow): TurnOptions & InnerOptions => fromColumn(row.options)
/** A turn that has had all the generations it may have. */
export const isSpent = (row: TurnRow): boolean =>
  outcomeOf(row).steps.length >= (optionsOf(row).maxSteps ?? MAX_STEPS_DEFAULT)
export const cancelOf = (row: TurnRow): CancelMark | undefined =>
  row.cancel === null ? undefined : fromColumn<CancelMark>(row.cancel)
export const actorOf = (row: TurnRow): Actor | undefined =>
  row.actor === null ? undefined : fromColumn<Actor>(row.actor)
export const steerContent = (row: SteerRow): ReadonlyArray<PromptPart> => fromColumn(row.content)

/** A row and its parts as the wire shows them. A steered row shows as what it is about to be: queued. */
export const toSnapshot = (row: TurnRow, parts: ReadonlyArray<TurnPart>): TurnSnapshot => {
  const { steps, usage, stopReason, failure, finalText, result, resultError, rejected } = outcomeOf(row)
  return {
    turnId: row.turnId,
    sessionId: row.sessionId,
    revision: row.revision,
    state: row.state === "steered" ? "queued" : row.state,
    ...(stopReason === undefined ? {} : { stopReason }),
    ...(failure === undefined ? {} : { failure }),
    prompt: promptOf(row),
    model: row.model,
    agent: row.agent,
    mode: row.mode,
    attempt: row.attempt,
    parts,
    steps,
    usage,
    ...(finalText === undefined ? {} : { finalText }),
    ...(result === undefined ? {} : { result }),
    ...(resultError === undefined ? {} : { resultError }),
    ...(rejected === undefined ? {} : { rejected }),
    acceptedAt: toTimestamp(row.acceptedAt),
    ...(row.startedAt === null ? {} : { startedAt: toTimestamp(row.startedAt) }),
    ...(row.settledAt === null ? {} : { settledAt: toTimestamp(row.settledAt) })
  }
}

const find = (tx: Tx, sessionId: string, turnId: string) =>
  Effect.map(tx.query<TurnRow>(findSql, [sessionId, turnId]), (rows) => rows[0])

/** The turn that is to start next. */
const head = (tx: Tx, sessionId: string) => Effect.map(tx.query<TurnRow>(headSql, [sessionId]), (rows) => rows[0])

const insert = (tx: Tx, row: TurnRow) =>
  tx.query(
    "INSERT INTO turn (session_id, turn_id, seq, rank, state, revision, attempt, request_hash, prompt, options, model, agent, mode, outcome, " +
      "cancel, joined, actor, accepted_cursor, accepted_at, started_at, settled_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [
      row.sessionId,
      row.turnId,
      row.seq,
      row.rank,
      row.state,
      row.revision,
      row.attempt,
      row.requestHash,
      row.prompt,
      row.options,
      row.model,
      row.agent,
      row.mode,
      row.outcome,
      row.cancel,
      row.joined,
      row.actor,
      row.acceptedCursor,
      row.acceptedAt,
      row.startedAt,
      row.settledAt
    ]
  )

/** Writes what may change in a turn's life. */
const update = (tx: Tx, row: TurnRow) =>
  tx.query(
    "UPDATE turn SET rank = ?, state = ?, revision = ?, attempt = ?, prompt = ?, outcome = ?, cancel = ?, joined = ?, started_at = ?, settled_at = ? " +
      "WHERE session_id = ? AND turn_id = ?",
    [
      row.rank,
      row.state,
      row.revision,
      row.attempt,
      row.prompt,
      row.outcome,
      row.cancel,
      row.joined,
      row.startedAt,
      row.settledAt,
      row.sessionId,
      row.turnId
    ]
  )

const parts = (query: Query, sessionId: string, turnId: string) =>
  Effect.map(query<StoredPart>(`${partsSql} ORDER BY n`, [sessionId, turnId]), (rows) => rows.map(toPart))

const openParts = (tx: Tx, sessionId: string, turnId: string) =>
  Effect.map(tx.query<StoredPart>(`${partsSql} AND open = 1 ORDER BY n`, [sessionId, turnId]), (rows) =>
    rows.map(toPart)
  )

/** Numbers of the parts that will not change any more. */
const closedParts = (tx: Tx, sessionId: string, turnId: string) =>
  Effect.map(
    tx.query<{ n: number }>("SELECT n FROM turn_part WHERE session_id = ? AND turn_id = ? AND open = 0", [
      sessionId,
      turnId
    ]),
    (rows) => new Set(rows.map(({ n }) => n))
  )

/** Puts a part as it is now. A whole one takes the place of what grew. */
const putPart = (tx: Tx, sessionId: string, turnId: string, { n, step, open, part }: PartRow) =>
  Effect.gen(function* () {
    yield* tx.query(
      "INSERT INTO turn_part (session_id, turn_id, n, step, open, body) VALUES (?, ?, ?, ?, ?, ?) " +
        "ON CONFLICT DO UPDATE SET step = excluded.step, open = excluded.open, body = excluded.body",
      [sessionId, turnId, n, step, open ? 1 : 0, JSON.stringify(part)]
    )
    if (part.type === "text" || part.type === "reasoning" || part.type === "refusal") {
      yield* tx.query("DELETE FROM growth WHERE session_id = ? AND turn_id = ? AND n = ?", [sessionId, turnId, n])
    }
  })

/** Adds to a growing part; its row is made with the first piece. */
const growPart = (tx: Tx, sessionId: string, turnId: string, row: PartRow, at: number, text: string) =>
  Effect.gen(function* () {
    if (at === 0) yield* putPart(tx, sessionId, turnId, row)
    yield* tx.query("INSERT OR REPLACE INTO growth (session_id, turn_id, n, at, text) VALUES (?, ?, ?, ?, ?)", [
      sessionId,
      turnId,
      row.n,
      at,
      text
    ])
  })

const putOptions = (tx: Tx, { options, sessionId, turnId }: Pick<TurnRow, "options" | "sessionId" | "turnId">) =>
  tx.query("UPDATE turn SET options = ? WHERE session_id = ? AND turn_id = ?", [options, sessionId, turnId])

const lastPart = (tx: Tx, sessionId: string, turnId: string) =>
  Effect.map(
    tx.query<{ n: number }>("SELECT coalesce(max(n), 0) AS n FROM turn_part WHERE session_id = ? AND turn_id = ?", [
      sessionId,
      turnId
    ]),
    ([row]) => row?.n ?? 0
  )

/** A steer by its entry's id or, with `alias`, a prompt that joined by its turn's: ids of two kinds. */
const findSteer = (tx: Tx, sessionId: string, { entryId, alias }: Pick<SteerRow, "entryId" | "alias">) =>
  Effect.map(
    tx.query<SteerRow>(`SELECT ${steerColumns} FROM steer WHERE session_id = ? AND entry_id = ? AND alias = ?`, [
      sessionId,
      entryId,
      alias
    ]),
    (rows) => rows[0]
  )

/** Steers of a turn that nobody has taken, in order of acceptance. */
const pendingSteers = (query: Query, sessionId: string, turnId: string) =>
  query<SteerRow>(
    `SELECT ${steerColumns} FROM steer WHERE session_id = ? AND turn_id = ? AND state = 'pending' ORDER BY seq`,
    [sessionId, turnId]
  )

const insertSteer = (tx: Tx, sessionId: string, steer: SteerRow & { readonly seq: number }) =>
  tx.query(
    "INSERT INTO steer (session_id, entry_id, turn_id, n, seq, content, request_hash, state, alias, accepted_cursor) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [
      sessionId,
      steer.entryId,
      steer.turnId,
      steer.n,
      steer.seq,
      steer.content,
      steer.requestHash,
      steer.state,
      steer.alias,
      steer.acceptedCursor
    ]
  )

const settleSteer = (
  tx: Tx,
  sessionId: string,
  { entryId, alias }: Pick<SteerRow, "entryId" | "alias">,
  state: "applied" | "dropped"
) =>
  tx.query("UPDATE steer SET state = ? WHERE session_id = ? AND entry_id = ? AND alias = ?", [
    state,
    sessionId,
    entryId,
    alias
  ])

const make = Effect.gen(function* () {
  const { read } = yield* Database
  const rows = (sql: string, params: ReadonlyArray<string | number>) => Effect.orDie(read<TurnRow>(sql, params))
  return {
    find: (sessionId: string, turnId: string) => Effect.map(rows(findSql, [sessionId, turnId]), (found) => found[0]),
    parts: (sessionId: string, turnId: string) => Effect.orDie(parts(read, sessionId, turnId)),
    hasPendingSteers: (sessionId: string, turnId: string) =>
      pendingSteers(read, sessionId, turnId).pipe(
        Effect.map((found) => found.length > 0),
        Effect.orDie
      ),
    /** A session's turns, oldest first; `before` answers the ones just before a place. */
    page: (sessionId: string, from: { after: number } | { before: number }, limit: number) =>
      "after" in from
        ? rows(
            `SELECT ${columns} FROM turn WHERE session_id = ? AND state <> 'steered' AND seq > ? ORDER BY seq LIMIT ?`,
            [sessionId, from.after, limit]
          )
        : Effect.map(
            rows(
              `SELECT ${columns} FROM turn WHERE session_id = ? AND state <> 'steered' AND seq < ? ORDER BY seq DESC LIMIT ?`,
              [sessionId, from.before, limit]
            ),
            (found) => found.toReversed()
          ),
    /** Usage of every turn that a turn's sub-agents ran, near and far. */
    usageBelow: (sessionId: string, turnId: string) =>
      read<{ outcome: string }>(
        "WITH RECURSIVE below (session, turn) AS (SELECT child_session, child_turn FROM task WHERE parent_session = ? AND parent_turn = ? " +
          "UNION SELECT child_session, child_turn FROM task JOIN below ON parent_session = session AND parent_turn = turn) " +
          "SELECT outcome FROM turn JOIN below ON session_id = session AND turn_id = turn",
        [sessionId, turnId]
      ).pipe(
        Effect.map((found) => found.map(({ outcome }) => fromColumn<Outcome>(outcome).usage)),
        Effect.orDie
      ),
    queue: (sessionId: string) =>
      rows(`SELECT ${columns} FROM turn WHERE session_id = ? AND state = 'queued' ORDER BY rank`, [sessionId]),
    last: (sessionId: string) =>
      Effect.map(
        rows(`SELECT ${columns} FROM turn WHERE session_id = ? AND settled_at IS NOT NULL ORDER BY seq DESC LIMIT 1`, [
          sessionId
        ]),
        (found) => found[0]
      )
  }
})

/** The turn tables: turns, their parts, and the steers on their way. Writing is for commands alone. */
export class TurnsRepo extends Context.Tag("@harness/server/TurnsRepo")<
  TurnsRepo,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(TurnsRepo, make)
  static readonly find = find
  static readonly head = head
  static readonly insert = insert
  static readonly update = update
  static readonly parts = parts
  static readonly openParts = openParts
  static readonly closedParts = closedParts
  static readonly putPart = putPart
  static readonly growPart = growPart
  static readonly putOptions = putOptions
  static readonly lastPart = lastPart
  static readonly findSteer = findSteer
  static readonly pendingSteers = pendingSteers
  static readonly insertSteer = insertSteer
  static readonly settleSteer = settleSteer
}
