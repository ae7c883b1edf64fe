import { assert, describe, it, layer } from "@effect/vitest"
import { makeHarnessOpenApi } from "@harness/protocol"
import { Cause, Effect, Layer, Redacted } from "effect"
import { Tokens } from "../../src/auth/Tokens.ts"
import { Redaction } from "../../src/config/Redaction.ts"
import { DaemonLog } from "../../src/http/DaemonLog.ts"
import { ADMIN, app, Seen } from "./app.ts"
import { call } from "./wire.ts"

const lines: Array<string> = []
const logOf = (format: "plain" | "json", level: "trace" | "info") =>
  DaemonLog.layer({ level, format, write: (line) => lines.push(line) }).pipe(
    Layer.provide(Redaction.layer([Redacted.make("canary-key-1")]))
  )

describe("the daemon's log", () => {
  it.effect("is read by cursor, level and page", () =>
    Effect.gen(function* () {
      const log = yield* DaemonLog
      yield* Effect.logTrace("one")
      yield* Effect.logDebug("two")
      yield* Effect.log("three")
      yield* Effect.logWarning("four")
      yield* Effect.logFatal("five")
      const all = log.read({ limit: 100 }).logs
      assert.deepEqual(
        all.map(({ cursor, level, message }) => [cursor, level, message]),
        [
          [1, "trace", "one"],
          [2, "debug", "two"],
          [3, "info", "three"],
          [4, "warn", "four"],
          [5, "error", "five"]
        ]
      )
      assert.match(all[0]?.at ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      const first = log.read({ limit: 2 })
      assert.strictEqual(first.next, 2)
      assert.deepEqual(
        log.read({ after: first.next, limit: 100 }).logs.map(({ cursor }) => cursor),
        [3, 4, 5]
      )
      assert.deepEqual(
        log.read({ level: "warn", limit: 1 }).logs.map(({ cursor }) => cursor),
        [4]
      )
      assert.deepEqual(log.read({ after: 99, limit: 10 }), { logs: [] })
    }).pipe(Effect.provide(logOf("plain", "trace")))
  )

  it.effect("keeps the newest 10,000 entries, and their cursors", () =>
    Effect.gen(function* () {
      const log = yield* DaemonLog
      yield* Effect.forEach(
        Array.from({ length: 10_010 }, (_, index) => index + 1),
        (n) => Effect.log(`n${n}`)
      )
      const page = log.read({ limit: 2 })
      assert.deepEqual(
        page.logs.map(({ cursor, message }) => [cursor, message]),
        [
          [11, "n11"],
          [12, "n12"]
        ]
      )
      assert.strictEqual(page.next, 12)
      assert.strictEqual(log.read({ after: 10_009, limit: 5 }).logs[0]?.message, "n10010")
    }).pipe(Effect.provide(logOf("plain", "info")))
  )

  it.effect("leaves out what is below its level", () =>
    Effect.gen(function* () {
      yield* Effect.logDebug("unsaid")
      assert.lengthOf((yield* DaemonLog).read({ limit: 10 }).logs, 0)
    }).pipe(Effect.provide(logOf("plain", "info")))
  )

  for (const format of ["plain", "json"] as const) {
    it.effect(`shows no secret, wherever it stands (${format})`, () =>
      Effect.gen(function* () {
        lines.length = 0
        const redaction = yield* Redaction
        yield* redaction.add('canary"key-2')
        yield* Effect.logError(
          "calling with canary-key-1",
          { headers: { authorization: "Bearer canary-token-3" }, list: ["sk-canary-key-4"] },
          Cause.die(new Error('canary"key-2 in a cause'))
        ).pipe(
          Effect.annotateLogs({ url: "https://x.example/?token=canary-token-5&a=1", id: "hrn_canary-token-6", n: 1 }),
          Effect.withLogSpan("canary-key-1")
        )
        const shown = lines.join("\n") + JSON.stringify((yield* DaemonLog).read({ limit: 10 }))
        assert.notInclude(shown.replaceAll("\\", ""), "canary")
        assert.include(shown, "<redacted>")
        assert.include(shown, "a=1")
      }).pipe(
        Effect.provide(
          DaemonLog.layer({ level: "info", format, write: (line) => lines.push(line) }).pipe(
            Layer.provideMerge(Redaction.layer([Redacted.make("canary-key-1")]))
          )
        )
      )
    )
  }

  it.effect("keeps a failure's stack out of what can be read over HTTP", () =>
    Effect.gen(function* () {
      lines.length = 0
      yield* Effect.logError("it broke", Cause.die(new Error("because")))
      const [entry] = (yield* DaemonLog).read({ limit: 1 }).logs
      assert.deepEqual(entry?.fields, { cause: "because" })
      assert.include(lines[0], "log.test")
    }).pipe(Effect.provide(logOf("plain", "info")))
  )
})

layer(app(), { excludeTestServices: true })("the process over HTTP", (it) => {
  it.effect("pages its log", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 3; round++) yield* call("/v1/servers/a/sessions/defect")
      const first = yield* call("/v1/logs?level=error&limit=2")
      assert.lengthOf(Object.values(first.json["logs"] ?? {}), 2)
      const rest = yield* call(`/v1/logs?level=error&after=${first.json["next"]}`)
      assert.lengthOf(Object.values(rest.json["logs"] ?? {}), 1)
      assert.isNull(rest.json["next"])
      assert.strictEqual((yield* call("/v1/logs?level=loud")).status, 400)
      assert.strictEqual((yield* call("/v1/logs?limit=501")).status, 400)
    })
  )

  it.effect("describes its API", () =>
    Effect.gen(function* () {
      const answer = yield* call("/v1/openapi.json")
      assert.deepEqual(answer.json, JSON.parse(JSON.stringify(makeHarnessOpenApi())))
    })
  )

  it.effect("counts what it answers, in Prometheus' form", () =>
    Effect.gen(function* () {
      yield* call("/v1/health")
      const { text, headers } = yield* call("/v1/metrics")
      assert.match(headers["content-type"] ?? "", /^text\/plain/)
      assert.match(text, /# TYPE harness_http_requests_total counter\n/)
      assert.match(text, /harness_http_requests_total\{status="2xx"\} [1-9]/)
      assert.match(text, /harness_http_request_millis_bucket\{le="\+Inf"\} [1-9]/)
      for (const line of text.trimEnd().split("\n")) {
        assert.match(line, /^(# (HELP|TYPE) .+|[a-zA-Z_:][\w:]*(\{[^}]*\})? -?[\d.e+]+)$/)
      }
    })
  )

  it.effect("shows no token anywhere, whatever is asked of it", () =>
    Effect.gen(function* () {
      const tokens = yield* Tokens
      const added = Redacted.value((yield* tokens.add({ actor: "guest", scopes: ["read"] })).token)
      const own = Redacted.value(tokens.secrets[0] ?? Redacted.make(""))
      assert.match(own, /^hrn_/)
      const shown: Array<string> = []
      for (const token of [ADMIN, added, own]) {
        for (const [method, path] of [
          ["GET", `/v1/servers/a/sessions/defect`],
          ["GET", `/v1/servers/a/sessions/defect?token=${token}`],
          ["GET", `/v1/servers/a/sessions/${token}`],
          ["PATCH", "/v1/servers/a/sessions/x"],
          ["GET", "/v1/logs?limit=500"],
          ["GET", "/v1/metrics"],
          ["GET", "/v1/capabilities"]
        ] as const) {
          const body = method === "PATCH" ? JSON.stringify({ title: 1, token, nested: { token } }) : ""
          const answer = yield* call(path, { method, body, headers: { authorization: `Bearer ${token}` } })
          shown.push(answer.text, JSON.stringify(answer.headers))
        }
      }
      shown.push(...(yield* Seen).lines)
      for (const token of [ADMIN, added, own]) assert.notInclude(shown.join("\n"), token)
    })
  )
})
