import {
  CapabilitiesResponse,
  DaemonLogResponse,
  HARNESS_PROTOCOL_VERSION,
  HealthResponse,
  JsonObject,
  MAX_WIRE_BYTES,
  parseServerVersionHeader
} from "@harness/protocol"
import { Option } from "effect"
import { answers, ensure, refuses, same, section } from "../check.ts"
import type { Answer, Harness } from "../harness.ts"

const kinds = async (harness: Harness): Promise<ReadonlyArray<Answer>> => [
  await harness.get("/v1/health"),
  await harness.get("/v1/health", { token: null }),
  await harness.get(`${harness.s}/sessions`),
  await harness.get(harness.n("nobody")),
  await harness.get("/v1/nothing-here"),
  await harness.send("DELETE", "/v1/health"),
  await harness.get("/v1/capabilities", { token: null }),
  await harness.send("PUT", harness.n("broken"), { text: "{", headers: { "content-type": "application/json" } })
]

/** §1 and §2: what the process says of itself, and what every answer says of it. */
export const systemChecks = section("system", {
  "health needs no token": async (harness) => {
    const health = answers(await harness.get("/v1/health", { token: null }), 200, HealthResponse)
    same(health.protocol, HARNESS_PROTOCOL_VERSION, "protocol")
  },
  "every answer names protocol and release, errors included": async (harness) => {
    for (const { headers, name, status } of await kinds(harness)) {
      const version = parseServerVersionHeader(headers.get("ze-harness-version"))
      ensure(Option.isSome(version), `${name} (${status}) has no ze-harness-version`)
      same(version.value.protocol, HARNESS_PROTOCOL_VERSION, `protocol of ${name}`)
    }
  },
  "every answer has a request id, errors included": async (harness) => {
    for (const { headers, name, status } of await kinds(harness)) {
      ensure(
        /^[A-Za-z0-9._-]{1,128}$/.test(headers.get("x-request-id") ?? ""),
        `${name} (${status}) has no x-request-id`
      )
    }
  },
  "every answer exposes both headers to browsers": async (harness) => {
    for (const { headers, name } of await kinds(harness)) {
      const exposed = (headers.get("access-control-expose-headers") ?? "").toLowerCase()
      ensure(exposed.includes("ze-harness-version") && exposed.includes("x-request-id"), `${name} exposes: ${exposed}`)
    }
  },
  "streams have these headers too": async (harness) => {
    const headers = await harness.streamHeaders(`${harness.s}/events`)
    ensure(Option.isSome(parseServerVersionHeader(headers.get("ze-harness-version"))), "no ze-harness-version")
    ensure(headers.get("x-request-id") !== null, "no x-request-id")
    ensure((headers.get("access-control-expose-headers") ?? "").toLowerCase().includes("x-request-id"), "not exposed")
  },
  "a well-formed request id is echoed": async (harness) => {
    const answer = await harness.get("/v1/health", { headers: { "x-request-id": "my.request-1_A" } })
    same(answer.headers.get("x-request-id"), "my.request-1_A", "x-request-id")
  },
  "a malformed request id is replaced": async (harness) => {
    for (const sent of ["a b", "x".repeat(129), "ü"]) {
      const answer = await harness.get("/v1/health", {
        headers: { "x-request-id": encodeURI(sent).replaceAll("%20", " ") }
      })
      ensure(/^[A-Za-z0-9._-]{1,128}$/.test(answer.headers.get("x-request-id") ?? ""), `kept ${sent}`)
    }
  },
  "an error carries its request id": async (harness) => {
    const answer = await harness.get("/v1/nothing-here", { headers: { "x-request-id": "named-1" } })
    same(refuses(answer, 404, "NotFoundError", "route.not_found").requestId, "named-1", "requestId")
  },
  "HEAD answers as GET, without a body": async (harness) => {
    const head = await harness.send("HEAD", "/v1/health")
    same([head.status, head.text], [200, ""], "HEAD /v1/health")
    same((await harness.send("HEAD", harness.n("nobody"))).status, 404, "HEAD of a session that is not there")
  },
  "capabilities say what is supported": async (harness) => {
    const capabilities = answers(await harness.get("/v1/capabilities"), 200, CapabilitiesResponse)
    same(capabilities.limits.maxWireBytes, MAX_WIRE_BYTES, "limits.maxWireBytes")
    same([...capabilities.whenBusy].sort(), ["interrupt", "queue", "reject", "steer"], "whenBusy")
    ensure(capabilities.providers.includes("demo"), "the demo provider is not there")
  },
  "the OpenAPI document describes the streams' events": async (harness) => {
    const document = JSON.stringify(answers(await harness.get("/v1/openapi.json"), 200, JsonObject))
    for (const name of ["SessionStreamEvent", "TurnStreamEvent", "ServerStreamEvent"]) {
      ensure(document.includes(`"${name}":`), `${name} is no component`)
    }
  },
  "the daemon's log is a list, oldest first": async (harness) => {
    const { logs } = answers(await harness.get("/v1/logs?limit=500"), 200, DaemonLogResponse)
    const cursors = logs.map((entry) => entry.cursor)
    same(
      cursors,
      [...cursors].sort((a, b) => a - b),
      "cursors"
    )
  },
  "the daemon's log never holds the token": async (harness) => {
    const answer = await harness.get("/v1/logs?limit=500&level=trace")
    answers(answer, 200, DaemonLogResponse)
    ensure(!answer.text.includes(harness.target.token), "it does")
  },
  "metrics are Prometheus text": async (harness) => {
    const answer = await harness.get("/v1/metrics")
    same(answer.status, 200, "status")
    ensure((answer.headers.get("content-type") ?? "").startsWith("text/plain"), "not text/plain")
    for (const line of answer.text.split("\n")) {
      const good = line === "" || line.startsWith("#") || /^[a-zA-Z_:][\w:]*(\{.*\})? \S+( \d+)?$/.test(line)
      ensure(good, `not a metric: ${line}`)
    }
  }
})
