import {
  Actor,
  SessionChildrenResponse,
  SessionConfigurationResponse,
  SessionHistoryResponse,
  SessionResponse,
  SessionStatusResponse
} from "@harness/protocol"
import { answers, refuses, same, section, shaped } from "../check.ts"

/** §2: sessions. */
export const sessionChecks = section("sessions", {
  "a session is what its creation said": async (harness) => {
    const sessionId = harness.fresh("s")
    const metadata = { team: "docs", nested: { list: [1, null, "x"] } }
    const made = answers(
      await harness.put(harness.n(sessionId), { title: "Notes", model: "demo/demo", metadata }),
      201,
      SessionResponse
    )
    same([made.sessionId, made.server, made.title], [sessionId, harness.target.server, "Notes"], "the session")
    same([made.model, made.agent, made.state, made.cursor], ["demo/demo", "general", "idle", 1], "the session")
    same(made.metadata, metadata, "metadata")
    same(answers(await harness.get(harness.n(sessionId)), 200, SessionResponse), made, "what GET says")
  },
  "a session that is not there is a 404": async (harness) => {
    for (const path of ["", "/status", "/history", "/configuration", "/children", "/turns", "/queue", "/events"]) {
      refuses(await harness.get(harness.n("nobody") + path), 404, "NotFoundError", "session.not_found")
    }
  },
  "a prompt for a session that is not there is a 404": async (harness) => {
    refuses(await harness.put(harness.t("nobody", "t"), { content: "hi" }), 404, "NotFoundError", "session.not_found")
  },
  "a title is changed by PATCH": async (harness) => {
    const session = await harness.session({ title: "one" })
    const patched = await harness.send("PATCH", harness.n(session), { json: { title: "two" } })
    same(answers(patched, 200, SessionResponse).title, "two", "title")
    same(answers(await harness.get(harness.n(session)), 200, SessionResponse).title, "two", "title")
  },
  "nothing but the title is": async (harness) => {
    const session = await harness.session()
    const answer = await harness.send("PATCH", harness.n(session), { json: { title: "x", workdir: "y" } })
    refuses(answer, 400, "ValidationError", "request.invalid")
  },
  "a fresh session is idle, and has no history and no children": async (harness) => {
    const n = harness.n(await harness.session())
    const status = answers(await harness.get(`${n}/status`), 200, SessionStatusResponse)
    same([status.state, status.queued, status.turnCount, status.depth], ["idle", 0, 0, 0], "status")
    same(answers(await harness.get(`${n}/history`), 200, SessionHistoryResponse).entries, [], "entries")
    same(answers(await harness.get(`${n}/children`), 200, SessionChildrenResponse).children, [], "children")
  },
  "a configuration is replaced whole": async (harness) => {
    const path = `${harness.n(await harness.session({ systemPrompt: "Be brief." }))}/configuration`
    const before = answers(await harness.get(path), 200, SessionConfigurationResponse)
    same([before.systemPrompt, before.model], ["Be brief.", "demo/demo"], "before")
    const permissions = [{ permission: "shell", pattern: "git *", action: "deny" }]
    const after = answers(
      await harness.put(path, { expectedRevision: before.revision, model: "demo/demo", permissions }),
      200,
      SessionConfigurationResponse
    )
    same([after.systemPrompt, after.permissions], ["", permissions], "after")
  },
  "a workdir outside the root is refused": async (harness) => {
    for (const workdir of ["../elsewhere", "/etc", "a/../../b"]) {
      const answer = await harness.put(harness.n(harness.fresh("s")), { workdir })
      refuses(answer, 400, "ValidationError", "workdir.outside_root")
    }
    const answer = await harness.put(harness.n(harness.fresh("s")), { clientWorkdir: "/no/such/place/of/ours" })
    refuses(answer, 400, "ValidationError", "workdir.outside_root")
  },
  "an unknown model is refused": async (harness) => {
    for (const model of ["nobody/nothing", "demo/nothing"]) {
      refuses(await harness.put(harness.n(harness.fresh("s")), { model }), 400, "ValidationError", "model.unknown")
      const turn = harness.t(await harness.session(), "t1")
      refuses(await harness.put(turn, { content: "hi", model }), 400, "ValidationError", "model.unknown")
    }
  },
  "a system prompt is at most 65,536 UTF-8 bytes": async (harness) => {
    answers(
      await harness.put(harness.n(harness.fresh("s")), { systemPrompt: "x".repeat(65_536) }),
      201,
      SessionResponse
    )
    const answer = await harness.put(harness.n(harness.fresh("s")), { systemPrompt: "é".repeat(32_769) })
    refuses(answer, 400, "ValidationError", "request.invalid")
  },
  "a bad glob in a policy is refused when it is set": async (harness) => {
    const answer = await harness.put(harness.n(harness.fresh("s")), { tools: { deny: ["[a"] } })
    refuses(answer, 400, "ValidationError", "policy.invalid_glob")
  },
  "an event says who caused it, and by which client": async (harness) => {
    const sessionId = harness.fresh("s")
    const headers = { "ze-harness-client-id": "conformance-1" }
    await harness.send("PUT", harness.n(sessionId), { json: {}, headers })
    const stream = await harness.watch(`${harness.n(sessionId)}/events?afterCursor=0`)
    const first = await stream.next()
    const actor = shaped(Actor, first?.data["actor"], "actor")
    same(actor.clientId, "conformance-1", "clientId")
  }
})
