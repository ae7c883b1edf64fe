/** Calls that wait for something outside, what people are asked, what they saved, and the turns that sub-agents run. */
export const asks = [
  // \`released\`: allowed to go on, with these arguments; the row goes when the call is settled.
  `CREATE TABLE pending (
     session_id TEXT NOT NULL, turn_id TEXT NOT NULL, call_id TEXT NOT NULL, n INTEGER NOT NULL, kind TEXT NOT NULL,
     ref TEXT NOT NULL, arguments TEXT NOT NULL, passed TEXT NOT NULL, state TEXT NOT NULL, deadline INTEGER,
     PRIMARY KEY (session_id, call_id)
   ) STRICT`,
  `CREATE INDEX pending_turn ON pending (session_id, turn_id)`,
  `CREATE INDEX pending_deadline ON pending (deadline) WHERE deadline IS NOT NULL AND state = 'open'`,
  `CREATE TABLE permission_request (
     request_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, turn_id TEXT NOT NULL, call_id TEXT NOT NULL, body TEXT NOT NULL,
     state TEXT NOT NULL, reply TEXT
   ) STRICT`,
  `CREATE INDEX permission_request_open ON permission_request (session_id, request_id) WHERE state = 'open'`,
  `CREATE TABLE permission_grant (
     grant_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, permission TEXT NOT NULL, patterns TEXT NOT NULL,
     created_at INTEGER NOT NULL, actor TEXT NOT NULL
   ) STRICT`,
  `CREATE INDEX permission_grant_session ON permission_grant (session_id, grant_id)`,
  `CREATE TABLE question (
     question_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, turn_id TEXT NOT NULL, call_id TEXT NOT NULL, n INTEGER NOT NULL,
     body TEXT NOT NULL, state TEXT NOT NULL, answers TEXT
   ) STRICT`,
  `CREATE INDEX question_open ON question (session_id, question_id) WHERE state = 'open'`,
  // \`foreground\`: the parent's call waits. \`background\`: the result comes as a turn of the parent. \`delivered\`: it has come.
  `CREATE TABLE task (
     child_session TEXT NOT NULL, child_turn TEXT NOT NULL, parent_session TEXT NOT NULL, parent_turn TEXT NOT NULL,
     call_id TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (child_session, child_turn)
   ) STRICT`,
  `CREATE INDEX task_parent ON task (parent_session, parent_turn) WHERE state = 'foreground'`,
  `CREATE UNIQUE INDEX task_call ON task (parent_session, call_id)`,
  `CREATE TABLE hook (
     hook_id TEXT PRIMARY KEY, point TEXT NOT NULL, url TEXT NOT NULL, functions TEXT, priority INTEGER NOT NULL,
     timeout_millis INTEGER NOT NULL, on_error TEXT NOT NULL, secret TEXT NOT NULL
   ) STRICT`,
  // \`details\`: boundary, tokens before and after, failure.
  `CREATE TABLE compaction (
     session_id TEXT NOT NULL, compaction_id TEXT NOT NULL, seq INTEGER NOT NULL, request_hash TEXT NOT NULL,
     instructions TEXT NOT NULL, state TEXT NOT NULL, details TEXT NOT NULL, cursor INTEGER NOT NULL,
     PRIMARY KEY (session_id, compaction_id)
   ) STRICT`,
  `CREATE UNIQUE INDEX compaction_seq ON compaction (session_id, seq)`,
  `CREATE INDEX compaction_open ON compaction (session_id, seq) WHERE state IN ('queued', 'running')`
]
