import type { CallId, SessionId, TurnId } from "@harness/protocol"
import { Effect } from "effect"
import type { Tx } from "../log/Commit.ts"

/** One prompt a sub-agent runs, and who waits for it. */
export interface TaskRow {
  readonly childSession: SessionId
  readonly childTurn: TurnId
  readonly parentSession: SessionId
  readonly parentTurn: TurnId
  readonly callId: CallId
  /** `foreground`: the call waits. `background`: the result becomes a turn. `delivered`: nobody waits any more. */
  readonly state: "foreground" | "background" | "delivered"
}

const columns =
  'child_session AS "childSession", child_turn AS "childTurn", parent_session AS "parentSession", parent_turn AS "parentTurn", ' +
  'call_id AS "callId", state'

const insert = (tx: Tx, task: TaskRow) =>
  tx.query(
    "INSERT INTO task (child_session, child_turn, parent_session, parent_turn, call_id, state) VALUES (?, ?, ?, ?, ?, ?)",
    [task.childSession, task.childTurn, task.parentSession, task.parentTurn, task.callId, task.state]
  )

const ofChild = (tx: Tx, sessionId: string, turnId: string) =>
  Effect.map(
    tx.query<TaskRow>(`SELECT ${columns} FROM task WHERE child_session = ? AND child_turn = ?`, [sessionId, turnId]),
    ([row]) => row
  )

const ofCall = (tx: Tx, sessionId: string, callId: string) =>
  Effect.map(
    tx.query<TaskRow>(`SELECT ${columns} FROM task WHERE parent_session = ? AND call_id = ?`, [sessionId, callId]),
    ([row]) => row
  )

/** Children whose end a turn's calls wait for. */
const waitedFor = (tx: Tx, sessionId: string, turnId: string) =>
  tx.query<TaskRow>(
    `SELECT ${columns} FROM task WHERE parent_session = ? AND parent_turn = ? AND state = 'foreground' ORDER BY call_id`,
    [sessionId, turnId]
  )

/** Children of a turn that have not ended, waited for or not. */
const living = (tx: Tx, sessionId: string, turnId: string) =>
  Effect.map(
    tx.query<{ count: number }>(
      "SELECT count(*) AS count FROM task JOIN turn ON session_id = child_session AND turn_id = child_turn " +
        "WHERE parent_session = ? AND parent_turn = ? AND settled_at IS NULL",
      [sessionId, turnId]
    ),
    ([row]) => row?.count ?? 0
  )

const setState = (tx: Tx, task: TaskRow, state: TaskRow["state"]) =>
  tx.query("UPDATE task SET state = ? WHERE child_session = ? AND child_turn = ?", [
    state,
    task.childSession,
    task.childTurn
  ])

/** The task table, for commands. */
export const TasksRepo = { insert, ofChild, ofCall, waitedFor, living, setState }
