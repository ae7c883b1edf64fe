import { once } from "node:events"
import type { ServerResponse } from "node:http"
import Sqlite from "better-sqlite3"
import { serve } from "./child.ts"

const PAGE_ROWS = 256

interface EventRow {
  readonly session_cursor: number
  readonly type: string
  readonly body: string
}

const db = new Sqlite(process.argv[2] ?? "", { readonly: true })
const page = db.prepare<[string, number], EventRow>(
  `SELECT session_cursor, type, body FROM event WHERE session_id = ? AND session_cursor > ? ORDER BY session_cursor LIMIT ${PAGE_ROWS}`
)

const replay = async (sessionId: string, response: ServerResponse) => {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
  for (let after = 0; ; ) {
    const rows = page.all(sessionId, after)
    const last = rows.at(-1)
    if (last === undefined) break
    after = last.session_cursor
    const text = rows
      .map(
        (row) =>
          `id: ${row.session_cursor}\nevent: session.${row.type}\ndata: {"type":"session.${row.type}",${row.body}\n\n`
      )
      .join("")
    if (!response.write(text)) await once(response, "drain")
  }
  response.write("event: session.cursor\ndata: {}\n\n")
}

/** The log as server-sent events, a page a write, with node:http and better-sqlite3 alone. */
serve((request, response) => {
  void replay((request.url ?? "").slice(1), response)
})
