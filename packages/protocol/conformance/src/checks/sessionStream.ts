import { SESSION_EVENT_HEARTBEAT_MILLIS, SessionResponse, SessionStreamEvent } from "@harness/protocol"
import { answers, ensure, refuses, same, section, shaped } from "../check.ts"
import type { Harness } from "../harness.ts"
import type { Frame } from "../sse.ts"

const ids = (frames: ReadonlyArray<Frame>) => frames.flatMap((frame) => (frame.id === undefined ? [] : [frame.id]))
const upTo = (head: number, from = 1) => Array.from({ length: head - from + 1 }, (_, index) => index + from)

/** Everything on a session's log after a cursor, to the head it has now. */
const replay = async (harness: Harness, session: string, after: number): Promise<ReadonlyArray<Frame>> => {
  const head = answers(await harness.get(harness.n(session)), 200, SessionResponse).cursor
  const stream = await harness.watch(`${harness.n(session)}/events?afterCursor=${after}`)
  if (head > after) await stream.until((frame) => frame.id === head, `cursor ${head}`)
  await stream.close()
  return stream.seen
}

const worked = async (harness: Harness) => {
  const session = await harness.session()
  await harness.finish(session, "t1", { content: "think hello" })
  await harness.finish(session, "t2", { content: 'use list {"path":"."}' })
  return session
}

