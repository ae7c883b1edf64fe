import type { JsonObject, SessionId } from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import type { Tx } from "../log/Commit.ts"
import { fromColumn } from "../storage/columns.ts"
import { Database } from "../storage/Sqlite.ts"

/** Said of the whole call, not of one of its turns. */
export const WHOLE_CALL = -1

/** The fact of a call that waits for its summary; it goes when that is written. */
export const WANTED = "summary"

/** One call has at most so many facts: what comes then is not kept. */
export const FACTS_MAX = 4_000

/** Something known of a phone call, or of one of its turns, that its log does not hold. */
export interface Fact {
  readonly kind: string
  /** jambonz's number of the turn, or `WHOLE_CALL`. */
  readonly turn: number
  readonly at: number
  readonly body: JsonObject
}

interface Row extends Omit<Fact, "body"> {
  readonly body: string
}

const ofSql = "SELECT kind, turn, at, body FROM voice_fact WHERE session_id = ? AND turn = ? ORDER BY kind"
const toFact = (row: Row): Fact => ({ ...row, body: fromColumn<JsonObject>(row.body) })

/** The newest fact of a kind stands: what is told again has no second effect. Answers whether there was room for it. */
const put = (tx: Tx, sessionId: string, fact: Omit<Fact, "at">) =>
  Effect.map(
    tx.query<{ turn: number }>(
      "INSERT INTO voice_fact (session_id, kind, turn, at, body) SELECT ?, ?, ?, ?, ? " +
        `WHERE (SELECT count(*) FROM voice_fact WHERE session_id = ?) < ${FACTS_MAX} ` +
        "ON CONFLICT (session_id, kind, turn) DO UPDATE SET at = excluded.at, body = excluded.body RETURNING turn",
      [sessionId, fact.kind, fact.turn, tx.now, JSON.stringify(fact.body), sessionId]
    ),
    (rows) => rows.length > 0
  )

const remove = (tx: Tx, sessionId: string, kind: string) =>
  tx.query("DELETE FROM voice_fact WHERE session_id = ? AND kind = ?", [sessionId, kind])

/** What is known of the call as a whole. */
const ofCall = (tx: Tx, sessionId: string) =>
  Effect.map(tx.query<Row>(ofSql, [sessionId, WHOLE_CALL]), (rows) => rows.map(toFact))

/** What was measured of one turn, by us or by jambonz; whatever is no number is as good as not measured. */
export interface Measured {
  readonly turn: number
  readonly model_first_token_ms: unknown
  readonly first_chunk_ms: unknown
  readonly jambonz_first_chunk_ms: unknown
}

const measuredSql =
  "SELECT turn, max(json_extract(body, '$.model_first_token_ms')) AS model_first_token_ms, " +
  "max(json_extract(body, '$.first_chunk_ms')) AS first_chunk_ms, " +
  "max(json_extract(body, '$.latency.harness_first_chunk_ms')) AS jambonz_first_chunk_ms " +
  "FROM voice_fact WHERE session_id = ? AND turn >= 0 AND kind IN ('latency', 'turn_end') GROUP BY turn ORDER BY turn"

const measured = (tx: Tx, sessionId: string) => tx.query<Measured>(measuredSql, [sessionId])

const make = Effect.gen(function* () {
  const { read } = yield* Database
  return {
    /** What is known of one turn, or of the call as a whole. */
    of: (sessionId: string, turn: number): Effect.Effect<ReadonlyArray<Fact>> =>
      read<Row>(ofSql, [sessionId, turn]).pipe(
        Effect.map((rows) => rows.map(toFact)),
        Effect.orDie
      ),
    measured: (sessionId: string): Effect.Effect<ReadonlyArray<Measured>> =>
      Effect.orDie(read<Measured>(measuredSql, [sessionId])),
    /** Calls that have ended and wait for their summary. */
    unsummarised: read<{ sessionId: SessionId }>(
      `SELECT session_id AS "sessionId" FROM voice_fact WHERE kind = 'summary'`
    ).pipe(
      Effect.map((rows) => rows.map(({ sessionId }) => sessionId)),
      Effect.orDie
    )
  }
})

/** The table of what is known of calls beside their log. Writing is for commands alone. */
export class FactsRepo extends Context.Tag("@harness/server/FactsRepo")<
  FactsRepo,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(FactsRepo, make)
  static readonly put = put
  static readonly remove = remove
  static readonly ofCall = ofCall
  static readonly measured = measured
}
