import type * as SqlError from "@effect/sql/SqlError"
import { type CallId, type CustomMessage, EntryId, type HistoryEntry, type Part, type TurnId } from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import type { Tx } from "../log/Commit.ts"
import { fromColumn } from "../storage/columns.ts"
import { mint } from "../storage/mint.ts"
import { Database } from "../storage/Sqlite.ts"

/** Entries that came behind a running turn stand above this until it ends. */
const BEHIND = 2 ** 40

/** Entries that a summary stands for are this far below their places: kept, and not shown. */
const HIDDEN = 2 ** 41

/** An entry's place in the history, hidden or not. A hidden summary stands twice as low: its place was somebody's before it. */
export const placeSql = (ord: string): string =>
  `CASE WHEN ${ord} > 0 THEN ${ord} WHEN ${ord} > -${HIDDEN} THEN ${ord} + ${HIDDEN} ELSE ${ord} + ${2 * HIDDEN} END`

/** What an entry holds beside its place. */
interface EntryBody {
  readonly content: ReadonlyArray<Part>
  readonly custom?: CustomMessage | undefined
  readonly interrupted?: boolean
  readonly estimated?: boolean
  /** What was said in all, of an entry that holds only what was heard of it. */
  readonly whole?: ReadonlyArray<Part>
}

interface Row {
  readonly entryId: EntryId
  readonly ord: number
  readonly role: HistoryEntry["role"]
  readonly turnId: TurnId | null
  readonly callId: CallId | null
  readonly provider: string | null
  readonly body: string
}

/** An entry as the loop needs it: with its place, and the provider whose reasoning it may carry. */
export interface StoredEntry extends HistoryEntry {
  readonly ord: number
  readonly provider?: string
}

/** A row of the table as another session's history takes it over. */
interface CopyBounds {
  readonly from: string
  readonly to: string
  /** Entries of turns that stay behind are left out. */
  readonly turns: ReadonlyArray<string>
  /** Appended entries up to this place come along. */
  readonly upTo: number
  /** Whose eyes the copy is made for; undefined copies everything. */
  readonly actorId?: string | undefined
}

const toEntry = (row: Row): StoredEntry => {
  const body = fromColumn<EntryBody>(row.body)
  return {
    entryId: row.entryId,
    ord: row.ord,
    role: row.role,
    content: body.content,
    ...(row.turnId === null ? {} : { turnId: row.turnId }),
    ...(row.callId === null ? {} : { callId: row.callId }),
    ...(row.provider === null ? {} : { provider: row.provider }),
    ...(body.custom === undefined ? {} : { custom: body.custom }),
    ...(body.interrupted === undefined ? {} : { interrupted: body.interrupted }),
    ...(body.estimated === undefined ? {} : { estimated: body.estimated })
  }
}

const columns = 'entry_id AS "entryId", ord, role, turn_id AS "turnId", call_id AS "callId", provider, body'
const insertSql =
  "INSERT INTO entry (session_id, entry_id, ord, turn_id, role, call_id, provider, body, request_hash, audience, accepted_cursor) " +
  "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

/** Mints the id of an entry nobody named. */
export const mintEntryId = (now: number): EntryId => EntryId.make(`ent_${mint(now)}`)

/** An entry of which nothing was heard is kept, and not shown. */
const SHOWN = `body <> '' AND substr(body, 1, 14) <> '{"content":[],'`

const take = (tx: Tx, sessionId: string, count: number) =>
  Effect.map(
    tx.query<{ next: number }>(
      "UPDATE session SET next_ord = next_ord + ? WHERE session_id = ? RETURNING next_ord AS next",
      [count, sessionId]
    ),
    (rows) => (rows[0]?.next ?? count) - count
  )

/** One entry of a turn, at the next place of the history. */
const appendEntry = (
  tx: Tx,
  entry: {
    readonly sessionId: string
    readonly entryId?: EntryId
    readonly turnId: string
    readonly role: "user" | "assistant" | "custom"
    readonly provider?: string
    readonly body: EntryBody
  }
): Effect.Effect<EntryId, SqlError.SqlError> =>
  Effect.gen(function* () {
    const ord = yield* take(tx, entry.sessionId, 1)
    const entryId = entry.entryId ?? mintEntryId(tx.now)
    yield* tx.query(insertSql, [
      entry.sessionId,
      entryId,
      ord,
      entry.turnId,
      entry.role,
      null,
      entry.provider ?? null,
      JSON.stringify(entry.body),
      null,
      null,
      null
    ])
    return entryId
  })

