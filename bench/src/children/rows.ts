import { createHash } from "node:crypto"
import { core } from "@harness/server/storage/migrations/0001_core"
import Sqlite from "better-sqlite3"

/** What a submitted prompt is kept with, as our server keeps it. */
const turnColumns =
  "session_id, turn_id, seq, rank, state, revision, attempt, request_hash, prompt, options, model, agent, mode, outcome, " +
  "cancel, joined, actor, accepted_cursor, accepted_at, started_at, settled_at"

interface Session {
  readonly cursor: number
  readonly next_seq: number
  readonly queued: number
  readonly configuration: string
}

const hashOf = (body: string) => createHash("sha256").update(body).digest("base64url")
const actor = { actorId: "admin" }
const configuration = JSON.stringify({
  systemPrompt: "",
  agent: "general",
  permissions: [],
  tools: {},
  externalTools: []
})

/**
 * The plain way: better-sqlite3 alone, our own tables, the rows and bytes our server writes, each command one transaction
 * that is on the disk (`synchronous = FULL`) when it returns.
 */
export const openPlain = (file: string) => {
  const db = new Sqlite(file)
  db.pragma("journal_mode = WAL")
  db.pragma("synchronous = FULL")
  db.pragma("foreign_keys = ON")
  for (const statement of core) db.prepare(statement).run()

  const findSession = db.prepare<[string], Session>("SELECT * FROM session WHERE session_id = ?")
  const findTurn = db.prepare<[string, string], { request_hash: string }>(
    "SELECT * FROM turn WHERE session_id = ? AND turn_id = ?"
  )
  const insertSession = db.prepare(
    "INSERT INTO session (session_id, ord, cursor, request_hash, title, workdir, depth, configuration, configuration_revision, created_at) " +
      "VALUES (?, (SELECT coalesce(max(ord), 0) + 1 FROM session), 1, ?, '', ?, 0, ?, 1, ?)"
  )
  const insertEvent = db.prepare(
    "INSERT INTO event (session_id, session_cursor, turn_id, turn_revision, type, body) VALUES (?, ?, ?, ?, ?, ?)"
  )
  const insertTurn = db.prepare(`INSERT INTO turn (${turnColumns}) VALUES (?${", ?".repeat(20)})`)
  const touch = db.prepare(
    "UPDATE session SET cursor = cursor + 1, queued = queued + 1, turns = turns + 1, next_seq = next_seq + 1 WHERE session_id = ?"
  )
  const settle = db.prepare(
    "UPDATE turn SET state = 'completed', revision = 2, outcome = ?, settled_at = ? WHERE session_id = ? AND turn_id = ?"
  )
  const release = db.prepare(
    "UPDATE session SET cursor = cursor + 1, queued = queued - 1, next_ord = next_ord + 2 WHERE session_id = ? RETURNING cursor"
  )
  const insertEntry = db.prepare(
    "INSERT INTO entry (session_id, entry_id, ord, turn_id, role, body) VALUES (?, ?, ?, ?, ?, ?)"
  )

  const createSession = db.transaction((sessionId: string, body: string) => {
    const found = findSession.get(sessionId)
    const now = Date.now()
    const at = new Date(now).toISOString()
    const session = {
      sessionId,
      server: "default",
      title: "",
      workdir: process.cwd(),
      model: "demo/demo",
      agent: "general",
      state: "idle",
      configurationRevision: 1,
      cursor: 1,
      createdAt: at
    }
    if (found === undefined) {
      insertSession.run(sessionId, hashOf(body), session.workdir, configuration, now)
      insertEvent.run(sessionId, 1, null, null, "created", JSON.stringify({ sessionId, cursor: 1, at, actor, session }))
    }
    return session
  })

  const submit = db.transaction((sessionId: string, turnId: string, body: string) => {
    const session = findSession.get(sessionId)
    const existing = findTurn.get(sessionId, turnId)
    if (session === undefined || existing !== undefined) throw new Error("each turn is submitted once")
    const now = Date.now()
    const at = new Date(now).toISOString()
    const { content }: { content: string } = JSON.parse(body)
    const prompt = { role: "user", content: [{ type: "text", text: content }] }
    const cursor = session.cursor + 1
    const turn = {
      turnId,
      sessionId,
      revision: 1,
      state: "queued",
      model: "demo/demo",
      agent: "general",
      mode: "agent",
      attempt: 1,
      parts: [],
      steps: [],
      usage: {},
      acceptedAt: at,
      prompt
    }
    touch.run(sessionId)
    insertTurn.run(
      sessionId,
      turnId,
      session.next_seq,
      session.next_seq,
      "queued",
      1,
      1,
      hashOf(body),
      JSON.stringify(prompt),
      "{}",
      "demo/demo",
      "general",
      "agent",
      JSON.stringify({ steps: [], usage: {} }),
      null,
      null,
      JSON.stringify(actor),
      cursor,
      now,
      null,
      null
    )
    insertEvent.run(
      sessionId,
      cursor,
      turnId,
      1,
      "turn.snapshot",
      JSON.stringify({ sessionId, cursor, at, turnId, revision: 1, attempt: 1, actor, turn })
    )
    return {
      turnId,
      sessionId,
      disposition: session.queued === 0 ? "started" : "queued",
      position: session.queued + 1,
      cursor
    }
  })

  const finish = db.transaction((sessionId: string, turnId: string, prompt: string, text: string) => {
    const now = Date.now()
    const at = new Date(now).toISOString()
    const outcome = {
      steps: [{ step: 1, provider: "openai", model: "bench", finishReason: "stop", usage: {} }],
      usage: {},
      finalText: text
    }
    settle.run(JSON.stringify(outcome), now, sessionId, turnId)
    const row: { cursor?: number } = release.get(sessionId) ?? {}
    const cursor = row.cursor ?? 0
    insertEntry.run(
      sessionId,
      `${turnId}/prompt`,
      cursor * 2,
      turnId,
      "user",
      JSON.stringify({ content: [{ type: "text", text: prompt }] })
    )
    insertEntry.run(
      sessionId,
      `${turnId}/answer`,
      cursor * 2 + 1,
      turnId,
      "assistant",
      JSON.stringify({ content: [{ type: "text", text }] })
    )
    const turn = { turnId, sessionId, state: "completed", ...outcome, settledAt: at }
    insertEvent.run(
      sessionId,
      cursor,
      turnId,
      2,
      "turn.terminal",
      JSON.stringify({ sessionId, cursor, at, turnId, turn })
    )
    return turn
  })

  return {
    createSession: (sessionId: string, body: string) => createSession.immediate(sessionId, body),
    submit: (sessionId: string, turnId: string, body: string) => submit.immediate(sessionId, turnId, body),
    finish: (sessionId: string, turnId: string, prompt: string, text: string) =>
      finish.immediate(sessionId, turnId, prompt, text)
  }
}
