import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { app } from "./app.ts"
import { type Answer, call, type Request, send, wire } from "./wire.ts"

const everyKind: ReadonlyArray<readonly [string, string, Request]> = [
  ["200", "/v1/health", {}],
  ["201", "/v1/servers/a/sessions/x", { method: "PUT" }],
  ["204", "/v1/health", { method: "OPTIONS", headers: { origin: "https://app.example" } }],
  ["400", "/v1/servers/a/sessions/x", { method: "PATCH", body: "{" }],
  ["401", "/v1/capabilities", { headers: { authorization: null } }],
  ["403", "/v1/health", { headers: { origin: "https://evil.example" } }],
  ["404", "/v1/nowhere", {}],
  ["405", "/v1/health", { method: "PUT" }],
  ["409", "/v1/servers/a/sessions/conflict", {}],
  ["413", "/v1/servers/a/sessions/x", { method: "PATCH", body: Buffer.alloc(1_048_577) }],
  ["415", "/v1/servers/a/sessions/x", { method: "PATCH", body: "{}", headers: { "content-type": "text/plain" } }],
  ["421", "/v1/health", { headers: { host: "evil.example" } }],
  ["500", "/v1/servers/a/sessions/defect", {}],
  ["503", "/v1/servers/a/sessions/busy", {}]
]

const assertNamed = (answer: Answer, id: string) => {
  assert.strictEqual(answer.headers["ze-harness-version"], "1/9.8.7")
  assert.strictEqual(answer.headers["x-request-id"], id)
  assert.strictEqual(answer.headers["access-control-expose-headers"], "Ze-Harness-Version, x-request-id")
  if (answer.status >= 400) {
    assert.strictEqual(answer.json["requestId"], id)
    assert.isString(answer.json["_tag"])
    assert.isString(answer.json["code"])
    assert.isString(answer.json["message"])
    assert.isBoolean(answer.json["retryable"])
  }
}

layer(app(), { excludeTestServices: true })("every answer", (it) => {
  for (const [status, path, request] of everyKind) {
    it.effect(`${status}: names the release and the request`, () =>
      Effect.gen(function* () {
        const answer = yield* call(path, { ...request, headers: { ...request.headers, "x-request-id": "My.id_1-2" } })
        assert.strictEqual(answer.status, Number(status))
        assertNamed(answer, "My.id_1-2")
      })
    )
  }

  it.effect("a request id that cannot be echoed is replaced, and each minted one is new", () =>
    Effect.gen(function* () {
      const seen = new Set<string>()
      for (const sent of ["a b", "ä", "", "x".repeat(129), '"quoted"', null]) {
        const answer = yield* call("/v1/health", { headers: { "x-request-id": sent } })
        const minted = answer.headers["x-request-id"] ?? ""
        assert.match(minted, /^http_[0-9A-HJKMNP-TV-Z]{26}$/)
        seen.add(minted)
      }
      assert.strictEqual(seen.size, 6)
      const longest = "x".repeat(128)
      const answer = yield* call("/v1/health", { headers: { "x-request-id": longest } })
      assert.strictEqual(answer.headers["x-request-id"], longest)
    })
  )

  it.effect("streams name them too, and begin at once", () =>
    Effect.gen(function* () {
      const connection = yield* wire
      connection.write("GET /v1/servers/a/sessions/x/events HTTP/1.1\r\nhost: localhost\r\nx-request-id: s1\r\n")
      connection.write("authorization: Bearer hrn_canary-admin-0123456789\r\n\r\n")
      const { status, headers, text } = yield* Effect.promise(() => connection.stream("\n\n"))
      assert.strictEqual(status, 200)
      assert.include(text, "event: session.cursor")
      assert.strictEqual(headers["x-request-id"], "s1")
      assert.strictEqual(headers["ze-harness-version"], "1/9.8.7")
      assert.strictEqual(headers["content-type"], "text/event-stream")
    }).pipe(Effect.scoped)
  )

  it.effect("HEAD answers as GET, without the body, and the connection goes on", () =>
    Effect.gen(function* () {
      const connection = yield* wire
      for (const [path, status] of [
        ["/v1/health", 200],
        ["/v1/capabilities", 200],
        ["/v1/nowhere", 404],
        ["/v1/servers/a/sessions/defect", 500]
      ] as const) {
        const head = yield* send(connection, path, { method: "HEAD" })
        const get = yield* send(connection, path)
        assert.strictEqual(head.status, status)
        assert.strictEqual(get.status, status)
        assert.strictEqual(head.headers["content-type"], get.headers["content-type"])
      }
    }).pipe(Effect.scoped)
  )
})
