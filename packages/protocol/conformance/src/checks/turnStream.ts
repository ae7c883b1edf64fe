import { TURN_EVENT_HEARTBEAT_MILLIS, TurnResponse, TurnStreamEvent } from "@harness/protocol"
import { answers, ensure, refuses, same, section, shaped } from "../check.ts"
import type { Frame } from "../sse.ts"

const ids = (frames: ReadonlyArray<Frame>) => frames.flatMap((frame) => (frame.id === undefined ? [] : [frame.id]))

/** §4: a turn's stream. */
export const turnStreamChecks = section("turn stream", {
  "it opens with a whole snapshot when no revision is named": async (harness) => {
    const session = await harness.session()
    const turnId = await harness.busy(session)
    const stream = await harness.watch(`${harness.t(session, turnId)}/events`)
    const first = await stream.next()
    same([first?.event, first?.id], ["turn.snapshot", undefined], "first frame")
    ensure(JSON.stringify(first?.data["turn"]).includes('"prompt"'), "the snapshot is not whole")
    await harness.post(`${harness.t(session, turnId)}/cancel`)
    await stream.until((frame) => frame.event === "turn.terminal", "turn.terminal")
  },
  "it ends with exactly one terminal, and then the stream ends": async (harness) => {
    const session = await harness.session()
    await harness.submit(session, "t1", { content: "write 30 words" })
    const stream = await harness.watch(`${harness.t(session, "t1")}/events?afterRevision=0`)
    const frames = await stream.toEnd()
    same(frames.filter((frame) => frame.event === "turn.terminal").length, 1, "terminals")
    same(frames.at(-1)?.event, "turn.terminal", "the last frame")
  },
  "the terminal holds the turn, whole": async (harness) => {
    const session = await harness.session()
    await harness.submit(session, "t1", { content: "think hello" })
    const stream = await harness.watch(`${harness.t(session, "t1")}/events?afterRevision=0`)
    const last = (await stream.toEnd()).at(-1)
    const turn = answers(await harness.get(harness.t(session, "t1")), 200, TurnResponse)
    same(last?.data["turn"], turn, "the terminal's turn")
  },
  "revisions count up from 1, without a gap": async (harness) => {
    const session = await harness.session()
    await harness.submit(session, "t1", { content: 'use list {"path":"."}' })
    const stream = await harness.watch(`${harness.t(session, "t1")}/events?afterRevision=0`)
    const seen = ids(await stream.toEnd())
    same(
      seen,
      seen.map((_, index) => index + 1),
      "ids"
    )
  },
  "every event has its promised shape": async (harness) => {
    const session = await harness.session()
    await harness.submit(session, "t1", { content: 'use list {"path":"."}' })
    const stream = await harness.watch(`${harness.t(session, "t1")}/events?afterRevision=0`)
    for (const frame of await stream.toEnd()) shaped(TurnStreamEvent, frame.data, frame.event)
  },
  "a call is told from request to result": async (harness) => {
    const session = await harness.session()
    await harness.submit(session, "t1", { content: 'use list {"path":"."}' })
    const stream = await harness.watch(`${harness.t(session, "t1")}/events?afterRevision=0`)
    const events = (await stream.toEnd()).map((frame) => frame.event)
    const [requested, completed] = [events.indexOf("turn.tool.requested"), events.indexOf("turn.tool.completed")]
    ensure(requested !== -1 && completed > requested, `events: ${events.join(", ")}`)
    ensure(events.includes("turn.started") && events.includes("turn.usage"), `events: ${events.join(", ")}`)
  },
  "a settled turn's stream is its terminal, and the end": async (harness) => {
    const session = await harness.session()
    const { revision } = await harness.finish(session, "t1", { content: "hello" })
    for (const query of ["", `?afterRevision=${revision}`]) {
      const frames = await (await harness.watch(`${harness.t(session, "t1")}/events${query}`)).toEnd()
      same(frames.at(-1)?.event, "turn.terminal", `the last frame with ${query}`)
      same(frames.filter((frame) => frame.event === "turn.terminal").length, 1, "terminals")
    }
  },
  "a terminal behind the reader has no id": async (harness) => {
    const session = await harness.session()
    const { revision } = await harness.finish(session, "t1", { content: "hello" })
    const frames = await (await harness.watch(`${harness.t(session, "t1")}/events?afterRevision=${revision}`)).toEnd()
    same(ids(frames), [], "ids")
  },
  "a replay goes on after the revision it names": async (harness) => {
    const session = await harness.session()
    const { revision } = await harness.finish(session, "t1", { content: "hello" })
    const frames = await (await harness.watch(`${harness.t(session, "t1")}/events?afterRevision=1`)).toEnd()
    same(
      ids(frames),
      Array.from({ length: revision - 1 }, (_, index) => index + 2),
      "ids"
    )
  },
  "Last-Event-ID resumes as the query does": async (harness) => {
    const session = await harness.session()
    await harness.finish(session, "t1", { content: "hello" })
    const stream = await harness.watch(`${harness.t(session, "t1")}/events`, { "last-event-id": "1" })
    same(ids(await stream.toEnd())[0], 2, "the first row")
  },
  "a revision beyond the head is a 409, and what is no number a 400": async (harness) => {
    const session = await harness.session()
    await harness.finish(session, "t1", { content: "hello" })
    const events = `${harness.t(session, "t1")}/events`
    refuses(await harness.get(`${events}?afterRevision=9999`), 409, "ConflictError", "cursor.ahead")
    refuses(await harness.get(`${events}?afterRevision=-1`), 400, "ValidationError", "cursor.invalid")
  },
  "a stream of a turn that is not there is a 404": async (harness) => {
    const answer = await harness.get(`${harness.t(await harness.session(), "nobody")}/events`)
    refuses(answer, 404, "NotFoundError", "turn.not_found")
  },
  "a queued turn can be watched from the start": async (harness) => {
    const session = await harness.session()
    const busy = await harness.busy(session)
    await harness.submit(session, "q1", { content: "hello" })
    const stream = await harness.watch(`${harness.t(session, "q1")}/events`)
    await harness.post(`${harness.t(session, busy)}/cancel`)
    same((await stream.toEnd()).at(-1)?.event, "turn.terminal", "the last frame")
  },
  "a quiet turn sends a heartbeat after at most 15 s": async (harness) => {
    const session = await harness.session()
    const turnId = await harness.busy(session)
    const stream = await harness.watch(`${harness.t(session, turnId)}/events`)
    await stream.next()
    const began = performance.now()
    const beat = await stream.until((frame) => frame.event === "turn.heartbeat", "turn.heartbeat")
    const waited = performance.now() - began
    same(beat.id, undefined, "id of the heartbeat")
    ensure(typeof beat.data["revision"] === "number", "it names no revision")
    ensure(waited <= TURN_EVENT_HEARTBEAT_MILLIS + 1000, `it took ${Math.round(waited)} ms`)
    await harness.post(`${harness.t(session, turnId)}/cancel`)
  }
})
