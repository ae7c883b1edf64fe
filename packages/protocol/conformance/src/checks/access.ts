import { CapabilitiesResponse, HealthResponse } from "@harness/protocol"
import { answers, ensure, refuses, same, section, shaped } from "../check.ts"
import type { Harness } from "../harness.ts"
import { oneAnswer } from "../raw.ts"

const guarded = (harness: Harness): ReadonlyArray<readonly [string, string]> => [
  ["GET", "/v1/capabilities"],
  ["GET", "/v1/openapi.json"],
  ["GET", "/v1/logs"],
  ["GET", "/v1/metrics"],
  ["GET", `${harness.s}/events`],
  ["GET", `${harness.s}/sessions`],
  ["PUT", harness.n("s")],
  ["GET", `${harness.n("s")}/events`],
  ["GET", `${harness.t("s", "t")}/events`],
  ["DELETE", harness.s]
]

const withHost = (harness: Harness, host: string | undefined) =>
  oneAnswer(
    harness.target.baseUrl,
    ["GET /v1/health HTTP/1.1", ...(host === undefined ? [] : [`host: ${host}`]), "connection: close", "", ""].join(
      "\r\n"
    )
  )

const isLoopback = (harness: Harness) => /^(127\.|localhost$|\[::1\]$)/.test(new URL(harness.target.baseUrl).hostname)

/** §1: who may ask. */
export const accessChecks = section("access", {
  "without a token every route but health is a 401": async (harness) => {
    for (const [method, path] of guarded(harness)) {
      const answer = await harness.send(method, path, { token: null })
      refuses(answer, 401, "UnauthorizedError", "auth.missing")
      ensure(/^bearer/i.test(answer.headers.get("www-authenticate") ?? ""), `${answer.name} has no WWW-Authenticate`)
    }
  },
  "an unknown token is a 401": async (harness) => {
    for (const [method, path] of guarded(harness)) {
      const answer = await harness.send(method, path, { token: "not-a-token-of-anybody" })
      refuses(answer, 401, "UnauthorizedError", "auth.unknown")
      ensure(!answer.text.includes("not-a-token"), "it quotes the token")
    }
  },
  "401 comes before 404 and 405": async (harness) => {
    refuses(await harness.get("/v1/nothing-here", { token: null }), 401, "UnauthorizedError")
    refuses(await harness.send("DELETE", `${harness.s}/sessions`, { token: null }), 401, "UnauthorizedError")
  },
  "another scheme is no token": async (harness) => {
    const headers = { authorization: `Basic ${harness.target.token}` }
    refuses(await harness.get("/v1/capabilities", { token: null, headers }), 401, "UnauthorizedError")
  },
  "a Host that is not ours is a 421": async (harness) => {
    const port = new URL(harness.target.baseUrl).port
    for (const host of ["evil.example", `evil.example:${port}`, "localhost.evil.example", ""]) {
      const answer = await withHost(harness, host)
      same(answer.status, 421, `status for Host: ${host}`)
      ensure(answer.body.includes('"host.refused"'), `body for Host: ${host}: ${answer.body}`)
    }
  },
  "no Host at all is an error with a body": async (harness) => {
    const answer = await withHost(harness, undefined)
    ensure(answer.status === 421 || answer.status === 400, `status ${answer.status}`)
    ensure(answer.body.includes('"code"'), `body: ${answer.body}`)
  },
  "the loopback names are ours": async (harness) => {
    if (!isLoopback(harness)) return
    const port = new URL(harness.target.baseUrl).port
    for (const host of ["localhost", "127.0.0.1", "[::1]"]) {
      const { status, body } = await withHost(harness, `${host}:${port}`)
      same(status, 200, `status for Host: ${host}`)
      shaped(HealthResponse, JSON.parse(body), "health")
    }
  },
  "a foreign Origin is a 403, and nothing runs": async (harness) => {
    const path = harness.n(harness.fresh("s"))
    const answer = await harness.send("PUT", path, { json: {}, headers: { origin: "https://evil.example" } })
    refuses(answer, 403, "ForbiddenError", "origin.refused")
    same(answer.headers.get("access-control-allow-origin"), null, "access-control-allow-origin")
    refuses(await harness.get(path), 404, "NotFoundError", "session.not_found")
  },
  "an Origin of null is foreign": async (harness) => {
    refuses(await harness.get("/v1/health", { headers: { origin: "null" } }), 403, "ForbiddenError", "origin.refused")
  },
  "a preflight from a foreign Origin allows nothing": async (harness) => {
    const headers = { origin: "https://evil.example", "access-control-request-method": "PUT" }
    const answer = await harness.send("OPTIONS", harness.n("s"), { token: null, headers })
    same(answer.status, 403, "status")
    same(answer.headers.get("access-control-allow-origin"), null, "access-control-allow-origin")
  },
  "our own Origin may ask": async (harness) => {
    const { origin } = new URL(harness.target.baseUrl)
    const answer = await harness.get("/v1/capabilities", { headers: { origin } })
    answers(answer, 200, CapabilitiesResponse)
    ensure(answer.headers.get("access-control-allow-origin") !== "*", "it allows everybody")
  }
})
