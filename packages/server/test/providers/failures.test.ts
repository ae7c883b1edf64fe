import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { fails, type Step } from "../kit/scriptedModel.ts"
import { ask, collect, openaiOver, scripted } from "./support.ts"

const canary = "sk-canary/7f3a+9b2c=="
const settings = { openaiApiKey: Redacted.make(canary) }

const failureFrom = (...steps: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    const stub = yield* scripted(() => steps)
    return yield* Effect.flip(collect(yield* openaiOver(stub, settings), ask()))
  })

const error = (status: number, message: string, code?: string, headers?: Record<string, string>) =>
  failureFrom(...fails(status, { message, type: "some_error", ...(code === undefined ? {} : { code }) }, headers))

describe("what a provider answers becomes a failure that is safe to show", () => {
  it.scoped.each([
    [401, "Incorrect API key", "invalid_api_key", "auth_expired", "provider.auth"],
    [403, "no access", undefined, "auth_expired", "provider.auth"],
    [429, "slow down", "rate_limit_exceeded", "rate_limited", "provider.rate_limited"],
    [429, "You exceeded your current quota", "insufficient_quota", "permanent", "provider.quota"],
    [
      400,
      "This model's maximum context length is 8192 tokens",
      "context_length_exceeded",
      "context_overflow",
      "provider.context_overflow"
    ],
    [
      400,
      "prompt is too long: 250000 tokens > 200000 maximum",
      undefined,
      "context_overflow",
      "provider.context_overflow"
    ],
    [413, "Request exceeds the maximum size", undefined, "context_overflow", "provider.context_overflow"],
    [400, "Unknown parameter: foo", undefined, "permanent", "provider.refused"],
    [404, "no such model", "model_not_found", "permanent", "provider.not_found"],
    [422, "bad schema", undefined, "permanent", "provider.refused"],
    [307, "", undefined, "permanent", "provider.redirected"],
    [408, "timeout", undefined, "transient", "provider.unavailable"],
    [500, "oops", undefined, "transient", "provider.unavailable"],
    [503, "overloaded", undefined, "transient", "provider.unavailable"],
    [529, "overloaded", undefined, "transient", "provider.unavailable"]
  ] as const)("%i %s (%s) is %s", ([status, message, mark, kind, code]) =>
    Effect.gen(function* () {
      const { failure } = yield* error(status, message, mark)
      assert.deepInclude(failure, { kind, code, retryable: kind === "transient" || kind === "rate_limited" })
      assert.include(failure.message, String(status))
    })
  )

  it.scoped("retry-after is kept: seconds, milliseconds, a date", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* error(429, "x", undefined, { "retry-after": "7" })).retryAfterMillis, 7_000)
      assert.strictEqual((yield* error(429, "x", undefined, { "retry-after-ms": "250" })).retryAfterMillis, 250)
      // The test's clock stands at the epoch.
      const date = "Thu, 01 Jan 1970 00:00:30 GMT"
      assert.strictEqual((yield* error(503, "x", undefined, { "retry-after": date })).retryAfterMillis, 30_000)
      assert.isUndefined((yield* error(429, "x", undefined, { "retry-after": "soon" })).retryAfterMillis)
      assert.isUndefined((yield* error(429, "x")).retryAfterMillis)
    })
  )

  it.scoped("an error inside a stream is told by its own marks", () =>
    Effect.gen(function* () {
      const inside = (error: unknown) =>
        Effect.map(
          failureFrom({ type: "text", text: "half" }, { type: "event", data: { error } }),
          ({ failure }) => failure
        )
      assert.deepInclude(yield* inside({ message: "Overloaded", type: "overloaded_error" }), { kind: "transient" })
      assert.deepInclude(yield* inside({ message: "slow", type: "rate_limit_error" }), { kind: "rate_limited" })
      assert.deepInclude(yield* inside({ message: "slow", code: 429 }), { kind: "rate_limited" })
      assert.deepInclude(yield* inside({ message: "x", code: "context_length_exceeded" }), { kind: "context_overflow" })
      assert.deepInclude(yield* inside({ message: "who knows" }), { kind: "transient" })
    })
  )

  it.scoped("an answer that is no JSON still tells its status, and nothing of its body", () =>
    Effect.gen(function* () {
      const html = "<html>502 Bad Gateway</html>"
      const { failure } = yield* failureFrom({ type: "status", status: 502, body: html })
      assert.strictEqual(failure.kind, "transient")
      assert.notInclude(failure.message, "html")
    })
  )

  it.scoped("nobody listening is unreachable, and may pass", () =>
    Effect.gen(function* () {
      const stub = yield* scripted()
      const model = yield* openaiOver(stub)
      yield* Effect.promise(() => stub.close())
      const { failure } = yield* Effect.flip(collect(model))
      assert.deepInclude(failure, { kind: "transient", code: "provider.unreachable" })
      assert.include(failure.message, "ECONNREFUSED")
      assert.notInclude(failure.message, "127.0.0.1")
    })
  )

  it.scoped("a key that an error repeats never shows, in any form", () =>
    Effect.gen(function* () {
      const forms = [canary, encodeURIComponent(canary), Buffer.from(canary).toString("base64")]
      const echo = `bad request, got Authorization: Bearer ${canary} (${forms.join(" ")}), also sk-proj-someoneelse123`
      const failures = [
        yield* error(400, echo),
        yield* error(401, echo, canary),
        yield* error(429, echo),
        yield* error(500, echo, undefined, { "x-key": canary }),
        yield* failureFrom({ type: "event", data: { error: { message: echo, type: canary } } }),
        yield* failureFrom({ type: "status", status: 400, body: JSON.stringify(echo) })
      ]
      for (const failure of failures) {
        const shown = [JSON.stringify(failure), String(failure), failure.stack, failure.message].join("\n")
        for (const form of [...forms, "someoneelse"]) assert.notInclude(shown, form)
      }
      assert.include(failures[0]?.message, "bad request")
    })
  )

  it.scoped("an endless error body is cut short", () =>
    Effect.gen(function* () {
      const stub = yield* scripted(() => [
        { type: "status", status: 500, body: `{"error":{"message":"${"x".repeat(3_000_000)}"}}` }
      ])
      const { failure } = yield* Effect.flip(collect(yield* openaiOver(stub)))
      assert.strictEqual(failure.kind, "transient")
      assert.isBelow(failure.message.length, 400)
    })
  )
})
