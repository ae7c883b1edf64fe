import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { app } from "./app.ts"
import { call, port, requestText, wire } from "./wire.ts"

layer(app(), { excludeTestServices: true })("the doors", (it) => {
  for (const host of ["localhost", "127.0.0.1", "[::1]", "LOCALHOST:1", "localhost:4700", "harness.example:99"]) {
    it.effect(`Host ${host} is ours`, () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* call("/v1/health", { headers: { host } })).status, 200)
      })
    )
  }

  const strangers = [
    ...["evil.example", "evil.example:4700", "localhost.evil.example", "", "127.0.0.1.evil.example", "0.0.0.0"],
    ...["localhost:", "localhost:x", "localhost, evil.example", "a@localhost", "[::1", "other.example", "[::2]"]
  ]
  for (const host of [...strangers, null]) {
    it.effect(
      `Host ${host === null ? "left out" : `"${host}"`} is refused before the body, the token and the route`,
      () =>
        Effect.gen(function* () {
          for (const authorization of ["Bearer nobody", null]) {
            const answer = yield* call("/v1/nowhere", {
              method: "POST",
              headers: { host, authorization },
              body: "not json"
            })
            assert.strictEqual(answer.status, 421)
            assert.deepInclude(answer.json, { _tag: "ForbiddenError", code: "host.refused" })
            assert.strictEqual(answer.headers["ze-harness-version"], "1/9.8.7")
          }
        })
    )
  }

  it.effect("a host allowed with a port passes with that port alone", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* call("/v1/health", { headers: { host: "other.example:8080" } })).status, 200)
      assert.strictEqual((yield* call("/v1/health", { headers: { host: "other.example:8081" } })).status, 421)
    })
  )

  it.effect("a whole URL as target is checked by its own host too", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* call("http://localhost/v1/health")).status, 200)
      assert.strictEqual((yield* call("http://evil.example/v1/health")).status, 421)
      assert.strictEqual((yield* call("http://localhost/v1/health?x=1")).status, 400)
    })
  )

  it.effect("an upgrade by a strange Host, and a stream, are refused alike", () =>
    Effect.gen(function* () {
      const headers = { host: "evil.example", connection: "upgrade", upgrade: "websocket" }
      assert.strictEqual((yield* call("/v1/health", { headers })).status, 421)
      const stream = yield* call("/v1/servers/a/sessions/b/events", { headers: { host: "evil.example" } })
      assert.strictEqual(stream.status, 421)
    })
  )

  for (const origin of [
    "https://evil.example",
    "null",
    "http://app.example",
    "https://app.example.evil.example",
    "*"
  ]) {
    it.effect(`a page of ${origin} is refused, and nothing runs`, () =>
      Effect.gen(function* () {
        for (const method of ["GET", "POST", "OPTIONS"]) {
          const headers = { origin, "content-type": "text/plain", "access-control-request-method": "PUT" }
          const answer = yield* call("/v1/servers/a/sessions/x", { method, headers, body: "{}" })
          assert.strictEqual(answer.status, 403)
          assert.strictEqual(answer.json["code"], "origin.refused")
          assert.isFalse(Object.keys(answer.headers).some((name) => name.startsWith("access-control-allow")))
        }
      })
    )
  }

  it.effect("an allowed page may read every answer, errors and streams included, by its exact name", () =>
    Effect.gen(function* () {
      const headers = { origin: "https://app.example" }
      for (const path of ["/v1/health", "/v1/nowhere", "/v1/servers/a/sessions/defect"]) {
        const answer = yield* call(path, { headers })
        assert.strictEqual(answer.headers["access-control-allow-origin"], "https://app.example")
        assert.strictEqual(answer.headers["vary"], "origin")
        assert.strictEqual(answer.headers["access-control-expose-headers"], "Ze-Harness-Version, x-request-id")
      }
      const denied = yield* call("/v1/capabilities", { headers: { ...headers, authorization: null } })
      assert.strictEqual(denied.status, 401)
      assert.strictEqual(denied.headers["access-control-allow-origin"], "https://app.example")
    })
  )

  it.effect("a page we served ourselves may call us", () =>
    Effect.gen(function* () {
      const at = `localhost:${yield* port}`
      assert.strictEqual((yield* call("/v1/health", { headers: { host: at, origin: `http://${at}` } })).status, 200)
      assert.strictEqual(
        (yield* call("/v1/health", { headers: { host: at, origin: "http://localhost:1" } })).status,
        403
      )
    })
  )

  it.effect("the preflight of an allowed page needs no token", () =>
    Effect.gen(function* () {
      const headers = { origin: "https://app.example", authorization: null, "access-control-request-method": "PUT" }
      const answer = yield* call("/v1/servers/a/sessions/b", { method: "OPTIONS", headers })
      assert.strictEqual(answer.status, 204)
      assert.strictEqual(answer.headers["access-control-allow-origin"], "https://app.example")
      assert.strictEqual(answer.headers["access-control-allow-methods"], "GET, HEAD, PUT, POST, PATCH, DELETE, OPTIONS")
      assert.strictEqual(
        answer.headers["access-control-allow-headers"],
        "authorization, content-type, ze-harness-client-id, x-request-id, last-event-id"
      )
    })
  )

  it.effect("OPTIONS from nobody's page is no preflight", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        (yield* call("/v1/health", { method: "OPTIONS", headers: { authorization: null } })).status,
        401
      )
      assert.strictEqual((yield* call("/v1/health", { method: "OPTIONS" })).status, 405)
    })
  )

  it.effect("the connection of a refused request goes on", () =>
    Effect.gen(function* () {
      const connection = yield* wire
      connection.write(
        requestText("/v1/x", { method: "POST", headers: { host: "evil.example" }, body: "x".repeat(99_999) })
      )
      connection.write(requestText("/v1/health"))
      assert.strictEqual((yield* Effect.promise(() => connection.answer())).status, 421)
      assert.strictEqual((yield* Effect.promise(() => connection.answer())).status, 200)
    }).pipe(Effect.scoped)
  )
})
