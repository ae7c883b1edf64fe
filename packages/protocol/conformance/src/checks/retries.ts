import {
  AppendConversationReceiptResponse,
  SessionConfigurationResponse,
  SessionListResponse,
  SessionResponse,
  SubmitPromptReceipt,
  TurnResponse
} from "@harness/protocol"
import { answers, ensure, refuses, same, section } from "../check.ts"

/** §1: a mutation names its result, so that repeating it is safe. */
export const retryChecks = section("retries", {
  "creating a session again answers 200 and the same session": async (harness) => {
    const path = harness.n(harness.fresh("s"))
    const body = { title: "Once", model: "demo/demo", metadata: { a: 1, b: { c: [1, 2] } } }
    const first = answers(await harness.put(path, body), 201, SessionResponse)
    const again = answers(await harness.put(path, body), 200, SessionResponse)
    same(again, first, "the session")
  },
  "bodies are compared decoded: key order does not matter": async (harness) => {
    const path = harness.n(harness.fresh("s"))
    await harness.put(path, { title: "x", metadata: { a: 1, b: 2 } })
    answers(await harness.put(path, { metadata: { b: 2, a: 1 }, title: "x" }), 200, SessionResponse)
  },
  "an absent body and an empty one are the same": async (harness) => {
    const path = harness.n(harness.fresh("s"))
    answers(await harness.send("PUT", path), 201, SessionResponse)
    answers(await harness.put(path, {}), 200, SessionResponse)
  },
  "the same session id with another body is a 409": async (harness) => {
    const path = harness.n(harness.fresh("s"))
    await harness.put(path, { title: "one" })
    refuses(await harness.put(path, { title: "two" }), 409, "ConflictError", "idempotency.mismatch")
  },
  "the first body counts, also after a PATCH": async (harness) => {
    const path = harness.n(harness.fresh("s"))
    await harness.put(path, { title: "one" })
    await harness.send("PATCH", path, { json: { title: "two" } })
    same(answers(await harness.put(path, { title: "one" }), 200, SessionResponse).title, "two", "title")
    refuses(await harness.put(path, { title: "two" }), 409, "ConflictError", "idempotency.mismatch")
  },
  "of many creations at once one is the first": async (harness) => {
    const path = harness.n(harness.fresh("s"))
    const all = await Promise.all(Array.from({ length: 8 }, () => harness.put(path, { title: "x" })))
    const statuses = all.map((answer) => answer.status).sort()
    same(statuses, [200, 200, 200, 200, 200, 200, 200, 201], "statuses")
  },
  "submitting a prompt again is deduplicated": async (harness) => {
    const session = await harness.session()
    await harness.finish(session, "t1", { content: "hello" })
    const receipt = answers(await harness.put(harness.t(session, "t1"), { content: "hello" }), 202, SubmitPromptReceipt)
    same([receipt.disposition, receipt.turnId], ["deduplicated", "t1"], "receipt")
    const again = await harness.finish(session, "t1", { content: "hello" })
    same([again.state, again.finalText], ["completed", "hello"], "the turn")
  },
  "defaults written out are the same prompt": async (harness) => {
    const session = await harness.session()
    await harness.finish(session, "t1", { content: "hello" })
    const receipt = await harness.submit(session, "t1", { content: "hello", role: "user", whenBusy: "queue" })
    same(receipt.disposition, "deduplicated", "disposition")
  },
  "the same turn id with another prompt is a 409": async (harness) => {
    const session = await harness.session()
    await harness.finish(session, "t1", { content: "hello" })
    refuses(
      await harness.put(harness.t(session, "t1"), { content: "bye" }),
      409,
      "ConflictError",
      "idempotency.mismatch"
    )
  },
  "of many submissions at once one starts": async (harness) => {
    const session = await harness.session()
    const all = await Promise.all(
      Array.from({ length: 8 }, () => harness.submit(session, "t1", { content: "wait 100" }))
    )
    const dispositions = all.map((receipt) => receipt.disposition).sort()
    same(dispositions, [...Array.from({ length: 7 }, () => "deduplicated"), "started"], "dispositions")
  },
  "the same turn id in another session is another turn": async (harness) => {
    const [one, two] = [await harness.session(), await harness.session()]
    same((await harness.finish(one, "t1", { content: "one" })).finalText, "one", "the first")
    same((await harness.finish(two, "t1", { content: "two" })).finalText, "two", "the second")
  },
  "a session created with its first prompt is created once": async (harness) => {
    const sessionId = harness.fresh("s")
    const body = { content: "hello", session: { title: "Born busy", model: "demo/demo" } }
    const turn = answers(await harness.put(`${harness.t(sessionId, "t1")}?waitMillis=20000`, body), 200, TurnResponse)
    same(turn.finalText, "hello", "finalText")
    same((await harness.submit(sessionId, "t1", body)).disposition, "deduplicated", "disposition")
    same(answers(await harness.get(harness.n(sessionId)), 200, SessionResponse).title, "Born busy", "title")
    const { sessions } = answers(await harness.get(`${harness.s}/sessions?limit=500`), 200, SessionListResponse)
    same(sessions.filter((session) => session.sessionId === sessionId).length, 1, "how often it is listed")
  },
  "appending an entry again is deduplicated, with another body a 409": async (harness) => {
    const path = `${harness.n(await harness.session())}/conversation/e1`
    const first = answers(
      await harness.put(path, { role: "user", content: "hi" }),
      202,
      AppendConversationReceiptResponse
    )
    same(first.disposition, "accepted", "disposition")
    const again = answers(
      await harness.put(path, { role: "user", content: "hi" }),
      202,
      AppendConversationReceiptResponse
    )
    same([again.disposition, again.entryId], ["deduplicated", "e1"], "receipt")
    refuses(await harness.put(path, { role: "user", content: "ho" }), 409, "ConflictError", "idempotency.mismatch")
  },
  "replacing a configuration again is a 200, and no new revision": async (harness) => {
    const path = `${harness.n(await harness.session())}/configuration`
    const { revision } = answers(await harness.get(path), 200, SessionConfigurationResponse)
    const body = { expectedRevision: revision, model: "demo/demo", systemPrompt: "Be brief." }
    const first = answers(await harness.put(path, body), 200, SessionConfigurationResponse)
    ensure(first.revision === revision + 1, `revision went from ${revision} to ${first.revision}`)
    same(answers(await harness.put(path, body), 200, SessionConfigurationResponse), first, "the configuration")
  },
  "a stale configuration is a 409 that shows the current one": async (harness) => {
    const path = `${harness.n(await harness.session())}/configuration`
    const { revision } = answers(await harness.get(path), 200, SessionConfigurationResponse)
    await harness.put(path, { expectedRevision: revision, systemPrompt: "One." })
    const answer = await harness.put(path, { expectedRevision: revision, systemPrompt: "Two." })
    const error = refuses(answer, 409, "ConflictError", "revision.stale")
    ensure(JSON.stringify(error.details ?? {}).includes("One."), "details do not hold the current one")
  }
})
