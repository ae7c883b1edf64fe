import { connect } from "node:net"
import { assert, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Layer, Scope } from "effect"
import { Draining } from "../../src/http/Draining.ts"
import { app, port, Seen } from "./app.ts"
import { requestText, send, wire } from "./wire.ts"

/** Builds the app in a scope of its own, to be closed while connections are open. */
const started = Effect.gen(function* () {
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(app(), scope)
  return { context, stop: Scope.close(scope, Exit.void) }
})

const refusesConnections = (port: number) =>
  Effect.promise(
    () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(port, "127.0.0.1")
        socket.on("connect", () => {
          socket.destroy()
          resolve(false)
        })
        socket.on("error", () => resolve(true))
      })
  )

it.scopedLive("draining: new requests are refused with a time to come back, on every route", () =>
  Effect.gen(function* () {
    const connection = yield* wire
    yield* (yield* Draining).begin
    for (const path of ["/v1/health", "/v1/nowhere"]) {
      const answer = yield* send(yield* wire, path)
      assert.strictEqual(answer.status, 503)
      assert.deepInclude(answer.json, { _tag: "UnavailableError", code: "shutting_down", retryable: true })
      assert.strictEqual(answer.headers["retry-after"], "2")
      assert.strictEqual(answer.headers["connection"], "close")
      assert.strictEqual(answer.headers["ze-harness-version"], "1/9.8.7")
    }
    assert.strictEqual((yield* send(connection, "/v1/health")).status, 503)
    yield* Effect.promise(() => connection.end())
  }).pipe(Effect.provide(app()))
)

it.scopedLive("stopping ends streams cleanly, answers who waits, and frees the port", () =>
  Effect.gen(function* () {
    const { context, stop } = yield* started
    const { streamLeft, waiting } = Context.get(context, Seen)
    const at = yield* Effect.provide(port, context)
    const open = Effect.provide(wire, context)
    const idle = yield* open
    yield* send(idle, "/v1/health")
    const silent = yield* open
    const streams = yield* Effect.all([open, open, open])
    for (const stream of streams) {
      stream.write(requestText("/v1/servers/a/sessions/x/events"))
      yield* Effect.promise(() => stream.stream("\n\n"))
    }
    const waiter = yield* open
    waiter.write(requestText("/v1/servers/a/sessions/wait"))
    yield* Deferred.await(waiting)

    const stopped = yield* Effect.fork(stop)
    for (const stream of streams) {
      // The last chunk of a chunked answer: an end, not a cut.
      assert.include(yield* Effect.promise(() => stream.rest()), "0\r\n\r\n")
    }
    yield* Deferred.await(streamLeft)
    assert.strictEqual((yield* Effect.promise(() => waiter.answer())).status, 404)
    yield* Effect.promise(() => idle.end())
    yield* Effect.promise(() => silent.end())
    yield* stopped
    assert.isTrue(yield* refusesConnections(at))
  })
)

it.scopedLive("a port that is taken is said in words", () =>
  Effect.gen(function* () {
    const taken = yield* port
    const error = yield* Effect.flip(Layer.build(app({ port: taken })))
    assert.deepInclude(error, { _tag: "ListenError", port: taken, reason: "the port is taken" })
  }).pipe(Effect.provide(app()))
)
