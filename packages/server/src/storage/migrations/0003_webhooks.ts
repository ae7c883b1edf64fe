/** Who is told of turns, and what they have not been told yet. */
export const webhooks = [
  `CREATE TABLE webhook (
     webhook_id TEXT PRIMARY KEY, url TEXT NOT NULL, events TEXT, session_id TEXT, parent_session_id TEXT, secret TEXT NOT NULL
   ) STRICT`,
  // Written with the fact; goes when it is delivered, or given up.
  `CREATE TABLE outbox (
     webhook_id TEXT NOT NULL, session_id TEXT NOT NULL, server_cursor INTEGER NOT NULL, message_id TEXT NOT NULL,
     body TEXT NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY (webhook_id, session_id, server_cursor)
   ) STRICT, WITHOUT ROWID`,
  // One session's events for one webhook, delivered in order: when the first of them is to be tried, and how often it was.
  `CREATE TABLE outbox_line (
     webhook_id TEXT NOT NULL, session_id TEXT NOT NULL, next_at INTEGER NOT NULL, attempts INTEGER NOT NULL,
     PRIMARY KEY (webhook_id, session_id)
   ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX outbox_line_due ON outbox_line (webhook_id, next_at)`
]
