import { SERVER_EVENT_HEARTBEAT_MILLIS, ServerStreamEvent } from "@harness/protocol"
import { ensure, refuses, same, section, shaped } from "../check.ts"
import type { Harness } from "../harness.ts"
import type { EventReader, Frame } from "../sse.ts"

const open = async (harness: Harness): Promise<{ readonly stream: EventReader; readonly from: number }> => {
  const stream = await harness.watch(`${harness.s}/events`)
  const first = await stream.next()
  same([first?.event, first?.id], ["server.cursor", undefined], "first frame")
  return { stream, from: Number(first?.data["serverCursor"]) }
}

const of = (frames: ReadonlyArray<Frame>, session: string) =>
  frames.filter((frame) => frame.data["sessionId"] === session)
const settled = (session: string) => (frame: Frame) =>
  frame.data["sessionId"] === session &&
  frame.event === "session.turn.snapshot" &&
  /"state":"(completed|failed|cancelled)"/.test(JSON.stringify(frame.data["turn"]))

/** §4: a server's stream. */
export const serverStreamChecks = section("server stream", {
  "a server nobody has used opens at 0": async (harness) => {
    const stream = await harness.watch(`/v1/servers/${harness.fresh("empty").toLowerCase()}/events`)
    const first = await stream.next()
    same([first?.event, first?.data["serverCursor"]], ["server.cursor", 0], "first frame")
  },
  "it shows a session being made, working, renamed and deleted": async (harness) => {
    const { stream } = await open(harness)
    const session = await harness.session()
    await harness.finish(session, "t1", { content: "hello" })
    await harness.send("PATCH", harness.n(session), { json: { title: "new" } })
    await harness.send("DELETE", harness.n(session))
    await stream.until(
      (frame) => frame.event === "session.deleted" && frame.data["sessionId"] === session,
      "session.deleted"
    )
    const events = of(stream.seen, session).map((frame) => frame.event)
    same(events[0], "session.created", "the first event")
    for (const event of ["session.turn.started", "session.turn.snapshot", "session.title"]) {
      ensure(events.includes(event), `no ${event} in ${events.join(", ")}`)
    }
  },
  "every event has its promised shape": async (harness) => {
    const { stream } = await open(harness)
    const session = await harness.session()
    await harness.finish(session, "t1", { content: 'use list {"path":"."}' })
    await stream.until(settled(session), "the turn's end")
    for (const frame of stream.seen) shaped(ServerStreamEvent, frame.data, frame.event)
  },
  "the id of a frame is its server cursor, and never falls": async (harness) => {
    const { stream, from } = await open(harness)
    const session = await harness.session()
    await harness.finish(session, "t1", { content: "hello" })
    await stream.until(settled(session), "the turn's end")
    let last = from
    for (const frame of stream.seen.filter((one) => one.id !== undefined)) {
      same(frame.data["serverCursor"], frame.id, `serverCursor of ${frame.event}`)
      ensure(Number(frame.id) >= last, `id ${frame.id} comes after ${last}`)
      last = Number(frame.id)
    }
  },
  "it has no deltas": async (harness) => {
    const { stream } = await open(harness)
    const session = await harness.session()
    await harness.finish(session, "t1", { content: "write 30 words" })
    await stream.until(settled(session), "the turn's end")
    const deltas = stream.seen.filter((frame) => frame.event.endsWith(".delta"))
    same(deltas.length, 0, "deltas")
  },
  "a session it has not shown yet is announced, one position before": async (harness) => {
    const session = await harness.session()
    const { stream } = await open(harness)
    await harness.send("PATCH", harness.n(session), { json: { title: "later" } })
    const title = await stream.until(
      (frame) => frame.event === "session.title" && frame.data["sessionId"] === session,
      "session.title"
    )
    const [announced] = of(stream.seen, session)
    same([announced?.event, announced?.data["replayed"]], ["session.created", true], "the announcement")
    same(announced?.id, Number(title.id) - 1, "the id of the announcement")
  },
  "a replay shows the same durable rows": async (harness) => {
    const { stream, from } = await open(harness)
    const session = await harness.session()
    await harness.finish(session, "t1", { content: "hello" })
    const end = await stream.until(settled(session), "the turn's end")
    const again = await harness.watch(`${harness.s}/events?afterServerCursor=${from}`)
    await again.until((frame) => frame.id === end.id && frame.event === end.event, "the same end")
    const rows = (frames: ReadonlyArray<Frame>) => of(frames, session).filter((frame) => frame.id !== undefined)
    same(rows(again.seen), rows(stream.seen), "rows")
  },
  "a replay from the middle of a session announces it first": async (harness) => {
    const { stream } = await open(harness)
    const session = await harness.session()
    await harness.finish(session, "t1", { content: "hello" })
    await stream.until(settled(session), "the turn's end")
    const started = of(stream.seen, session).find((frame) => frame.event === "session.turn.started")
    const again = await harness.watch(`${harness.s}/events?afterServerCursor=${Number(started?.id) - 1}`)
    const first = await again.until((frame) => frame.data["sessionId"] === session, "the session")
    same(
      [first.event, first.data["replayed"], first.id],
      ["session.created", true, Number(started?.id) - 1],
      "the first frame"
    )
    same((await again.next())?.event, "session.turn.started", "the second frame")
  },
  "a deleted session's rows show only its deletion": async (harness) => {
    const { from } = await open(harness)
    const session = await harness.session()
    await harness.finish(session, "t1", { content: "hello" })
    await harness.send("DELETE", harness.n(session))
    const again = await harness.watch(`${harness.s}/events?afterServerCursor=${from}`)
    await again.until(
      (frame) => frame.event === "session.deleted" && frame.data["sessionId"] === session,
      "session.deleted"
    )
    const events = of(again.seen, session).map((frame) => frame.event)
    same(
      events.filter((event) => event !== "session.created"),
      ["session.deleted"],
      "its events"
    )
  },
  "Last-Event-ID resumes as the query does": async (harness) => {
    const { from } = await open(harness)
    const session = await harness.session()
    const stream = await harness.watch(`${harness.s}/events`, { "last-event-id": String(from) })
    const frame = await stream.until((one) => one.data["sessionId"] === session, "the session")
    same(frame.event, "session.created", "its first event")
  },
  "a cursor beyond the head is a 409, and what is no number a 400": async (harness) => {
    refuses(await harness.get(`${harness.s}/events?afterServerCursor=99999999`), 409, "ConflictError", "cursor.ahead")
    refuses(await harness.get(`${harness.s}/events?afterServerCursor=x`), 400, "ValidationError", "cursor.invalid")
  },
  "a caught-up stream says so at least every 15 s": async (harness) => {
    const { stream, from } = await open(harness)
    const began = performance.now()
    const beat = await stream.until((frame) => frame.event === "server.cursor", "server.cursor")
    ensure(Number(beat.data["serverCursor"]) >= from, "it went back")
    const waited = performance.now() - began
    ensure(waited <= SERVER_EVENT_HEARTBEAT_MILLIS + 1000, `it took ${Math.round(waited)} ms`)
  }
})