/** Places for the results of planned calls, right behind the answer that asked for them. */
const reserveResults = (tx: Tx, sessionId: string, turnId: string, calls: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const first = yield* take(tx, sessionId, calls.length)
    for (const [index, callId] of calls.entries()) {
      yield* tx.query(insertSql, [
        sessionId,
        mintEntryId(tx.now),
        first + index,
        turnId,
        "tool",
        callId,
        null,
        "",
        null,
        null,
        null
      ])
    }
  })

/** The one result of a call, into its reserved place. */
const fillResult = (tx: Tx, sessionId: string, callId: string, content: ReadonlyArray<Part>) =>
  tx.query("UPDATE entry SET body = ? WHERE session_id = ? AND call_id = ? AND body = ''", [
    JSON.stringify({ content }),
    sessionId,
    callId
  ])

/** An entry of a turn with all that was ever in it. */
export interface WholeEntry {
  readonly entryId: EntryId
  readonly content: ReadonlyArray<Part>
  readonly whole: ReadonlyArray<Part>
  /** What it holds is a guess of what was heard. */
  readonly estimated: boolean
}

/** What a turn said, entry by entry, whether it was heard or not. */
const saidBy = (
  tx: Tx,
  sessionId: string,
  turnId: string
): Effect.Effect<ReadonlyArray<WholeEntry>, SqlError.SqlError> =>
  Effect.map(
    tx.query<{ entryId: EntryId; body: string }>(
      `SELECT entry_id AS "entryId", body FROM entry WHERE session_id = ? AND turn_id = ? AND role = 'assistant' ORDER BY ord`,
      [sessionId, turnId]
    ),
    (rows) =>
      rows.map(({ entryId, body }) => {
        const { content, estimated = false, whole = content } = fromColumn<EntryBody>(body)
        return { entryId, content, whole, estimated }
      })
  )

/** Leaves of an entry its content, which is what was heard; its whole is kept. */
const rewrite = (tx: Tx, sessionId: string, { content, entryId, estimated, whole }: WholeEntry) => {
  const body: EntryBody = { content, interrupted: true, ...(estimated ? { estimated } : {}), whole }
  return tx.query("UPDATE entry SET body = ? WHERE session_id = ? AND entry_id = ?", [
    JSON.stringify(body),
    sessionId,
    entryId
  ])
}

/** An entry of the caller's own; behind a running turn it waits for that turn's end. */
const appendOwn = (
  tx: Tx,
  entry: {
    readonly sessionId: string
    readonly entryId: EntryId
    readonly role: "user" | "assistant" | "custom"
    readonly body: EntryBody
    readonly requestHash: string
    readonly audience: ReadonlyArray<string> | undefined
    readonly acceptedCursor: number
    readonly behind: boolean
  }
) =>
  Effect.gen(function* () {
    const ord = yield* take(tx, entry.sessionId, 1)
    yield* tx.query(insertSql, [
      entry.sessionId,
      entry.entryId,
      entry.behind ? BEHIND + ord : ord,
      null,
      entry.role,
      null,
      null,
      JSON.stringify(entry.body),
      entry.requestHash,
      entry.audience === undefined ? null : JSON.stringify(entry.audience),
      entry.acceptedCursor
    ])
  })

/** The running turn has ended: what waited behind it takes its place, in the order it came. */
const placeBehind = (tx: Tx, sessionId: string) =>
  Effect.gen(function* () {
    const waiting = yield* tx.query<{ entryId: string }>(
      'SELECT entry_id AS "entryId" FROM entry WHERE session_id = ? AND ord > ? ORDER BY ord',
      [sessionId, BEHIND]
    )
    if (waiting.length === 0) return
    const first = yield* take(tx, sessionId, waiting.length)
    for (const [index, { entryId }] of waiting.entries()) {
      yield* tx.query("UPDATE entry SET ord = ? WHERE session_id = ? AND entry_id = ?", [
        first + index,
        sessionId,
        entryId
      ])
    }
  })

/** A summary takes the place of everything up to one place. What it stands for is kept. */
const summarise = (
  tx: Tx,
  summary: { readonly sessionId: string; readonly upTo: number; readonly entryId: EntryId; readonly text: string }
) =>
  Effect.gen(function* () {
    const { entryId, sessionId, text, upTo } = summary
    yield* tx.query(
      "UPDATE entry SET ord = ord - ? * (1 + (role = 'system')) WHERE session_id = ? AND ord > 0 AND ord <= ?",
      [HIDDEN, sessionId, upTo]
    )
    const body: EntryBody = { content: [{ type: "text", text }] }
    yield* tx.query(insertSql, [
      sessionId,
      entryId,
      upTo,
      null,
      "system",
      null,
      null,
      JSON.stringify(body),
      null,
      null,
      null
    ])
  })

