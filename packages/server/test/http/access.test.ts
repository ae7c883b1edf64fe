import { HttpApi } from "@effect/platform"
import { assert, layer } from "@effect/vitest"
import { HarnessApi, type Scope, ServerName } from "@harness/protocol"
import { Effect, Redacted } from "effect"
import { scopeOf } from "../../src/auth/scopes.ts"
import { Tokens } from "../../src/auth/Tokens.ts"
import { routeTable } from "../../src/http/routes.ts"
import { ADMIN, app } from "./app.ts"
import { call, type Request } from "./wire.ts"

/** Every method and path of the API, with ids filled in. */
const everyRoute = () => {
  const routes: Array<{ readonly method: string; readonly path: string; readonly template: string }> = []
  HttpApi.reflect(HarnessApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) =>
      routes.push({
        method: endpoint.method,
        path: endpoint.path.replace(/:\w+/g, "a"),
        template: endpoint.path
      })
  })
  return routes
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

const tokenWith = (
  scopes: readonly [Scope, ...ReadonlyArray<Scope>],
  servers?: readonly [ServerName, ...ServerName[]]
) =>
  Effect.gen(function* () {
    const tokens = yield* Tokens
    const { token } = yield* tokens.add({ actor: scopes.join("+"), scopes, ...(servers && { servers }) })
    return Redacted.value(token)
  })

const as = (token: string, method: string, path: string, request: Request = {}) =>
  call(path, { ...request, method, headers: { ...request.headers, ...bearer(token) } })

