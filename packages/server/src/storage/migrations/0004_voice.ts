/** Telephone calls: the sessions that are calls, what was said on them, and what was asked of the other side. */
export const voice = [
  `CREATE TABLE voice_call (
     session_id TEXT PRIMARY KEY, call_sid TEXT NOT NULL, agent TEXT NOT NULL, language TEXT, state TEXT NOT NULL,
     last_turn INTEGER NOT NULL, started_at INTEGER NOT NULL
   ) STRICT`,
  // A turn that asks the caller something has a reply before the answer and one after: each has some of its entries.
  // heard: NULL until somebody says so, then all, part (spoken), none. lines: what was said beside the model, JSON.
  `CREATE TABLE voice_reply (
     session_id TEXT NOT NULL, reply_id TEXT NOT NULL, turn_id TEXT NOT NULL, turn_number INTEGER, input TEXT,
     state TEXT NOT NULL, heard TEXT, spoken TEXT, lines TEXT NOT NULL, delivered INTEGER NOT NULL,
     first_entry INTEGER NOT NULL, end_entry INTEGER,
     PRIMARY KEY (session_id, reply_id)
   ) STRICT`,
  `CREATE INDEX voice_reply_turn ON voice_reply (session_id, turn_id)`,
  `CREATE TABLE voice_request (
     session_id TEXT NOT NULL, request_id TEXT NOT NULL, kind TEXT NOT NULL, turn_id TEXT NOT NULL, call_id TEXT NOT NULL,
     name TEXT NOT NULL, arguments TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (session_id, request_id)
   ) STRICT`
]
