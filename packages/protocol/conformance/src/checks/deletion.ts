import { ServerDeletedResponse, SessionDeletedResponse, SessionListResponse, SessionResponse } from "@harness/protocol"
import { answers, ensure, refuses, same, section } from "../check.ts"
import { Harness } from "../harness.ts"

const elsewhere = (harness: Harness, name: string) =>
  new Harness({ ...harness.target, server: name }, AbortSignal.timeout(30_000))

/** §1 and §2: what is gone stays gone. */
export const deletionChecks = section("deletion", {
  "a deleted session is a 404 everywhere": async (harness) => {
    const session = await harness.session()
    await harness.finish(session, "t1", { content: "hello" })
    answers(await harness.send("DELETE", harness.n(session)), 200, SessionDeletedResponse)
    for (const path of [
      "",
      "/status",
      "/history",
      "/configuration",
      "/turns",
      "/turns/t1",
      "/queue",
      "/events",
      "/turns/t1/events"
    ]) {
      refuses(await harness.get(harness.n(session) + path), 404, "NotFoundError")
    }
  },
  "deleting again answers the same": async (harness) => {
    const session = await harness.session()
    const first = answers(await harness.send("DELETE", harness.n(session)), 200, SessionDeletedResponse)
    same(answers(await harness.send("DELETE", harness.n(session)), 200, SessionDeletedResponse), first, "the answer")
  },
  "deleting a session that never was is a 404": async (harness) => {
    refuses(await harness.send("DELETE", harness.n("nobody")), 404, "NotFoundError", "session.not_found")
  },
  "a deleted id is not used again": async (harness) => {
    const session = await harness.session()
    await harness.send("DELETE", harness.n(session))
    refuses(await harness.put(harness.n(session), { model: "demo/demo" }), 409, "ConflictError", "session.deleted")
  },
  "deleting a session stops its turn": async (harness) => {
    const session = await harness.session()
    const turnId = await harness.busy(session)
    const stream = await harness.watch(`${harness.t(session, turnId)}/events`)
    await stream.next()
    answers(await harness.send("DELETE", harness.n(session)), 200, SessionDeletedResponse)
    await stream.toEnd()
  },
  "a deleted server has no sessions, and a new one is another": async (harness) => {
    const name = harness.fresh("gone").toLowerCase()
    const there = elsewhere(harness, name)
    const [one, two] = [await there.session(), await there.session()]
    same(answers(await there.send("DELETE", there.s), 200, ServerDeletedResponse).server, name, "server")
    same(answers(await there.get(`${there.s}/sessions`), 200, SessionListResponse).sessions, [], "sessions")
    for (const session of [one, two]) refuses(await there.get(there.n(session)), 404, "NotFoundError")
    refuses(await there.put(there.n(one), { model: "demo/demo" }), 409, "ConflictError", "session.deleted")
    const fresh = await there.session()
    answers(await there.get(there.n(fresh)), 200, SessionResponse)
    await there.send("DELETE", there.s)
  },
  "server cursors are not used again": async (harness) => {
    const there = elsewhere(harness, harness.fresh("gone").toLowerCase())
    await there.session()
    const head = async () => Number((await (await there.watch(`${there.s}/events`)).next())?.data["serverCursor"])
    const before = await head()
    await there.send("DELETE", there.s)
    await there.session()
    const after = await head()
    ensure(after > before, `the cursor was ${before}, and is ${after}`)
    await there.send("DELETE", there.s)
    await there.release()
  },
  "deleting a server again is a 200": async (harness) => {
    const there = elsewhere(harness, harness.fresh("gone").toLowerCase())
    await there.session()
    await there.send("DELETE", there.s)
    answers(await there.send("DELETE", there.s), 200, ServerDeletedResponse)
  }
})
