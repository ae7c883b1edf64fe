/** What jambonz told of a call beside its socket, and what was measured of its turns. `turn` is -1 for the whole call. */
export const voiceFacts = [
  `CREATE TABLE voice_fact (
     session_id TEXT NOT NULL, kind TEXT NOT NULL, turn INTEGER NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL,
     PRIMARY KEY (session_id, kind, turn)
   ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX voice_fact_wanted ON voice_fact (session_id) WHERE kind = 'summary'`
]