/** §4: a session's stream. */
export const sessionStreamChecks = section("session stream", {
  "the first frame comes at once, and says from where": async (harness) => {
    const session = await harness.session()
    const first = await (await harness.watch(`${harness.n(session)}/events`)).next()
    same([first?.event, first?.id, first?.data["cursor"]], ["session.cursor", undefined, 1], "first frame")
  },
  "a stream is never compressed, cached or buffered": async (harness) => {
    const headers = await harness.streamHeaders(`${harness.n(await harness.session())}/events`, {
      "accept-encoding": "gzip, br"
    })
    same(headers.get("content-encoding"), null, "content-encoding")
    const cache = headers.get("cache-control") ?? ""
    ensure(cache.includes("no-cache") && cache.includes("no-transform"), `cache-control: ${cache}`)
    same(headers.get("x-accel-buffering"), "no", "x-accel-buffering")
  },
  "a replay has every cursor once, in order": async (harness) => {
    const session = await worked(harness)
    const frames = await replay(harness, session, 0)
    same(ids(frames), upTo(ids(frames).at(-1) ?? 0), "ids")
    same(frames[0]?.event, "session.created", "the row with cursor 1")
  },
  "every event has its promised shape": async (harness) => {
    const session = await worked(harness)
    for (const frame of await replay(harness, session, 0)) shaped(SessionStreamEvent, frame.data, frame.event)
  },
  "the id of a frame is the cursor of its event": async (harness) => {
    for (const frame of await replay(harness, await worked(harness), 0)) {
      if (frame.id !== undefined) same(frame.data["cursor"], frame.id, `cursor of ${frame.event}`)
    }
  },
  "a replay from anywhere is the rest of the whole": async (harness) => {
    const session = await worked(harness)
    const whole = (await replay(harness, session, 0)).filter((frame) => frame.id !== undefined)
    for (const after of [1, 3, whole.length - 1]) {
      const rest = (await replay(harness, session, after)).filter((frame) => frame.id !== undefined)
      same(rest, whole.slice(after), `replay after ${after}`)
    }
  },
  "a replay goes on live, with nothing missing and nothing twice": async (harness) => {
    const session = await worked(harness)
    const stream = await harness.watch(`${harness.n(session)}/events?afterCursor=2`)
    await harness.finish(session, "t3", { content: "write 200 words" })
    const head = answers(await harness.get(harness.n(session)), 200, SessionResponse).cursor
    await stream.until((frame) => frame.id === head, `cursor ${head}`)
    same(ids(stream.seen), upTo(head, 3), "ids")
  },
  "Last-Event-ID resumes as the query does": async (harness) => {
    const session = await worked(harness)
    const stream = await harness.watch(`${harness.n(session)}/events`, { "last-event-id": "3" })
    same((await stream.until((frame) => frame.id !== undefined, "a row")).id, 4, "the first row")
  },
  "the query wins over Last-Event-ID": async (harness) => {
    const session = await worked(harness)
    const stream = await harness.watch(`${harness.n(session)}/events?afterCursor=1`, { "last-event-id": "3" })
    same((await stream.until((frame) => frame.id !== undefined, "a row")).id, 2, "the first row")
  },
  "a cursor beyond the head is a 409": async (harness) => {
    const answer = await harness.get(`${harness.n(await harness.session())}/events?afterCursor=999999`)
    refuses(answer, 409, "ConflictError", "cursor.ahead")
  },
  "a cursor that is no whole number is a 400": async (harness) => {
    const session = await harness.session()
    for (const cursor of ["-1", "1.5", "1e3", "0x1", "%201", "%2B1", "one", ""]) {
      const answer = await harness.get(`${harness.n(session)}/events?afterCursor=${cursor}`)
      refuses(answer, 400, "ValidationError", "cursor.invalid")
    }
    const answer = await harness.get(`${harness.n(session)}/events`, { headers: { "last-event-id": "abc" } })
    refuses(answer, 400, "ValidationError", "cursor.invalid")
  },
  "a reader who joins gets a snapshot of the running turn": async (harness) => {
    const session = await harness.session()
    const turnId = await harness.busy(session)
    const stream = await harness.watch(`${harness.n(session)}/events`)
    same((await stream.next())?.event, "session.cursor", "first frame")
    const second = await stream.next()
    same(
      [second?.event, second?.id, second?.data["turnId"]],
      ["session.turn.snapshot", undefined, turnId],
      "second frame"
    )
    await harness.post(`${harness.t(session, turnId)}/cancel`)
  },
  "deltas have no id, and join to the text": async (harness) => {
    const session = await harness.session()
    const stream = await harness.watch(`${harness.n(session)}/events`)
    await stream.next()
    const turn = await harness.finish(session, "t1", { content: "write 100 words" })
    const head = answers(await harness.get(harness.n(session)), 200, SessionResponse).cursor
    await stream.until((frame) => frame.id === head, `cursor ${head}`)
    const deltas = stream.seen.filter((frame) => frame.event === "session.turn.text.delta")
    ensure(deltas.length > 0, "there are no deltas")
    let text = ""
    for (const { id, data } of deltas) {
      same(id, undefined, "id of a delta")
      const offset = Number(data["offset"])
      ensure(offset <= text.length, `a delta begins at ${offset}, with ${text.length} there`)
      text = text.slice(0, offset) + String(data["delta"])
    }
    same(text, turn.finalText, "the text of the deltas")
  },
  "a title, a configuration and a deletion are events; the last ends the stream": async (harness) => {
    const session = await harness.session()
    const stream = await harness.watch(`${harness.n(session)}/events`)
    await stream.next()
    await harness.send("PATCH", harness.n(session), { json: { title: "new" } })
    same(
      (await stream.until((frame) => frame.event === "session.title", "session.title")).data["title"],
      "new",
      "title"
    )
    await harness.put(`${harness.n(session)}/configuration`, { expectedRevision: 1, systemPrompt: "x" })
    await stream.until((frame) => frame.event === "session.configuration", "session.configuration")
    await harness.send("DELETE", harness.n(session))
    const frames = await stream.toEnd()
    same(frames.at(-1)?.event, "session.deleted", "the last frame")
    refuses(await harness.get(`${harness.n(session)}/events`), 404, "NotFoundError", "session.not_found")
  },
  "a caught-up stream says so at least every 15 s": async (harness) => {
    const session = await harness.session()
    const stream = await harness.watch(`${harness.n(session)}/events`)
    await stream.next()
    const began = performance.now()
    const beat = await stream.next()
    const waited = performance.now() - began
    same([beat?.event, beat?.id, beat?.data["cursor"]], ["session.cursor", undefined, 1], "the beat")
    ensure(waited <= SESSION_EVENT_HEARTBEAT_MILLIS + 1000, `it took ${Math.round(waited)} ms`)
  },
  "many readers see the same": async (harness) => {
    const session = await harness.session()
    const readers = await Promise.all(
      Array.from({ length: 10 }, () => harness.watch(`${harness.n(session)}/events?afterCursor=0`))
    )
    await harness.finish(session, "t1", { content: "write 50 words" })
    const head = answers(await harness.get(harness.n(session)), 200, SessionResponse).cursor
    await Promise.all(readers.map((reader) => reader.until((frame) => frame.id === head, `cursor ${head}`)))
    for (const reader of readers) same(ids(reader.seen), upTo(head), "ids")
  }
})
