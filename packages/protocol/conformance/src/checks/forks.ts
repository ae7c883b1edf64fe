import {
  SessionHistoryResponse,
  SessionListResponse,
  SessionResponse,
  SessionStatusResponse,
  SessionTurnsResponse
} from "@harness/protocol"
import { answers, ensure, refuses, same, section } from "../check.ts"
import type { Harness } from "../harness.ts"

const fork = (harness: Harness, session: string, forked: string, body?: unknown) =>
  harness.post(`${harness.n(session)}/forks/${forked}`, body)

const turnsOf = async (harness: Harness, session: string) =>
  answers(await harness.get(`${harness.n(session)}/turns`), 200, SessionTurnsResponse).turns.map((turn) =>
    String(turn.turnId)
  )

const historyOf = async (harness: Harness, session: string) =>
  answers(await harness.get(`${harness.n(session)}/history`), 200, SessionHistoryResponse).entries

/** Three turns, and an entry before the last. */
const grown = async (harness: Harness) => {
  const session = await harness.session({ title: "Parent", systemPrompt: "Be brief." })
  await harness.finish(session, "t1", { content: "one" })
  await harness.finish(session, "t2", { content: "two" })
  await harness.put(`${harness.n(session)}/conversation/e1`, { role: "user", content: "noted" })
  await harness.finish(session, "t3", { content: "three" })
  return session
}