layer(app(), { excludeTestServices: true })("access", (it) => {
  it.effect("GET /v1/health is the one route without a token", () =>
    Effect.gen(function* () {
      const find = routeTable(HarnessApi)
      const open = everyRoute().filter(({ method, template }) => {
        const route = find(template.slice(1).split("/"))?.place.routes.get(method)
        assert.isDefined(route)
        return route?.open === true
      })
      assert.deepEqual(
        open.map(({ method, path }) => `${method} ${path}`),
        ["GET /v1/health"]
      )
      for (const { method, path } of everyRoute()) {
        const answer = yield* call(path, { method, headers: { authorization: null } })
        assert.strictEqual(answer.status, path === "/v1/health" ? 200 : 401, `${method} ${path}`)
      }
    })
  )

  const refused = {
    "no header": [null, "auth.missing"],
    "an empty one": ["", "auth.missing"],
    "another scheme": ["Basic YTpi", "auth.missing"],
    "a scheme alone": ["Bearer", "auth.missing"],
    "a token in two parts": ["Bearer a b", "auth.missing"],
    "an unknown token": ["Bearer hrn_nobody", "auth.unknown"],
    "the admin's, cut": [`Bearer ${ADMIN.slice(0, -1)}`, "auth.unknown"]
  } as const
  for (const [what, [authorization, code]] of Object.entries(refused)) {
    it.effect(`${what}: 401, before 404, 405, and the body`, () =>
      Effect.gen(function* () {
        for (const [method, path] of [
          ["GET", "/v1/capabilities"],
          ["GET", "/v1/nowhere"],
          ["GET", "/v1/servers/a/sessions/%zz"],
          ["POST", "/v1/health"],
          ["PATCH", "/v1/servers/a/sessions/x"],
          ["GET", "/v1/servers/a/sessions/x/events"]
        ] as const) {
          const body = method === "GET" ? "" : "not json"
          const answer = yield* call(path, { method, headers: { authorization }, body })
          assert.strictEqual(answer.status, 401)
          assert.deepInclude(answer.json, { _tag: "UnauthorizedError", code })
          assert.strictEqual(answer.headers["www-authenticate"], "Bearer")
        }
      })
    )
  }

  it.effect("a token in the query is no token", () =>
    Effect.gen(function* () {
      const answer = yield* call(`/v1/capabilities?token=${ADMIN}`, { headers: { authorization: null } })
      assert.strictEqual(answer.status, 401)
    })
  )

  it.effect("the scheme may be spelt in any case", () =>
    Effect.gen(function* () {
      const answer = yield* call("/v1/capabilities", { headers: { authorization: `bEaReR ${ADMIN}` } })
      assert.strictEqual(answer.status, 200)
    })
  )

  const matrix: ReadonlyArray<readonly [Scope, string, string, number]> = [
    ["read", "GET", "/v1/capabilities", 200],
    ["read", "GET", "/v1/logs", 200],
    ["read", "HEAD", "/v1/servers/a/sessions", 200],
    ["read", "PUT", "/v1/servers/a/sessions/x", 403],
    ["read", "DELETE", "/v1/servers/a/sessions/x", 403],
    ["write", "GET", "/v1/servers/a/sessions", 200],
    ["write", "PUT", "/v1/servers/a/sessions/x", 201],
    ["write", "DELETE", "/v1/servers/a/sessions/x", 200],
    ["write", "DELETE", "/v1/servers/a", 403],
    ["approve", "GET", "/v1/servers/a/sessions", 200],
    ["approve", "PUT", "/v1/servers/a/sessions/x", 403],
    ["read", "GET", "/v1/servers/a/hooks", 200],
    ["read", "GET", "/v1/servers/a/sessions/x/permissions", 404],
    ["read", "POST", "/v1/servers/a/sessions/x/permissions/a/reply", 403],
    ["write", "POST", "/v1/servers/a/sessions/x/permissions/a/reply", 403],
    ["write", "POST", "/v1/servers/a/sessions/x/questions/a/reply", 403],
    ["write", "POST", "/v1/servers/a/sessions/x/questions/a/reject", 403],
    ["write", "POST", "/v1/servers/a/sessions/x/turns/t/calls/a/resolve", 403],
    ["write", "DELETE", "/v1/servers/a/sessions/x/grants/a", 404],
    ["write", "DELETE", "/v1/servers/a/hooks/h", 403],
    ["write", "DELETE", "/v1/servers/a/webhooks/h", 403],
    ["write", "POST", "/v1/runtime/reload", 403],
    ["approve", "POST", "/v1/servers/a/sessions/x/questions/a/reject", 404],
    ["approve", "DELETE", "/v1/servers/a/sessions/x/grants/a", 403],
    ["approve", "DELETE", "/v1/servers/a/hooks/h", 403],
    ["admin", "DELETE", "/v1/servers/a/hooks/h", 200],
    ["admin", "DELETE", "/v1/servers/a/webhooks/h", 200],
    ["admin", "POST", "/v1/runtime/reload", 200],
    ["admin", "PUT", "/v1/servers/a/sessions/x", 201],
    ["admin", "DELETE", "/v1/servers/a", 200]
  ]
  for (const [scope, method, path, status] of matrix) {
    it.effect(`${scope}: ${method} ${path} is ${status}`, () =>
      Effect.gen(function* () {
        const answer = yield* as(yield* tokenWith([scope]), method, path)
        assert.strictEqual(answer.status, status)
        if (status === 403) assert.deepInclude(answer.json, { _tag: "ForbiddenError", code: "auth.scope" })
      })
    )
  }

  it("what answers asks needs approve, what runs code or holds secrets needs admin", () => {
    const N = "/v1/servers/:server/sessions/:sessionId"
    assert.strictEqual(scopeOf("POST", `${N}/permissions/:requestId/reply`), "approve")
    assert.strictEqual(scopeOf("POST", `${N}/questions/:questionId/reply`), "approve")
    assert.strictEqual(scopeOf("POST", `${N}/questions/:questionId/reject`), "approve")
    assert.strictEqual(scopeOf("POST", `${N}/turns/:turnId/calls/:callId/resolve`), "approve")
    for (const template of [
      "/v1/servers/:server/hooks/:hookId",
      "/v1/servers/:server/webhooks/:webhookId/redeliver",
      "/v1/runtime/providers/:providerId/connect/key",
      "/v1/runtime/reload",
      `${N}/plugins/:pluginId`
    ]) {
      assert.strictEqual(scopeOf("POST", template), "admin")
      assert.strictEqual(scopeOf("GET", template), "read")
    }
    assert.strictEqual(scopeOf("DELETE", `${N}/grants/:grantId`), "write")
  })

  it.effect("a token for some servers reaches those, and nothing that tells of others", () =>
    Effect.gen(function* () {
      const token = yield* tokenWith(["admin"], [ServerName.make("mine"), ServerName.make("ours")])
      for (const path of ["/v1/servers/mine/sessions", "/v1/servers/ours/sessions", "/v1/capabilities"]) {
        assert.strictEqual((yield* as(token, "GET", path)).status, 200)
      }
      for (const [method, path] of [
        ["GET", "/v1/servers/other/sessions"],
        ["PUT", "/v1/servers/other/sessions/x"],
        ["DELETE", "/v1/servers/other"],
        ["GET", "/v1/servers/mine2/sessions"],
        ["GET", "/v1/servers/MINE/sessions"],
        ["GET", "/v1/logs"],
        ["GET", "/v1/metrics"]
      ] as const) {
        const answer = yield* as(token, method, path)
        assert.strictEqual(answer.status, 403, path)
        assert.strictEqual(answer.json["code"], "auth.server")
      }
      assert.strictEqual((yield* as(token, "GET", "/v1/servers/m%69ne/sessions")).status, 200)
    })
  )

  it.effect("handlers are told the actor and the client", () =>
    Effect.gen(function* () {
      const token = yield* tokenWith(["read"], [ServerName.make("a")])
      for (const [sent, clientId] of [
        ["phone-1", { clientId: "phone-1" }],
        ["two words", {}],
        ["x".repeat(129), {}],
        [null, {}]
      ] as const) {
        const headers = { ...bearer(token), "ze-harness-client-id": sent }
        const { metadata } = (yield* call("/v1/servers/a/sessions/who", { headers })).json
        assert.deepEqual(metadata, { actor: { actorId: "read", scopes: ["read"], servers: ["a"], ...clientId } })
      }
    })
  )

  it.effect("a revoked token is unknown at once, and the others stay", () =>
    Effect.gen(function* () {
      const tokens = yield* Tokens
      const { token, tokenId } = yield* tokens.add({ actor: "guest", scopes: ["read"] })
      const guest = Redacted.value(token)
      assert.strictEqual((yield* as(guest, "GET", "/v1/capabilities")).status, 200)
      assert.isTrue(yield* tokens.revoke(tokenId))
      assert.strictEqual((yield* as(guest, "GET", "/v1/capabilities")).json["code"], "auth.unknown")
      assert.strictEqual((yield* call("/v1/capabilities")).status, 200)
    })
  )
})
