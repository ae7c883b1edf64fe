import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { app } from "./app.ts"
import { type Answer, call, type Request, requestText, send, type Wire, wire } from "./wire.ts"

const PATCH = "/v1/servers/a/sessions/x"
const MAX = 1_048_576
const good = { method: "PATCH", body: '{"title":"ok"}' }

const patch = (body: string | Buffer, headers: Request["headers"] = {}) =>
  call(PATCH, { method: "PATCH", body, headers })

const assertRefused = (answer: Answer, status: number, code: string) => {
  assert.deepInclude(answer.json, { _tag: "ValidationError", code })
  assert.strictEqual(answer.status, status)
}

/** The next good request on the same connection. */
const assertUsable = (connection: Wire) =>
  Effect.map(send(connection, PATCH, good), (answer) => {
    assert.strictEqual(answer.status, 200)
    assert.strictEqual(answer.json["title"], "ok")
  })

const chunked = (chunks: ReadonlyArray<Buffer>) =>
  Buffer.concat([
    requestText(PATCH, {
      method: "PATCH",
      headers: { "transfer-encoding": "chunked", "content-type": "application/json" }
    }),
    ...chunks.map((chunk) =>
      Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n")])
    ),
    Buffer.from("0\r\n\r\n")
  ])

const issuesOf = (answer: Answer) => {
  const { details } = answer.json
  return typeof details === "object" && details !== null && "issues" in details ? details.issues : undefined
}

