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
  [(c) => c.queue.withdraw(turn), "DELETE /v1/servers/main/sessions/notes/queue/turn-1"]
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
