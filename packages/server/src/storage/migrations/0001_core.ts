/** Sessions, turns, their parts, history, steers, and the log they all come from. */
export const core = [
  // Who may write. One row.
  `CREATE TABLE lease (
     id INTEGER PRIMARY KEY CHECK (id = 1), generation INTEGER NOT NULL, holder TEXT NOT NULL, heartbeat INTEGER NOT NULL
   ) STRICT`,
  `CREATE TABLE event (
     server_cursor INTEGER PRIMARY KEY, session_id TEXT NOT NULL, session_cursor INTEGER NOT NULL,
     turn_id TEXT, turn_revision INTEGER, type TEXT NOT NULL, body TEXT NOT NULL
   ) STRICT`,
  `CREATE UNIQUE INDEX event_session ON event (session_id, session_cursor)`,
  `CREATE UNIQUE INDEX event_turn ON event (session_id, turn_id, turn_revision) WHERE turn_id IS NOT NULL`,
  `CREATE TABLE session (
     session_id TEXT PRIMARY KEY, ord INTEGER NOT NULL UNIQUE, cursor INTEGER NOT NULL, request_hash TEXT NOT NULL,
     title TEXT NOT NULL, workdir TEXT NOT NULL, metadata TEXT, forked_from TEXT, spawned_from TEXT, parent_id TEXT,
     depth INTEGER NOT NULL, configuration TEXT NOT NULL, configuration_revision INTEGER NOT NULL,
     active_turn TEXT, active_state TEXT, queued INTEGER NOT NULL DEFAULT 0, turns INTEGER NOT NULL DEFAULT 0,
     next_seq INTEGER NOT NULL DEFAULT 1, next_ord INTEGER NOT NULL DEFAULT 1,
     created_at INTEGER NOT NULL, deleted_at INTEGER
   ) STRICT`,
  `CREATE INDEX session_parent ON session (parent_id, ord) WHERE parent_id IS NOT NULL`,
  `CREATE INDEX session_active ON session (active_turn) WHERE active_turn IS NOT NULL`,
  // A steered prompt that joined another turn is a row of state 'steered' whose \`joined\` names that turn.
  `CREATE TABLE turn (
     session_id TEXT NOT NULL, turn_id TEXT NOT NULL, seq INTEGER NOT NULL, rank INTEGER NOT NULL, state TEXT NOT NULL,
     revision INTEGER NOT NULL, attempt INTEGER NOT NULL, request_hash TEXT NOT NULL, prompt TEXT NOT NULL,
     options TEXT NOT NULL, model TEXT NOT NULL, agent TEXT NOT NULL, mode TEXT NOT NULL, outcome TEXT NOT NULL,
     cancel TEXT, joined TEXT, actor TEXT, accepted_cursor INTEGER NOT NULL, accepted_at INTEGER NOT NULL,
     started_at INTEGER, settled_at INTEGER, PRIMARY KEY (session_id, turn_id)
   ) STRICT`,
  `CREATE UNIQUE INDEX turn_seq ON turn (session_id, seq)`,
  `CREATE INDEX turn_queued ON turn (session_id, rank) WHERE state = 'queued'`,
  // \`open\`: still growing, or a call without a result.
  `CREATE TABLE turn_part (
     session_id TEXT NOT NULL, turn_id TEXT NOT NULL, n INTEGER NOT NULL, step INTEGER NOT NULL, open INTEGER NOT NULL,
     body TEXT NOT NULL, PRIMARY KEY (session_id, turn_id, n)
   ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX turn_part_open ON turn_part (session_id, turn_id, n) WHERE open = 1`,
  // The tail of a growing part since its last whole row; put together and removed when the part is done.
  `CREATE TABLE growth (
     session_id TEXT NOT NULL, turn_id TEXT NOT NULL, n INTEGER NOT NULL, at INTEGER NOT NULL, text TEXT NOT NULL,
     PRIMARY KEY (session_id, turn_id, n, at)
   ) STRICT, WITHOUT ROWID`,
  // \`ord\` is the place in the history; entries that came behind a running turn stand above 2^40 until it ends.
  `CREATE TABLE entry (
     session_id TEXT NOT NULL, entry_id TEXT NOT NULL, ord INTEGER NOT NULL, turn_id TEXT, role TEXT NOT NULL,
     call_id TEXT, provider TEXT, body TEXT NOT NULL, request_hash TEXT, audience TEXT, accepted_cursor INTEGER,
     PRIMARY KEY (session_id, entry_id)
   ) STRICT`,
  `CREATE UNIQUE INDEX entry_ord ON entry (session_id, ord)`,
  `CREATE UNIQUE INDEX entry_call ON entry (session_id, call_id) WHERE call_id IS NOT NULL`,
  `CREATE TABLE steer (
     session_id TEXT NOT NULL, entry_id TEXT NOT NULL, turn_id TEXT NOT NULL, n INTEGER NOT NULL, seq INTEGER NOT NULL,
     content TEXT NOT NULL, request_hash TEXT NOT NULL, state TEXT NOT NULL, alias INTEGER NOT NULL,
     accepted_cursor INTEGER NOT NULL, PRIMARY KEY (session_id, entry_id, alias)
   ) STRICT`,
  `CREATE INDEX steer_pending ON steer (session_id, turn_id, seq) WHERE state = 'pending'`
]