layer(app(), { excludeTestServices: true })("a body", (it) => {
  for (const size of [MAX + 1, 2 * MAX, 8 * MAX]) {
    it.effect(`of ${size} bytes is too large, and the connection goes on`, () =>
      Effect.gen(function* () {
        const connection = yield* wire
        const body = Buffer.alloc(size, "x")
        assertRefused(yield* send(connection, PATCH, { method: "PATCH", body }), 413, "request.too_large")
        yield* assertUsable(connection)
      }).pipe(Effect.scoped)
    )
  }

  it.effect("too large in chunks is refused alike", () =>
    Effect.gen(function* () {
      const connection = yield* wire
      connection.write(chunked(Array.from({ length: 20 }, () => Buffer.alloc(100_000, "x"))))
      assertRefused(yield* Effect.promise(() => connection.answer()), 413, "request.too_large")
      yield* assertUsable(connection)
    }).pipe(Effect.scoped)
  )

  it.effect("too large by far is refused before it came, and ends the connection", () =>
    Effect.gen(function* () {
      const connection = yield* wire
      const headers = { "content-length": String(64 * MAX), "content-type": "application/json" }
      connection.write(requestText(PATCH, { method: "PATCH", headers }))
      const answer = yield* Effect.promise(() => connection.answer())
      assertRefused(answer, 413, "request.too_large")
      assert.strictEqual(answer.headers["connection"], "close")
    }).pipe(Effect.scoped)
  )

  it.effect("in chunks without end is cut", () =>
    Effect.gen(function* () {
      const connection = yield* wire
      const text = chunked([Buffer.alloc(17 * MAX, "x")])
      connection.write(text.subarray(0, text.length - 20))
      assertRefused(yield* Effect.promise(() => connection.answer()), 413, "request.too_large")
      yield* Effect.promise(() => connection.end())
    }).pipe(Effect.scoped)
  )

  it.effect("of exactly the limit is read", () =>
    Effect.gen(function* () {
      const body = `{"title":"ok"${" ".repeat(MAX - 14)}}`
      assert.lengthOf(Buffer.from(body), MAX)
      assert.strictEqual((yield* patch(body)).status, 200)
    })
  )

  it.effect("in chunks, cut anywhere, is put together", () =>
    Effect.gen(function* () {
      const bytes = Buffer.from('{"title":"日本語🌍é"}')
      for (const size of [1, 3, 7]) {
        const connection = yield* wire
        const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
          bytes.subarray(i * size, (i + 1) * size)
        )
        for (const byte of chunked(parts).toString("latin1")) connection.write(Buffer.from(byte, "latin1"))
        assert.strictEqual((yield* Effect.promise(() => connection.answer())).json["title"], "日本語🌍é")
      }
    }).pipe(Effect.scoped)
  )

  it.effect("after 100-continue is read", () =>
    Effect.gen(function* () {
      const connection = yield* wire
      connection.write(requestText(PATCH, { ...good, headers: { expect: "100-continue" } }).subarray(0, -14))
      assert.strictEqual((yield* Effect.promise(() => connection.answer())).status, 100)
      connection.write('{"title":"ok"}')
      assert.strictEqual((yield* Effect.promise(() => connection.answer())).status, 200)
    }).pipe(Effect.scoped)
  )

  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", null]) {
    it.effect(`of type ${type} is refused`, () =>
      Effect.gen(function* () {
        const connection = yield* wire
        const answer = yield* send(connection, PATCH, { ...good, headers: { "content-type": type } })
        assertRefused(answer, 415, "request.content_type")
        yield* assertUsable(connection)
      }).pipe(Effect.scoped)
    )
  }
  for (const type of ["application/json; charset=latin1", "application/jsonx", "application/merge-patch+json"]) {
    it.effect(`of type ${type} is refused`, () =>
      Effect.map(patch(good.body, { "content-type": type }), (answer) =>
        assertRefused(answer, 415, "request.content_type")
      )
    )
  }
  for (const type of [
    "application/json",
    "Application/JSON",
    "application/json;charset=UTF-8",
    'application/json; charset="utf-8"'
  ]) {
    it.effect(`of type ${type} is taken`, () =>
      Effect.map(patch(good.body, { "content-type": type }), (answer) => assert.strictEqual(answer.status, 200))
    )
  }
  it.effect("that is compressed is refused", () =>
    Effect.map(patch(good.body, { "content-encoding": "gzip" }), (answer) =>
      assertRefused(answer, 415, "request.content_type")
    )
  )

  const broken = {
    "cut off": '{"title":"canary-in-body',
    "a trailing comma": '{"title":"canary-in-body",}',
    "not UTF-8": Buffer.from([0x22, 0xff, 0xfe, 0x22]),
    "a surrogate written in bytes": Buffer.from([0x22, 0xed, 0xa0, 0xbd, 0x22]),
    "half a character": Buffer.from('{"title":"é"}').subarray(0, 11),
    "deeper than the stack": "[".repeat(500_000),
    "deep and whole": `{"title":${"[".repeat(2000)}${"]".repeat(2000)}}`
  }
  for (const [what, body] of Object.entries(broken)) {
    it.effect(`that is ${what} is malformed, quotes nothing, and the connection goes on`, () =>
      Effect.gen(function* () {
        const connection = yield* wire
        const answer = yield* send(connection, PATCH, { method: "PATCH", body })
        assertRefused(answer, 400, "request.malformed")
        assert.notInclude(answer.text, "canary")
        yield* assertUsable(connection)
      }).pipe(Effect.scoped)
    )
  }

  it.effect("may hold brackets in its texts", () =>
    Effect.gen(function* () {
      const title = `${"[".repeat(300)}\\"${"{".repeat(300)}\\\\`
      assert.strictEqual((yield* patch(`{"title":"${title}"}`)).json["title"], JSON.parse(`"${title}"`))
    })
  )

  it.effect("with a byte order mark is read", () =>
    Effect.map(patch(`\uFEFF${good.body}`), (answer) => assert.strictEqual(answer.json["title"], "ok"))
  )

  const surrogates = [
    ["a\\ud83d", "a\uFFFD"],
    ["\\uDC00b", "\uFFFDb"],
    ["\\ud83d\\ud83d\\ude00", "\uFFFD😀"],
    ["\\uD83D\\uDE00", "😀"],
    ["\\\\ud83d", "\\ud83d"]
  ] as const
  for (const [sent, stored] of surrogates) {
    it.effect(`with the text ${sent} is well-formed when it arrives`, () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* patch(`{"title":"${sent}"}`)).json["title"], stored)
        const put = { method: "PUT", body: `{"metadata":{"deep":[{"${sent}":["${sent}"]}]}}` }
        const { metadata } = (yield* call(PATCH, put)).json
        assert.deepEqual(metadata, { deep: [{ [stored]: [stored] }] })
      })
    )
  }

  it.effect("that does not fit names every place and no value", () =>
    Effect.gen(function* () {
      const answer = yield* patch('{"title":["canary-in-body"],"canaries":"canary-in-body"}')
      assertRefused(answer, 400, "request.invalid")
      assert.notInclude(answer.text, "canary-in-body")
      assert.sameDeepMembers(Object.values(issuesOf(answer) ?? {}), [
        { path: "canaries", reason: "is not known here" },
        { path: "title", reason: "must be a string" }
      ])
    })
  )

  for (const body of ["null", "[]", '"text"', "7"]) {
    it.effect(`${body} where an object is needed is refused`, () =>
      Effect.map(patch(body), (answer) => assertRefused(answer, 400, "request.invalid"))
    )
  }

  it.effect("may be absent where every field is optional, whatever its type says", () =>
    Effect.gen(function* () {
      for (const type of [null, "text/plain", "multipart/form-data; boundary=x"]) {
        for (const length of [null, "0"]) {
          const headers = { "content-type": type, "content-length": length }
          assert.strictEqual((yield* call(PATCH, { method: "PUT", headers })).status, 201)
          assert.strictEqual((yield* call(PATCH, { method: "DELETE", headers })).status, 200)
        }
      }
      const connection = yield* wire
      connection.write(chunked([]).toString().replace("PATCH", "PUT"))
      assert.strictEqual((yield* Effect.promise(() => connection.answer())).status, 201)
    }).pipe(Effect.scoped)
  )

  it.effect("absent where it is needed is refused", () =>
    Effect.map(call(PATCH, { method: "PATCH" }), (answer) => assertRefused(answer, 400, "request.invalid"))
  )

  it.effect("on a route that takes none is refused, an empty one is not", () =>
    Effect.gen(function* () {
      const answer = yield* call("/v1/servers/a", { method: "DELETE", body: '{"force":true}' })
      assertRefused(answer, 400, "request.invalid")
      assert.strictEqual((yield* call("/v1/servers/a", { method: "DELETE", body: "{}" })).status, 200)
    })
  )

  it.effect("with an Upgrade beside it is refused, not overlooked", () =>
    Effect.gen(function* () {
      const answer = yield* patch(good.body, { connection: "upgrade", upgrade: "h2c" })
      assertRefused(answer, 400, "request.malformed")
      assert.strictEqual((yield* patch(good.body, { upgrade: "h2c" })).status, 200)
    })
  )

  it.effect("unread behind a refusal leaves the connection usable", () =>
    Effect.gen(function* () {
      for (const [path, headers, status] of [
        [PATCH, { authorization: null }, 401],
        ["/v1/nowhere", {}, 404],
        ["/v1/health", {}, 405]
      ] as const) {
        const connection = yield* wire
        connection.write(requestText(path, { method: "PATCH", body: "x".repeat(3 * MAX), headers }))
        assert.strictEqual((yield* Effect.promise(() => connection.answer())).status, status)
        yield* assertUsable(connection)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("whose sender goes away leaves nothing behind", () =>
    Effect.gen(function* () {
      const connection = yield* wire
      connection.write(requestText(PATCH, { ...good, headers: { "content-length": "100" } }))
      connection.socket.destroy()
      yield* Effect.promise(() => connection.end())
      yield* assertUsable(yield* wire)
    }).pipe(Effect.scoped)
  )
})