const copy = (tx: Tx, bounds: CopyBounds) =>
  Effect.gen(function* () {
    const mayTake =
      bounds.actorId === undefined
        ? "1 = 1"
        : "(audience IS NULL OR EXISTS (SELECT 1 FROM json_each(audience) WHERE value = ?))"
    yield* tx.query(
      "INSERT INTO entry (session_id, entry_id, ord, turn_id, role, call_id, provider, body, request_hash, audience, accepted_cursor) " +
        "SELECT ?, entry_id, ord, turn_id, role, call_id, provider, body, request_hash, audience, accepted_cursor FROM entry " +
        "WHERE session_id = ? AND body <> '' AND " +
        `((turn_id IS NULL AND ${placeSql("ord")} <= ?) OR ` +
        " turn_id IN (SELECT value FROM json_each(?))) AND " +
        mayTake,
      [
        bounds.to,
        bounds.from,
        bounds.upTo,
        JSON.stringify(bounds.turns),
        ...(bounds.actorId === undefined ? [] : [bounds.actorId])
      ]
    )
    // A copy shows its own last summary, and what came after it, whatever a later one stood for.
    const place = placeSql("ord")
    yield* tx.query(
      `UPDATE entry SET ord = ${place} WHERE session_id = ? AND ord < 0 AND (${place} > ` +
        `(SELECT coalesce(max(${place}), 0) FROM entry WHERE session_id = ? AND role = 'system') OR (role = 'system' AND ${place} = ` +
        `(SELECT max(${place}) FROM entry WHERE session_id = ? AND role = 'system')))`,
      [bounds.to, bounds.to, bounds.to]
    )
    yield* tx.query(
      "UPDATE session SET next_ord = 1 + (SELECT coalesce(max(ord), 0) FROM entry WHERE session_id = ?) WHERE session_id = ?",
      [bounds.to, bounds.to]
    )
  })

const findSql = `SELECT ${columns}, ${placeSql("ord")} AS place, request_hash AS "requestHash", accepted_cursor AS "acceptedCursor" FROM entry WHERE session_id = ? AND entry_id = ?`

/** What a repeated append, and a fork's boundary, must know of an entry. */
export interface FoundEntry extends Row {
  readonly place: number
  readonly requestHash: string | null
  readonly acceptedCursor: number | null
}

const find = (tx: Tx, sessionId: string, entryId: string) =>
  Effect.map(tx.query<FoundEntry>(findSql, [sessionId, entryId]), (rows) => rows[0])

const make = Effect.gen(function* () {
  const { read } = yield* Database
  return {
    /** The history after one place, in order. */
    page: (sessionId: string, after: number, limit: number) =>
      read<Row>(`SELECT ${columns} FROM entry WHERE session_id = ? AND ord > ? AND ${SHOWN} ORDER BY ord LIMIT ?`, [
        sessionId,
        after,
        limit
      ]).pipe(
        Effect.map((rows) => rows.map(toEntry)),
        Effect.orDie
      ),
    /** What the model is sent just now: nothing that waits behind the running turn. */
    forModel: (sessionId: string) =>
      read<Row>(`SELECT ${columns} FROM entry WHERE session_id = ? AND ord > 0 AND ord < ? AND ${SHOWN} ORDER BY ord`, [
        sessionId,
        BEHIND
      ]).pipe(
        Effect.map((rows) => rows.map(toEntry)),
        Effect.orDie
      ),
    ordOf: (sessionId: string, entryId: string) =>
      read<{ ord: number }>("SELECT ord FROM entry WHERE session_id = ? AND entry_id = ?", [sessionId, entryId]).pipe(
        Effect.map((rows) => rows[0]?.ord),
        Effect.orDie
      )
  }
})

/** The entry table: what the model is sent, in order. Writing is for commands alone. */
export class HistoryRepo extends Context.Tag("@harness/server/HistoryRepo")<
  HistoryRepo,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(HistoryRepo, make)
  static readonly appendEntry = appendEntry
  static readonly reserveResults = reserveResults
  static readonly fillResult = fillResult
  static readonly appendOwn = appendOwn
  static readonly placeBehind = placeBehind
  static readonly copy = copy
  static readonly saidBy = saidBy
  static readonly rewrite = rewrite
  static readonly summarise = summarise
  static readonly find = find
}