/** §2 and §6: forks. */
export const forkChecks = section("forks", {
  "without a body the whole settled history is copied": async (harness) => {
    const session = await grown(harness)
    const forked = harness.fresh("f")
    const made = answers(await fork(harness, session, forked), 201, SessionResponse)
    same(made.forkedFrom, { sessionId: session }, "forkedFrom")
    same(await turnsOf(harness, forked), ["t1", "t2", "t3"], "turns")
    const content = (entries: Awaited<ReturnType<typeof historyOf>>) =>
      entries.map((entry) => [entry.role, entry.content])
    same(content(await historyOf(harness, forked)), content(await historyOf(harness, session)), "history")
  },
  "turnId: the history before that turn": async (harness) => {
    const session = await grown(harness)
    const forked = harness.fresh("f")
    const made = answers(await fork(harness, session, forked, { turnId: "t2" }), 201, SessionResponse)
    ensure(JSON.stringify(made.forkedFrom).includes('"t2"'), "forkedFrom does not name the boundary")
    same(await turnsOf(harness, forked), ["t1"], "turns")
  },
  "through a turn: that turn too": async (harness) => {
    const session = await grown(harness)
    const forked = harness.fresh("f")
    answers(await fork(harness, session, forked, { through: { turnId: "t2" } }), 201, SessionResponse)
    same(await turnsOf(harness, forked), ["t1", "t2"], "turns")
    ensure(!(await historyOf(harness, forked)).some((entry) => entry.entryId === "e1"), "the entry after it was copied")
  },
  "through an entry: that entry too": async (harness) => {
    const session = await grown(harness)
    const forked = harness.fresh("f")
    answers(await fork(harness, session, forked, { through: { entryId: "e1" } }), 201, SessionResponse)
    same(await turnsOf(harness, forked), ["t1", "t2"], "turns")
    same((await historyOf(harness, forked)).at(-1)?.content, [{ type: "text", text: "noted" }], "the last entry")
  },
  "turnId and through together are refused": async (harness) => {
    const session = await grown(harness)
    const answer = await fork(harness, session, harness.fresh("f"), { turnId: "t1", through: { turnId: "t2" } })
    refuses(answer, 400, "ValidationError", "request.invalid")
  },
  "a boundary that is not there is a 404": async (harness) => {
    const session = await grown(harness)
    refuses(await fork(harness, session, harness.fresh("f"), { turnId: "t9" }), 404, "NotFoundError")
    refuses(await fork(harness, session, harness.fresh("f"), { through: { entryId: "e9" } }), 404, "NotFoundError")
  },
  "forking again answers 200 and the same session": async (harness) => {
    const session = await grown(harness)
    const forked = harness.fresh("f")
    const first = answers(await fork(harness, session, forked, { turnId: "t2" }), 201, SessionResponse)
    await harness.finish(session, "t4", { content: "four" })
    same(answers(await fork(harness, session, forked, { turnId: "t2" }), 200, SessionResponse), first, "the fork")
    refuses(await fork(harness, session, forked, { turnId: "t3" }), 409, "ConflictError", "idempotency.mismatch")
  },
  "a fork inherits the configuration": async (harness) => {
    const session = await grown(harness)
    const forked = harness.fresh("f")
    const made = answers(await fork(harness, session, forked), 201, SessionResponse)
    const parent = answers(await harness.get(harness.n(session)), 200, SessionResponse)
    same([made.workdir, made.model, made.agent], [parent.workdir, parent.model, parent.agent], "the fork")
    const configuration = await harness.get(`${harness.n(forked)}/configuration`)
    ensure(configuration.text.includes("Be brief."), "the system prompt was not inherited")
  },
  "a fork's log begins with its own creation, and copied turns make no events": async (harness) => {
    const session = await grown(harness)
    const forked = harness.fresh("f")
    same(answers(await fork(harness, session, forked), 201, SessionResponse).cursor, 1, "cursor")
    const stream = await harness.watch(`${harness.n(forked)}/events?afterCursor=0`)
    same((await stream.next())?.event, "session.created", "the first row")
  },
  "a fork goes on by itself, and its parent does not notice": async (harness) => {
    const session = await grown(harness)
    const forked = harness.fresh("f")
    await fork(harness, session, forked)
    same((await harness.finish(forked, "t4", { content: "four" })).finalText, "four", "the fork's turn")
    same(await turnsOf(harness, session), ["t1", "t2", "t3"], "the parent's turns")
    same(await turnsOf(harness, forked), ["t1", "t2", "t3", "t4"], "the fork's turns")
  },
  "an unsettled target is turn.busy, and a running turn is left out": async (harness) => {
    const session = await grown(harness)
    const busy = await harness.busy(session)
    const answer = await fork(harness, session, harness.fresh("f"), { through: { turnId: busy } })
    refuses(answer, 409, "ConflictError", "turn.busy")
    const forked = harness.fresh("f")
    answers(await fork(harness, session, forked), 201, SessionResponse)
    same(await turnsOf(harness, forked), ["t1", "t2", "t3"], "turns")
    const status = answers(await harness.get(`${harness.n(forked)}/status`), 200, SessionStatusResponse)
    same([status.state, status.queued], ["idle", 0], "the fork")
    await harness.post(`${harness.t(session, busy)}/cancel`)
  },
  "a fork of a fork works": async (harness) => {
    const session = await grown(harness)
    const [one, two] = [harness.fresh("f"), harness.fresh("f")]
    await fork(harness, session, one, { turnId: "t3" })
    answers(await fork(harness, one, two, { through: { turnId: "t1" } }), 201, SessionResponse)
    same(await turnsOf(harness, two), ["t1"], "turns")
  },
  "forks stay when their parent is deleted": async (harness) => {
    const session = await grown(harness)
    const forked = harness.fresh("f")
    await fork(harness, session, forked)
    await harness.send("DELETE", harness.n(session))
    same(await turnsOf(harness, forked), ["t1", "t2", "t3"], "turns")
    const { sessions } = answers(await harness.get(`${harness.s}/sessions?limit=500`), 200, SessionListResponse)
    ensure(sessions.length > 0, "no session is left")
  },
  "a fork of a session that is not there is a 404": async (harness) => {
    refuses(await fork(harness, "nobody", harness.fresh("f")), 404, "NotFoundError", "session.not_found")
  },
  "a deleted id is not forked to": async (harness) => {
    const session = await grown(harness)
    const gone = await harness.session()
    await harness.send("DELETE", harness.n(gone))
    refuses(await fork(harness, session, gone), 409, "ConflictError", "session.deleted")
  },
  "an id that is taken is not forked to": async (harness) => {
    const [session, taken] = [await grown(harness), await harness.session()]
    refuses(await fork(harness, session, taken), 409, "ConflictError", "idempotency.mismatch")
  },
  "visibility: actor leaves out what was not for the forking actor": async (harness) => {
    const session = await harness.session()
    const append = (id: string, body: unknown) => harness.put(`${harness.n(session)}/conversation/${id}`, body)
    await append("e1", { role: "user", content: "for all" })
    await append("e2", { role: "user", content: "for another", audience: ["nobody-of-this-name"] })
    const [all, own] = [harness.fresh("f"), harness.fresh("f")]
    answers(await fork(harness, session, all, { visibility: "all" }), 201, SessionResponse)
    answers(await fork(harness, session, own, { visibility: "actor" }), 201, SessionResponse)
    same((await historyOf(harness, all)).length, 2, "entries of a whole fork")
    const seen = JSON.stringify(await historyOf(harness, own))
    ensure(seen.includes("for all") && !seen.includes("for another"), "the wrong entries were copied")
  }
})
