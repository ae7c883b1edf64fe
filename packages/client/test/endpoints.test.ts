import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { HarnessClient } from "../src/Client.ts"
import { httpServer } from "./kit/httpServer.ts"
import { session, turn } from "./kit/log.ts"

type Client = typeof HarnessClient.Service
type Case = readonly [call: (client: Client) => Effect.Effect<unknown, unknown>, request: string, body?: string]

const fork = { ...session, forkedSessionId: "notes-2" }
const cases: ReadonlyArray<Case> = [
  [(c) => c.system.health, "GET /v1/health"],
  [(c) => c.system.capabilities, "GET /v1/capabilities"],
  [(c) => c.system.openapi, "GET /v1/openapi.json"],
  [(c) => c.system.metrics, "GET /v1/metrics"],
  [(c) => c.system.logs(), "GET /v1/logs"],
  [(c) => c.system.logs({ after: 3, level: "warn", limit: 10 }), "GET /v1/logs?after=3&level=warn&limit=10"],
  [(c) => c.servers.delete({ server: "main" }), "DELETE /v1/servers/main"],
  [
    (c) => c.sessions.list({ server: "main", limit: 2, after: "a", workdir: "x y", parent: "p", state: "idle" }),
    "GET /v1/servers/main/sessions?limit=2&after=a&workdir=x+y&parent=p&state=idle"
  ],
  [(c) => c.sessions.create(session), "PUT /v1/servers/main/sessions/notes"],
  [
    (c) => c.sessions.create({ ...session, title: "Notes", workdir: undefined }),
    "PUT /v1/servers/main/sessions/notes",
    '{"title":"Notes"}'
  ],
  [(c) => c.sessions.get(session), "GET /v1/servers/main/sessions/notes"],
  [(c) => c.sessions.update({ ...session, title: "x" }), "PATCH /v1/servers/main/sessions/notes", '{"title":"x"}'],
  [(c) => c.sessions.delete(session), "DELETE /v1/servers/main/sessions/notes"],
  [
    (c) => c.sessions.delete({ ...session, reason: "old" }),
    "DELETE /v1/servers/main/sessions/notes",
    '{"reason":"old"}'
  ],
  [(c) => c.sessions.configuration(session), "GET /v1/servers/main/sessions/notes/configuration"],
  [
    (c) => c.sessions.configure({ ...session, expectedRevision: 1, agent: "general" }),
    "PUT /v1/servers/main/sessions/notes/configuration",
    '{"expectedRevision":1,"agent":"general"}'
  ],
  [(c) => c.sessions.status(session), "GET /v1/servers/main/sessions/notes/status"],
  [(c) => c.sessions.history({ ...session, limit: 5 }), "GET /v1/servers/main/sessions/notes/history?limit=5"],
  [(c) => c.sessions.children(session), "GET /v1/servers/main/sessions/notes/children"],
  [(c) => c.sessions.fork(fork), "POST /v1/servers/main/sessions/notes/forks/notes-2"],
  [
    (c) => c.sessions.fork({ ...fork, through: { turnId: "turn-1" }, visibility: "actor" }),
    "POST /v1/servers/main/sessions/notes/forks/notes-2",
    '{"through":{"turnId":"turn-1"},"visibility":"actor"}'
  ],
  [
    (c) => c.sessions.fork({ ...fork, turnId: "turn-1" }),
    "POST /v1/servers/main/sessions/notes/forks/notes-2",
    '{"turnId":"turn-1"}'
  ],
  [(c) => c.sessions.cancel(session), "POST /v1/servers/main/sessions/notes/cancel"],
  [
    (c) => c.sessions.append({ ...session, entryId: "e1", role: "user", content: "hi" }),
    "PUT /v1/servers/main/sessions/notes/conversation/e1",
    '{"role":"user","content":"hi"}'
  ],
  [
    (c) => c.turns.submit({ ...turn, content: "é", whenBusy: "reject", session: {} }),
    "PUT /v1/servers/main/sessions/notes/turns/turn-1",
    '{"content":"é","session":{},"whenBusy":"reject"}'
  ],
  [
    (c) => c.turns.submitAndWait({ ...turn, content: "x", waitMillis: 100 }),
    "PUT /v1/servers/main/sessions/notes/turns/turn-1?waitMillis=100",
    '{"content":"x"}'
  ],
  [(c) => c.turns.get(turn), "GET /v1/servers/main/sessions/notes/turns/turn-1"],
  [(c) => c.turns.list({ ...session, limit: 3 }), "GET /v1/servers/main/sessions/notes/turns?limit=3"],
  [(c) => c.turns.list({ ...session, before: "t" }), "GET /v1/servers/main/sessions/notes/turns?before=t"],
  [(c) => c.turns.list({ ...session, after: "t" }), "GET /v1/servers/main/sessions/notes/turns?after=t"],
  [(c) => c.turns.cancel(turn), "POST /v1/servers/main/sessions/notes/turns/turn-1/cancel"],
  [
    (c) => c.turns.steer({ ...turn, entryId: "s1", content: "left" }),
    "POST /v1/servers/main/sessions/notes/turns/turn-1/steer/s1",
    '{"content":"left"}'
  ],
  [(c) => c.queue.list(session), "GET /v1/servers/main/sessions/notes/queue"],
  [
    (c) => c.queue.edit({ ...turn, content: "y" }),
    "PATCH /v1/servers/main/sessions/notes/queue/turn-1",
    '{"content":"y"}'
  ],
  [(c) => c.queue.withdraw(turn), "DELETE /v1/servers/main/sessions/notes/queue/turn-1"],
  [(c) => c.permissions.list({ ...session, limit: 5 }), "GET /v1/servers/main/sessions/notes/permissions?limit=5"],
  [
    (c) => c.permissions.below({ ...session, after: "req_1" }),
    "GET /v1/servers/main/sessions/notes/descendants/permissions?after=req_1"
  ],
  [
    (c) => c.permissions.reply({ ...session, requestId: "req_1", reply: "reject", message: "no" }),
    "POST /v1/servers/main/sessions/notes/permissions/req_1/reply",
    '{"reply":"reject","message":"no"}'
  ],
  [(c) => c.permissions.grants(session), "GET /v1/servers/main/sessions/notes/grants"],
  [
    (c) => c.permissions.removeGrant({ ...session, grantId: "grt_1" }),
    "DELETE /v1/servers/main/sessions/notes/grants/grt_1"
  ],
  [(c) => c.questions.list(session), "GET /v1/servers/main/sessions/notes/questions"],
  [(c) => c.questions.below(session), "GET /v1/servers/main/sessions/notes/descendants/questions"],
  [
    (c) => c.questions.reply({ ...session, questionId: "que_1", answers: [["yes"], []] }),
    "POST /v1/servers/main/sessions/notes/questions/que_1/reply",
    '{"answers":[["yes"],[]]}'
  ],
  [
    (c) => c.questions.reject({ ...session, questionId: "que_1" }),
    "POST /v1/servers/main/sessions/notes/questions/que_1/reject"
  ],
  [
    (c) => c.calls.resolve({ ...turn, callId: "call_1", content: "42", details: { a: 1 } }),
    "POST /v1/servers/main/sessions/notes/turns/turn-1/calls/call_1/resolve",
    '{"content":"42","details":{"a":1}}'
  ],
  [
    (c) => c.calls.resolve({ ...turn, callId: "call_1", action: "execute" }),
    "POST /v1/servers/main/sessions/notes/turns/turn-1/calls/call_1/resolve",
    '{"action":"execute"}'
  ],
  [(c) => c.sessions.background(session), "POST /v1/servers/main/sessions/notes/background"],
  [
    (c) => c.compactions.submit({ ...session, compactionId: "c1" }),
    "PUT /v1/servers/main/sessions/notes/compactions/c1"
  ],
  [
    (c) => c.compactions.submit({ ...session, compactionId: "c1", instructions: "keep names" }),
    "PUT /v1/servers/main/sessions/notes/compactions/c1",
    '{"instructions":"keep names"}'
  ],
  [(c) => c.compactions.get({ ...session, compactionId: "c1" }), "GET /v1/servers/main/sessions/notes/compactions/c1"],
  [
    (c) => c.compactions.list({ ...session, before: "c9", limit: 2 }),
    "GET /v1/servers/main/sessions/notes/compactions?limit=2&before=c9"
  ],
  [
    (c) => c.compactions.cancel({ ...session, compactionId: "c1", reason: "late" }),
    "POST /v1/servers/main/sessions/notes/compactions/c1/cancel",
    '{"reason":"late"}'
  ],
  [(c) => c.agents.list(session), "GET /v1/servers/main/sessions/notes/agents"],
  [(c) => c.hooks.list({ server: "main", limit: 1 }), "GET /v1/servers/main/hooks?limit=1"],
  [
    (c) =>
      c.hooks.put({
        server: "main",
        hookId: "h1",
        point: "pre-tool",
        url: "http://x",
        functions: ["shell*"],
        priority: 1
      }),
    "PUT /v1/servers/main/hooks/h1",
    '{"point":"pre-tool","url":"http://x","functions":["shell*"],"priority":1}'
  ],
  [(c) => c.hooks.delete({ server: "main", hookId: "h1" }), "DELETE /v1/servers/main/hooks/h1"],
  [(c) => c.webhooks.list({ server: "main" }), "GET /v1/servers/main/webhooks"],
  [
    (c) => c.webhooks.put({ server: "main", webhookId: "w1", url: "http://x", events: ["turn.completed"] }),
    "PUT /v1/servers/main/webhooks/w1",
    '{"url":"http://x","events":["turn.completed"]}'
  ],
  [(c) => c.webhooks.delete({ server: "main", webhookId: "w1" }), "DELETE /v1/servers/main/webhooks/w1"],
  [
    (c) => c.webhooks.redeliver({ server: "main", webhookId: "w1", afterServerCursor: 7 }),
    "POST /v1/servers/main/webhooks/w1/redeliver",
    '{"afterServerCursor":7}'
  ],
  [(c) => c.runtime.reload(), "POST /v1/runtime/reload"],
  [(c) => c.runtime.reload({ reason: "new keys" }), "POST /v1/runtime/reload", '{"reason":"new keys"}']
]

describe("an endpoint", () => {
  it.scopedLive("is asked for with its path, its query, and a body only if there is something to say", () =>
    Effect.gen(function* () {
      const { baseUrl, got } = yield* httpServer((_, response) => response.writeHead(418).end())
      const client = yield* HarnessClient.make({ baseUrl, token: "secret" })
      for (const [call, request, body = ""] of cases) {
        yield* Effect.exit(call(client))
        const last = got.at(-1)
        expect(`${last?.method} ${last?.url}`).toBe(request)
        expect(last?.body).toBe(body)
        expect(last?.headers["content-type"]).toBe(body === "" ? undefined : "application/json")
        expect(last?.headers.authorization).toBe("Bearer secret")
        expect(last?.headers["traceparent"]).toBeUndefined()
      }
      expect(got.length).toBe(cases.length)
    })
  )
})
