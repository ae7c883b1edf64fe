import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { app } from "./app.ts"
import { call } from "./wire.ts"

const session = "/v1/servers/a/sessions/x"

layer(app(), { excludeTestServices: true })("a path", (it) => {
  const nowhere = [
    ...[
      "/",
      "/v1",
      "/v1/",
      "/v1/healt",
      "/v1/health/",
      "//v1/health",
      "/v1//health",
      "/V1/health",
      "/v1/Health",
      "/v1/x"
    ],
    ...["/v1/servers//sessions", `${session}/`, `${session}/turns/t/nothing`, "/v1/health/..", "*"]
  ]
  for (const path of nowhere) {
    it.effect(`${path} is not found`, () =>
      Effect.gen(function* () {
        const answer = yield* call(path, { method: "POST" })
        assert.strictEqual(answer.status, 404)
        assert.deepInclude(answer.json, { _tag: "NotFoundError", code: "route.not_found" })
      })
    )
  }

  const wrong = [
    ["POST", "/v1/health", "GET, HEAD"],
    ["OPTIONS", "/v1/health", "GET, HEAD"],
    ["POST", session, "DELETE, GET, HEAD, PATCH, PUT"],
    ["GET", "/v1/servers/a", "DELETE"],
    ["HEAD", "/v1/servers/a", "DELETE"],
    ["PATCH", `${session}/turns/t/cancel`, "POST"],
    ["TRACE", session, "DELETE, GET, HEAD, PATCH, PUT"],
    ["PROPFIND", session, "DELETE, GET, HEAD, PATCH, PUT"]
  ] as const
  for (const [method, path, allow] of wrong) {
    it.effect(`${path} answers ${method} with the methods it has`, () =>
      Effect.gen(function* () {
        const answer = yield* call(path, { method })
        assert.strictEqual(answer.status, 405)
        assert.strictEqual(answer.headers["allow"], allow)
        if (method !== "HEAD") assert.deepInclude(answer.json, { _tag: "ValidationError", code: "method.not_allowed" })
      })
    )
  }

  const invalid = [
    ["/v1/servers/a/sessions/.x", "request.invalid"],
    ["/v1/servers/A/sessions", "request.invalid"],
    ["/v1/servers/a_b/sessions", "request.invalid"],
    [`/v1/servers/${"a".repeat(64)}/sessions`, "request.invalid"],
    [`/v1/servers/a/sessions/${"x".repeat(129)}`, "request.invalid"],
    [`/v1/servers/a/sessions/${"x".repeat(2000)}`, "request.invalid"],
    [`/v1/servers/a/sessions/${"%78".repeat(400)}`, "request.invalid"],
    ["/v1/servers/a/sessions/x%2Fy", "request.invalid"],
    ["/v1/servers/a/sessions/%2e%2e%2fx", "request.invalid"],
    ["/v1/servers/a/sessions/x%00", "request.invalid"],
    ["/v1/servers/a/sessions/x%20y", "request.invalid"],
    ["/v1/servers/a/sessions/%C3%A9", "request.invalid"],
    ["/v1/servers/a/sessions/%ff", "request.malformed"],
    ["/v1/servers/a/sessions/%", "request.malformed"],
    ["/v1/servers/a/sessions/%zz", "request.malformed"],
    ["/v1/servers/a/sessions/%ED%A0%BD", "request.malformed"],
    ["/v1/servers/a;b/sessions/x", "request.malformed"],
    ["/v1/servers/a/sessions/x#y", "request.malformed"],
    [`${session}?x=1`, "request.invalid"],
    [`${session}?token=abc`, "request.invalid"],
    ["/v1/servers/a/sessions?limit=0", "request.invalid"],
    ["/v1/servers/a/sessions?limit=1e2", "request.invalid"],
    ["/v1/servers/a/sessions?limit=5&limit=6", "request.invalid"],
    ["/v1/servers/a/sessions?limit=%ff", "request.invalid"],
    [`${session}/events?afterCursor=-1`, "cursor.invalid"],
    [`${session}/events?afterCursor=1.0`, "cursor.invalid"],
    [`${session}/events?afterCursor=x`, "cursor.invalid"]
  ] as const
  for (const [path, code] of invalid) {
    it.effect(`${path.slice(0, 60)} is ${code}`, () =>
      Effect.gen(function* () {
        const answer = yield* call(path)
        assert.deepInclude(answer.json, { _tag: "ValidationError", code })
        assert.strictEqual(answer.status, 400)
      })
    )
  }

  it.effect("ids as long as they may be, and percent-encoded ones, are read", () =>
    Effect.gen(function* () {
      const longest = `A${"z".repeat(127)}`
      const put = yield* call(`/v1/servers/${"a".repeat(63)}/sessions/${longest}`, { method: "PUT" })
      assert.strictEqual(put.json["sessionId"], longest)
      const encoded = yield* call(`/v1/servers/a/sessions/${"%78".repeat(128)}`, { method: "PUT" })
      assert.strictEqual(encoded.json["sessionId"], "x".repeat(128))
    })
  )

  // The router ends a path at `;`: had the edge not, this would be judged as a session's and run as a server's.
  it.effect("cannot mean one route to the edge and another to the router", () =>
    Effect.gen(function* () {
      for (const path of ["/v1/servers/a;/sessions/x", "/v1/servers/a%3B/sessions/x", "/v1/servers/a#/sessions/x"]) {
        const answer = yield* call(path, { method: "DELETE" })
        assert.strictEqual(answer.status, 400)
      }
    })
  )

  it.effect("in another spelling of its fixed parts is judged as the route it is", () =>
    Effect.gen(function* () {
      const answer = yield* call("/v1/%68ealth", { headers: { authorization: null } })
      assert.strictEqual(answer.status, 200)
      assert.strictEqual((yield* call("/v1/servers/a%2Fsessions/x")).status, 404)
    })
  )
})
