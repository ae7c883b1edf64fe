import type { CallId, SessionId, TurnId } from "@harness/protocol"
import type { CallSid } from "@harness/protocol/jambonz"
import { Context, Effect, Layer } from "effect"
import type { Tx } from "../log/Commit.ts"
import { fromColumn } from "../storage/columns.ts"
import { Database } from "../storage/Sqlite.ts"

/** A session that is a telephone call. */
export interface CallRow {
  readonly sessionId: SessionId
  readonly callSid: CallSid
  readonly agent: string
  readonly language: string | null
  readonly state: "live" | "ended"
  /** The newest turn the other side started; -1 before the first. */
  readonly lastTurn: number
  readonly startedAt: number
}

/** Words that no model said, and where in the reply: before the text of entry `before` of its turn. */
export interface SpokenLine {
  readonly text: string
  readonly before: number
}

/** How much of a reply reached the caller's ear: all, the part `spoken`, nothing, or by our own guess `spoken`. */
export type Heard = "all" | "part" | "none" | "estimate"

/** What is said in answer to one turn of the session. */
export interface ReplyRow {
  readonly sessionId: SessionId
  readonly replyId: string
  readonly turnId: TurnId
  /** The call's number of the turn it answers; null when nobody asked. */
  readonly turnNumber: number | null
  /** What that turn asked, hashed: the same again is a repeat. */
  readonly input: string | null
  readonly state: "open" | "done"
  readonly heard: Heard | null
  readonly spoken: string | null
  readonly lines: ReadonlyArray<SpokenLine>
  /** Code units the other side surely has. */
  readonly delivered: number
  /** Which of its turn's answers it says: from this one, up to the other one, or to the last. */
  readonly firstEntry: number
  readonly endEntry: number | null
}

/** Something asked of the other side: one of its tools, or a command. */
export interface RequestRow {
  readonly sessionId: SessionId
  readonly requestId: string
  readonly kind: "tool" | "command"
  readonly turnId: TurnId
  readonly callId: CallId
  readonly name: string
  readonly arguments: string
  /** `detached`: its call has its result, what comes is told later. */
  readonly state: "open" | "detached" | "done"
}

const callColumns =
  'session_id AS "sessionId", call_sid AS "callSid", agent, language, state, last_turn AS "lastTurn", started_at AS "startedAt"'
const replyColumns =
  'session_id AS "sessionId", reply_id AS "replyId", turn_id AS "turnId", turn_number AS "turnNumber", input, state, heard, spoken, lines, delivered, first_entry AS "firstEntry", end_entry AS "endEntry"'
const requestColumns =
  'session_id AS "sessionId", request_id AS "requestId", kind, turn_id AS "turnId", call_id AS "callId", name, arguments, state'

interface StoredReply extends Omit<ReplyRow, "lines"> {
  readonly lines: string
}

const toReply = (row: StoredReply): ReplyRow => ({ ...row, lines: fromColumn<ReadonlyArray<SpokenLine>>(row.lines) })

const putCall = (tx: Tx, row: CallRow) =>
  tx.query(
    "INSERT OR REPLACE INTO voice_call (session_id, call_sid, agent, language, state, last_turn, started_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
    [row.sessionId, row.callSid, row.agent, row.language, row.state, row.lastTurn, row.startedAt]
  )

const setLastTurn = (tx: Tx, sessionId: string, turnNumber: number) =>
  tx.query("UPDATE voice_call SET last_turn = ? WHERE session_id = ? AND last_turn < ?", [
    turnNumber,
    sessionId,
    turnNumber
  ])

const endCall = (tx: Tx, sessionId: string) =>
  tx.query("UPDATE voice_call SET state = 'ended' WHERE session_id = ?", [sessionId])

const hasEnded = (tx: Tx, sessionId: string) =>
  Effect.map(
    tx.query("SELECT 1 FROM voice_call WHERE session_id = ? AND state = 'ended'", [sessionId]),
    (rows) => rows.length > 0
  )

