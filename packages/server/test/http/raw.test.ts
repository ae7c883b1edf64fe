import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { app } from "./app.ts"
import { call, requestText, wire } from "./wire.ts"

/** Sends bytes as they are, and reads one answer. */
const raw = (text: string) =>
  Effect.flatMap(wire, (connection) =>
    Effect.promise(() => {
      connection.write(text)
      return connection.answer()
    })
  ).pipe(Effect.scoped)

layer(app(), { excludeTestServices: true })("what is no HTTP request", (it) => {
  const broken = {
    "no HTTP at all": "hello there\r\n\r\n",
    "a TLS greeting": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "an unknown method": "BREW /v1/health HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "a header without a colon": "GET /v1/health HTTP/1.1\r\nhost: localhost\r\nnonsense\r\n\r\n",
    "two lengths": "POST /v1/health HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
    "a length beside chunks":
      "POST /v1/health HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
    "a length that is none": "POST /v1/health HTTP/1.1\r\nhost: localhost\r\ncontent-length: x\r\n\r\n",
    "a broken chunk":
      "PATCH /v1/servers/a/sessions/x HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer hrn_canary-admin-0123456789\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"
  }
  for (const [what, text] of Object.entries(broken)) {
    it.effect(`${what}: 400 with a body, and the server goes on`, () =>
      Effect.gen(function* () {
        const answer = yield* raw(text)
        assert.strictEqual(answer.status, 400)
        assert.deepInclude(answer.json, { _tag: "ValidationError", code: "request.malformed" })
        assert.strictEqual(answer.json["requestId"], answer.headers["x-request-id"])
        assert.strictEqual(answer.headers["ze-harness-version"], "1/9.8.7")
        assert.strictEqual((yield* call("/v1/health")).status, 200)
      })
    )
  }

  it.effect("headers without end: 431 with a body", () =>
    Effect.gen(function* () {
      const answer = yield* raw(`GET /v1/health HTTP/1.1\r\nhost: localhost\r\nx: ${"y".repeat(20_000)}\r\n\r\n`)
      assert.strictEqual(answer.status, 431)
      assert.deepInclude(answer.json, { _tag: "ValidationError", code: "request.headers_too_large" })
    })
  )

  it.effect("an expectation nobody knows: 417 with a body", () =>
    Effect.gen(function* () {
      const answer = yield* call("/v1/health", { headers: { expect: "a miracle" } })
      assert.strictEqual(answer.status, 417)
      assert.strictEqual(answer.json["_tag"], "ValidationError")
    })
  )

  it.effect("HTTP/1.0 without a Host is refused as a host", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* raw("GET /v1/health HTTP/1.0\r\n\r\n")).status, 421)
    })
  )

  it.effect("nonsense behind a request that is being answered does not get into the answer", () =>
    Effect.gen(function* () {
      const connection = yield* wire
      connection.write(requestText("/v1/servers/a/sessions/x/events"))
      const stream = yield* Effect.promise(() => connection.stream("\n\n"))
      assert.strictEqual(stream.status, 200)
      connection.write("nonsense\r\n\r\n")
      const rest = yield* Effect.promise(() => connection.rest())
      assert.notInclude(rest, "HTTP/1.1")
    }).pipe(Effect.scoped)
  )

  it.effect("requests sent in one go are answered in order", () =>
    Effect.gen(function* () {
      const connection = yield* wire
      const ids = Array.from({ length: 20 }, (_, index) => `id-${index}`)
      connection.write(
        Buffer.concat(ids.map((id) => requestText("/v1/capabilities", { headers: { "x-request-id": id } })))
      )
      for (const id of ids) {
        assert.strictEqual((yield* Effect.promise(() => connection.answer())).headers["x-request-id"], id)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("a socket reset while an upgrade is decided harms nobody", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 20; round++) {
        const connection = yield* wire
        connection.write(requestText("/v1/capabilities", { headers: { connection: "upgrade", upgrade: "websocket" } }))
        connection.socket.resetAndDestroy()
        yield* Effect.promise(() => connection.end())
      }
      assert.strictEqual((yield* call("/v1/health")).status, 200)
    }).pipe(Effect.scoped)
  )

  it.effect("a request for another protocol is answered in this one", () =>
    Effect.gen(function* () {
      const headers = { connection: "upgrade", upgrade: "h2c" }
      assert.strictEqual((yield* call("/v1/health", { headers })).status, 200)
      assert.strictEqual(
        (yield* call("/v1/capabilities", { headers: { ...headers, authorization: null } })).status,
        401
      )
    })
  )
})
