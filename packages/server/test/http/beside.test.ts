import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, FastCheck as fc } from "effect"
import { app, Seen } from "./app.ts"
import { call, requestText, wire } from "./wire.ts"

layer(app(), { excludeTestServices: true })("beside the API", (it) => {
  it.effect("an open path needs no token, but passes the doors and is named like every answer", () =>
    Effect.gen(function* () {
      const answer = yield* call("/", { headers: { authorization: null } })
      assert.strictEqual(answer.text, "console")
      assert.strictEqual(answer.headers["ze-harness-version"], "1/9.8.7")
      assert.strictEqual((yield* call("/", { headers: { host: "evil.example" } })).status, 421)
      assert.strictEqual((yield* call("/", { headers: { origin: "https://evil.example" } })).status, 403)
    })
  )

  it.effect("a raw path gets its body as it is", () =>
    Effect.gen(function* () {
      const body = { method: "POST", body: "not json", headers: { "content-type": "text/plain", authorization: null } }
      assert.strictEqual((yield* call("/files/a", body)).text, "not json")
    })
  )

  it.effect("a closed path needs a token, and gets a body that was checked", () =>
    Effect.gen(function* () {
      const face = (body: string, authorization?: null) =>
        call("/faces/a", { method: "POST", body, headers: authorization === null ? { authorization } : {} })
      assert.strictEqual((yield* face("{}", null)).status, 401)
      assert.strictEqual((yield* face("not json")).status, 400)
      assert.strictEqual((yield* face('{"a":1}')).text, '{"a":1}')
    })
  )

  it.effect("what is no path of ours needs a token before it is not found", () =>
    Effect.gen(function* () {
      for (const path of ["/filesx", "/files", "/index.html"]) {
        assert.strictEqual((yield* call(path, { headers: { authorization: null } })).status, 401)
        assert.strictEqual((yield* call(path)).status, 404)
      }
    })
  )

  it.effect("a caller who leaves stops what was being done for them", () =>
    Effect.gen(function* () {
      const { streamLeft, waiterLeft, waiting } = yield* Seen
      const waiter = yield* wire
      waiter.write(requestText("/v1/servers/a/sessions/wait"))
      yield* Deferred.await(waiting)
      waiter.socket.destroy()
      yield* Deferred.await(waiterLeft)
      const reader = yield* wire
      reader.write(requestText("/v1/servers/a/sessions/x/events"))
      yield* Effect.promise(() => reader.stream("\n\n"))
      reader.socket.destroy()
      yield* Deferred.await(streamLeft)
    }).pipe(Effect.scoped)
  )

  it.effect("HEAD of a stream answers and ends", () =>
    Effect.gen(function* () {
      const answer = yield* call("/v1/servers/a/sessions/x/events", { method: "HEAD" })
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.headers["content-type"], "text/event-stream")
    })
  )

  const piece = fc.constantFrom(
    ...["/", "//", "v1", "servers", "a", "sessions", "x", "turns", "t", "cancel", "events", "health", "files", "faces"],
    ...[
      "%2F",
      "%2f",
      "%3B",
      ";",
      "#",
      "%23",
      "%",
      "%25",
      "%2525",
      "%C3%A9",
      "%c3",
      "%00",
      "%68ealth",
      "..",
      "%2e%2e",
      "?",
      "&"
    ],
    ...[":", "*", "\\", "%5C", "+", "@", "ä", "http:"]
  )
  it.effect.prop(
    "the edge and the router read every path alike",
    [fc.array(piece, { maxLength: 12 }), fc.constantFrom("GET", "HEAD", "PUT", "POST", "PATCH", "DELETE")],
    ([pieces, method]) =>
      Effect.gen(function* () {
        const answer = yield* call(encodeURI(`/${pieces.join("")}`).replaceAll("%25", "%"), { method })
        assert.notStrictEqual(answer.status, 500)
        assert.isString(answer.headers["x-request-id"])
        const clean = yield* call(`/v1/servers/${pieces.join("/")}`.replaceAll("ä", ""), { method })
        assert.notStrictEqual(clean.status, 500)
      })
  )
})