const putReply = (tx: Tx, row: ReplyRow) =>
  tx.query(
    "INSERT OR REPLACE INTO voice_reply (session_id, reply_id, turn_id, turn_number, input, state, heard, spoken, lines, delivered, first_entry, end_entry) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [
      row.sessionId,
      row.replyId,
      row.turnId,
      row.turnNumber,
      row.input,
      row.state,
      row.heard,
      row.spoken,
      JSON.stringify(row.lines),
      row.delivered,
      row.firstEntry,
      row.endEntry
    ]
  )

const keepDelivered = (tx: Tx, sessionId: string, reply: Pick<ReplyRow, "replyId" | "lines" | "delivered">) =>
  tx.query("UPDATE voice_reply SET delivered = ?, lines = ? WHERE session_id = ? AND reply_id = ?", [
    reply.delivered,
    JSON.stringify(reply.lines),
    sessionId,
    reply.replyId
  ])

const renameReply = (tx: Tx, sessionId: string, replyId: string, to: string) =>
  tx.query("UPDATE voice_reply SET reply_id = ? WHERE session_id = ? AND reply_id = ?", [to, sessionId, replyId])

const forgetReply = (tx: Tx, sessionId: string, replyId: string) =>
  tx.query("DELETE FROM voice_reply WHERE session_id = ? AND reply_id = ?", [sessionId, replyId])

const findReply = (tx: Tx, sessionId: string, replyId: string) =>
  Effect.map(
    tx.query<StoredReply>(`SELECT ${replyColumns} FROM voice_reply WHERE session_id = ? AND reply_id = ?`, [
      sessionId,
      replyId
    ]),
    ([row]) => (row === undefined ? undefined : toReply(row))
  )

const putRequest = (tx: Tx, row: RequestRow) =>
  tx.query(
    "INSERT OR REPLACE INTO voice_request (session_id, request_id, kind, turn_id, call_id, name, arguments, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [row.sessionId, row.requestId, row.kind, row.turnId, row.callId, row.name, row.arguments, row.state]
  )

const setRequest = (tx: Tx, sessionId: string, requestId: string, state: RequestRow["state"]) =>
  tx.query("UPDATE voice_request SET state = ? WHERE session_id = ? AND request_id = ?", [state, sessionId, requestId])

const make = Effect.gen(function* () {
  const { read } = yield* Database
  return {
    call: (sessionId: string) =>
      read<CallRow>(`SELECT ${callColumns} FROM voice_call WHERE session_id = ?`, [sessionId]).pipe(
        Effect.map((rows) => rows[0]),
        Effect.orDie
      ),
    /** Calls that were going on when the process ended. */
    live: Effect.orDie(read<CallRow>(`SELECT ${callColumns} FROM voice_call WHERE state = 'live'`)),
    /** The newest replies of a call, newest first. */
    replies: (sessionId: string, limit: number) =>
      read<StoredReply>(`SELECT ${replyColumns} FROM voice_reply WHERE session_id = ? ORDER BY reply_id DESC LIMIT ?`, [
        sessionId,
        limit
      ]).pipe(
        Effect.map((rows) => rows.map(toReply)),
        Effect.orDie
      ),
    requests: (sessionId: string) =>
      Effect.orDie(
        read<RequestRow>(
          `SELECT ${requestColumns} FROM voice_request WHERE session_id = ? AND state <> 'done' ORDER BY request_id`,
          [sessionId]
        )
      )
  }
})

/** The tables of calls. Writing is for commands alone. */
export class VoiceRepo extends Context.Tag("@harness/server/VoiceRepo")<
  VoiceRepo,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(VoiceRepo, make)
  static readonly putCall = putCall
  static readonly setLastTurn = setLastTurn
  static readonly endCall = endCall
  static readonly hasEnded = hasEnded
  static readonly putReply = putReply
  static readonly forgetReply = forgetReply
  static readonly keepDelivered = keepDelivered
  static readonly renameReply = renameReply
  static readonly findReply = findReply
  static readonly putRequest = putRequest
  static readonly setRequest = setRequest
}
