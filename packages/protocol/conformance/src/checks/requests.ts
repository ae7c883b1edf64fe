import { HealthResponse, MAX_WIRE_BYTES, SessionHistoryResponse, SessionResponse } from "@harness/protocol"
import { answers, ensure, refuses, same, section } from "../check.ts"
import type { Harness } from "../harness.ts"
import { onOneConnection } from "../raw.ts"

const json = { "content-type": "application/json" }

const issuePaths = (error: {
  readonly details?: { readonly [key: string]: unknown } | undefined
}): ReadonlyArray<string> => {
  const issues = error.details?.["issues"]
  ensure(Array.isArray(issues), "no details.issues")
  return issues.map((issue) => String(issue?.path))
}

const invalid = async (harness: Harness, path: string, body: unknown, where: string) => {
  const error = refuses(await harness.put(path, body), 400, "ValidationError", "request.invalid")
  ensure(issuePaths(error).includes(where), `issues name ${issuePaths(error).join(", ")}, not ${where}`)
}

const head = (harness: Harness, path: string, more: ReadonlyArray<string>) =>
  [
    `PUT ${path} HTTP/1.1`,
    `host: ${new URL(harness.target.baseUrl).host}`,
    `authorization: Bearer ${harness.target.token}`,
    "content-type: application/json",
    ...more,
    "",
    ""
  ].join("\r\n")

const good = (harness: Harness) =>
  `GET /v1/health HTTP/1.1\r\nhost: ${new URL(harness.target.baseUrl).host}\r\nconnection: close\r\n\r\n`

const tooLarge = async (harness: Harness, request: Buffer) => {
  const [first, second] = await onOneConnection(harness.target.baseUrl, [request, good(harness)])
  same(first?.status, 413, "status")
  ensure(first?.body.includes('"request.too_large"') === true, `body: ${first?.body}`)
  same(second?.status, 200, "the next request on the same connection")
}

const large = Buffer.from(JSON.stringify({ content: "x".repeat(2 * MAX_WIRE_BYTES) }))

