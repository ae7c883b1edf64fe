import { HttpServerError } from "@effect/platform"
import { SqlError } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Cause, Effect, Exit, FiberId } from "effect"
import { failureResponse } from "../../src/http/errors.ts"
import { app, LEAK, Seen } from "./app.ts"
import { call } from "./wire.ts"

const at = (id: string) => `/v1/servers/a/sessions/${id}`

layer(app(), { excludeTestServices: true })("a failure", (it) => {
  it.effect("that is a defect says nothing of itself, and is in the log under the request's id", () =>
    Effect.gen(function* () {
      const answer = yield* call(at("defect"), { headers: { "x-request-id": "find-me" } })
      assert.strictEqual(answer.status, 500)
      assert.deepEqual(answer.json, {
        _tag: "InternalServerError",
        code: "internal",
        message: "something went wrong on our side",
        retryable: false,
        requestId: "find-me"
      })
      const { lines } = yield* Seen
      const line = lines.find((line) => line.includes("find-me"))
      assert.include(line, LEAK)
    })
  )

  const storage = [
    ["busy", 503, "storage.busy", "1"],
    ["full", 503, "storage.full", "30"],
    ["corrupt", 500, "internal", undefined]
  ] as const
  for (const [id, status, code, retryAfter] of storage) {
    it.effect(`of storage that is ${id}: ${code}, without the statement`, () =>
      Effect.gen(function* () {
        const answer = yield* call(at(id))
        assert.strictEqual(answer.status, status)
        assert.deepInclude(answer.json, { code, retryable: status === 503 })
        assert.strictEqual(answer.headers["retry-after"], retryAfter)
        assert.notInclude(answer.text, "SELECT")
      })
    )
  }

  it.effect("of a handler keeps its tag, code and details", () =>
    Effect.gen(function* () {
      const conflict = yield* call(at("conflict"))
      assert.strictEqual(conflict.status, 409)
      assert.deepInclude(conflict.json, {
        _tag: "ConflictError",
        code: "idempotency.mismatch",
        details: { of: "turn" }
      })
      assert.strictEqual((yield* call(at("x"))).json["code"], "session.not_found")
      const steer = yield* call(`${at("x")}/turns/t/steer/e`, { method: "POST", body: '{"content":"left"}' })
      assert.deepInclude(steer.json, { _tag: "SteerConflictError", code: "steer.conflict" })
      assert.strictEqual(steer.status, 409)
    })
  )

  it.effect("of a wrapped SQL error is recognised by its cause", () =>
    Effect.gen(function* () {
      const busy = Object.assign(new Error("locked"), { code: "SQLITE_BUSY_SNAPSHOT" })
      for (const cause of [
        Cause.die(new SqlError.SqlError({ cause: busy })),
        Cause.fail(new SqlError.SqlError({ cause: busy }))
      ]) {
        assert.strictEqual((yield* failureResponse<unknown>(cause, "r")).status, 503)
      }
    })
  )

  it.effect("that is the caller's leaving is no answer, and any other interruption is ours", () =>
    Effect.gen(function* () {
      const left = yield* Effect.exit(failureResponse(Cause.interrupt(HttpServerError.clientAbortFiberId), "r"))
      assert.isTrue(Exit.isInterrupted(left))
      assert.strictEqual((yield* failureResponse(Cause.interrupt(FiberId.none), "r")).status, 500)
    })
  )
})
