import { join } from "node:path"
import Sqlite from "better-sqlite3"
import type { ReadersAnswer, ReadersAsk } from "../children/readers.ts"
import { interleave, now } from "../measure.ts"
import { startChild, startServer } from "../processes.ts"
import { type Bench, type Options, rowOf } from "../report.ts"
import { caller } from "../wire.ts"

const text = "A sentence of ordinary length, as an agent says it, so that a row is as long as rows are. ".repeat(2)

/** Writes a long log behind a stopped server's back: a hundred thousand submissions would take longer than the measurement. */
const fill = (file: string, sessionId: string, events: number) => {
  const db = new Sqlite(file)
  const insert = db.prepare("INSERT INTO event (session_id, session_cursor, type, body) VALUES (?, ?, 'entry', ?)")
  const at = "2026-01-01T00:00:00.000Z"
  db.transaction(() => {
    for (let cursor = 2; cursor <= events; cursor++) {
      const entry = { entryId: `e${cursor}`, role: "user", content: [{ type: "text", text }] }
      insert.run(sessionId, cursor, JSON.stringify({ sessionId, cursor, at, entry }).slice(1))
    }
    db.prepare("UPDATE session SET cursor = ? WHERE session_id = ?").run(events, sessionId)
  })()
  db.close()
}

/** A session's whole log to one reader. */
const run = async (options: Options) => {
  const events = options.quick ? 10_000 : 100_000
  const folder = options.folder()
  const before = await startServer({ folder })
  const first = caller(before.url)
  await first.send("PUT", "/v1/servers/default/sessions/long", {})
  first.close()
  await before.stop()
  const file = join(folder, "data", "servers", "default", "harness.db")
  fill(file, "long", events)
  const ours = await startServer({ folder, profile: options.profile })
  const plain = await startChild("plainReplay", [file])
  const readers = await startChild<ReadersAsk, ReadersAnswer>("readers")
  const replay = (url: string, path: string) => async () => {
    await readers.ask({ type: "expect", mark: `id: ${events}\n` })
    const begun = now()
    const { at } = await readers.ask({ type: "replay", url, path })
    await readers.ask({ type: "leave" })
    return (events / (at - begun)) * 1000
  }
  const found = await interleave(
    options.quick ? 2 : 7,
    replay(ours.url, "/v1/servers/default/sessions/long/events?afterCursor=0"),
    replay(plain.url, "/long")
  )
  await Promise.all([ours.stop(), plain.stop(), readers.stop()])
  return [rowOf({ bench: "replay", what: `${events} events, one reader`, unit: "/s" }, found)]
}

export const replay: Bench = { name: "replay", run }