/** §1: what a request has to look like. */
export const requestChecks = section("requests", {
  "malformed JSON is a 400": async (harness) => {
    for (const text of ["{", "{]", "nope", '{"a":}']) {
      const answer = await harness.send("PUT", harness.n(harness.fresh("s")), { text, headers: json })
      refuses(answer, 400, "ValidationError", "request.malformed")
    }
  },
  "the next good request works": async (harness) => {
    await harness.send("PUT", harness.n(harness.fresh("s")), { text: "{", headers: json })
    answers(await harness.get("/v1/health"), 200, HealthResponse)
  },
  "another content type is a 415, and nothing runs": async (harness) => {
    const path = harness.n(harness.fresh("s"))
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"]) {
      const answer = await harness.send("PUT", path, { text: "{}", headers: { "content-type": type } })
      refuses(answer, 415, "ValidationError", "request.content_type")
    }
    refuses(await harness.get(path), 404, "NotFoundError", "session.not_found")
  },
  "a charset of utf-8 is fine": async (harness) => {
    const headers = { "content-type": "application/json; charset=utf-8" }
    answers(await harness.send("PUT", harness.n(harness.fresh("s")), { text: "{}", headers }), 201, SessionResponse)
  },
  "a body whose fields are all optional may be absent, with no content type": async (harness) => {
    answers(await harness.send("PUT", harness.n(harness.fresh("s"))), 201, SessionResponse)
  },
  "a body over 1 MiB is a 413, and the connection stays usable": async (harness) => {
    const path = harness.t(await harness.session(), "t1")
    await tooLarge(
      harness,
      Buffer.concat([Buffer.from(head(harness, path, [`content-length: ${large.length}`])), large])
    )
  },
  "so is one sent in chunks": async (harness) => {
    const path = harness.t(await harness.session(), "t1")
    const chunk = Buffer.concat([Buffer.from(`${large.length.toString(16)}\r\n`), large, Buffer.from("\r\n0\r\n\r\n")])
    await tooLarge(harness, Buffer.concat([Buffer.from(head(harness, path, ["transfer-encoding: chunked"])), chunk]))
  },
  "a wrong type is a 400 that names the place": async (harness) => {
    await invalid(harness, harness.n(harness.fresh("s")), { title: 5 }, "title")
    await invalid(
      harness,
      harness.t(await harness.session(), "t1"),
      { content: [{ type: "text", text: 5 }] },
      "content.0.text"
    )
    await invalid(harness, harness.t(await harness.session(), "t1"), {}, "content")
  },
  "an unknown field is refused, deep inside too": async (harness) => {
    await invalid(harness, harness.n(harness.fresh("s")), { titel: "x" }, "titel")
    const path = harness.t(await harness.session(), "t1")
    await invalid(harness, path, { content: "hi", options: { maxStep: 3 } }, "options.maxStep")
    await invalid(harness, path, { content: "hi", session: { titel: "x" } }, "session.titel")
  },
  "an unknown query key is refused": async (harness) => {
    const session = await harness.session()
    const paths = [
      `${harness.s}/sessions?limits=3`,
      `${harness.n(session)}?x=1`,
      `${harness.n(session)}/turns?cursor=1`,
      `${harness.n(session)}/events?after=1`,
      `${harness.s}/events?afterCursor=1`,
      "/v1/capabilities?x="
    ]
    for (const path of paths) refuses(await harness.get(path), 400, "ValidationError", "request.invalid")
  },
  "a number in a query is plain digits within its bounds": async (harness) => {
    for (const limit of ["0", "501", "-1", "1e2", "0x5", "%205", "%2B1", "1.0", "ten", ""]) {
      refuses(await harness.get(`${harness.s}/sessions?limit=${limit}`), 400, "ValidationError", "request.invalid")
    }
  },
  "blank content is a 400": async (harness) => {
    const path = harness.t(await harness.session(), "t1")
    for (const content of ["", " \n\t", [], [{ type: "text", text: " " }]])
      await invalid(harness, path, { content }, "content")
  },
  "a refusal never quotes what it refuses": async (harness) => {
    const canary = "sk-canary-59d1"
    const session = await harness.session()
    const answered = [
      await harness.put(harness.n(harness.fresh("s")), { title: { key: canary } }),
      await harness.put(harness.t(session, "t1"), { content: [{ type: canary }] }),
      await harness.put(harness.t(session, "t1"), { content: "hi", whenBusy: canary }),
      await harness.send("PUT", harness.n(harness.fresh("s")), { text: `{"a": ${canary}`, headers: json }),
      await harness.get(`${harness.s}/sessions?limit=${canary}`)
    ]
    for (const answer of answered) {
      refuses(answer, 400, "ValidationError")
      ensure(!answer.text.includes(canary), `${answer.name} says: ${answer.text}`)
    }
  },
  "an id outside the rule is a 400": async (harness) => {
    for (const id of ["-a", ".a", "a%20b", "a%2Fb", "a%00", "%C3%BC", "a".repeat(129)]) {
      refuses(await harness.put(harness.n(id), {}), 400, "ValidationError", "request.invalid")
    }
    for (const server of ["Main", "a_b", "-a", "a".repeat(64)]) {
      refuses(await harness.get(`/v1/servers/${server}/sessions`), 400, "ValidationError", "request.invalid")
    }
  },
  "ids of 128 characters are good, and compared byte for byte": async (harness) => {
    const long = harness.fresh("S").padEnd(128, "x")
    answers(await harness.put(harness.n(long), {}), 201, SessionResponse)
    answers(await harness.put(harness.n(long.toLowerCase()), {}), 201, SessionResponse)
  },
  "an unknown route is a 404": async (harness) => {
    for (const path of [
      "/v1/nothing-here",
      `${harness.s}/nothing`,
      `${harness.n("x")}/nothing`,
      `${harness.s}/sessions/`
    ]) {
      refuses(await harness.get(path), 404, "NotFoundError", "route.not_found")
    }
  },
  "a bad percent sequence is an error with a body": async (harness) => {
    const answer = await harness.get("/v1/servers/%zz/sessions")
    refuses(answer, answer.status === 404 ? 404 : 400, answer.status === 404 ? "NotFoundError" : "ValidationError")
  },
  "a wrong method is a 405 that names the right ones": async (harness) => {
    const answer = await harness.send("DELETE", `${harness.s}/sessions`)
    refuses(answer, 405, "ValidationError", "method.not_allowed")
    ensure((answer.headers.get("allow") ?? "").includes("GET"), `Allow: ${answer.headers.get("allow")}`)
    const post = await harness.post(harness.n("x"))
    refuses(post, 405, "ValidationError", "method.not_allowed")
    for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
      ensure((post.headers.get("allow") ?? "").includes(method), `Allow: ${post.headers.get("allow")}`)
    }
  },
  "a lone surrogate becomes U+FFFD": async (harness) => {
    const session = await harness.session()
    const text = '{"role":"user","content":"a\\ud83d b\\udc00","custom":{"type":"x","display":"\\ud800"}}'
    await harness.send("PUT", `${harness.n(session)}/conversation/e1`, { text, headers: json })
    const { entries } = answers(await harness.get(`${harness.n(session)}/history`), 200, SessionHistoryResponse)
    same(entries[0]?.content, [{ type: "text", text: "a\uFFFD b\uFFFD" }], "content")
  },
  "text is kept byte for byte": async (harness) => {
    const session = await harness.session()
    const text = "  e\u0301\u00e9 日本語 🌍\u200d \r\n\ttab \\n \u0000 end "
    await harness.put(`${harness.n(session)}/conversation/e1`, { role: "user", content: text })
    const { entries } = answers(await harness.get(`${harness.n(session)}/history`), 200, SessionHistoryResponse)
    same(entries[0]?.content, [{ type: "text", text }], "content")
  }
})
