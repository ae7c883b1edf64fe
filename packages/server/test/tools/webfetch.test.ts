import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import { assert, describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Tools } from "../../src/tools/Tools.ts"
import { WebAccess, webAccess } from "../../src/workspace/WebAccess.ts"
import { codeOf, judge, named, over, textOf, use, within } from "./calls.ts"

const serve = (listener: RequestListener, host = "127.0.0.1") =>
  Effect.acquireRelease(
    Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
      const server = createServer(listener)
      server.listen(0, host, () => {
        const close = () => {
          server.close()
          server.closeAllConnections()
        }
        resume(Effect.succeed({ port: (server.address() as AddressInfo).port, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  ).pipe(Effect.map(({ port }) => port))

/** Answers each path with its type and body. */
const pages = (bodies: Readonly<Record<string, readonly [string, string | Uint8Array, number?]>>) =>
  serve((request, response) => {
    const [type, body, status] = bodies[request.url ?? ""] ?? ["text/plain", "no such page", 404]
    response.writeHead(status ?? 200, type === "" ? {} : { "content-type": type })
    response.end(body)
  })

const fetching = over(Layer.provide(Tools.layer, Layer.succeed(WebAccess, webAccess(true))))

describe("webfetch", () => {
  fetching("gives a page as text, with its links", (context) =>
    Effect.gen(function* () {
      const html = `<!doctype html><html><head><title>T</title><style>p{}</style></head><body><h1>One &amp; two</h1>
        <p>See <a href="/other">the <b>other</b></a>.</p><script>evil()</script><!-- no -->
        <ul><li>a</li><li>b</li></ul><table><tr><th>x</th><th>y</th></tr><tr><td>1</td><td>2</td></tr></table></body></html>`
      const port = yield* pages({ "/": ["text/html; charset=utf-8", html] })
      const url = `http://127.0.0.1:${port}/`
      const result = yield* use("webfetch", { url }, context)
      const text = textOf(result)
      assert.isFalse(result.isError)
      assert.include(text, "One & two")
      assert.include(text, `See the other [${url}other].`)
      assert.match(text, / \* a\n \* b/)
      assert.include(text, "x | y\n1 | 2")
      assert.notMatch(text, /evil|p\{\}|<|no -->/)
      assert.deepStrictEqual(result.details, {
        url,
        status: 200,
        contentType: "text/html; charset=utf-8",
        bytes: Buffer.byteLength(html)
      })
      assert.deepInclude(yield* judge("webfetch", { url: `${url}?a=b#part` }, context), {
        permission: "webfetch",
        patterns: [`${url}?a=b`],
        title: `Fetch from 127.0.0.1:${port}`
      })
    }).pipe(Effect.scoped)
  )
  fetching("gives JSON and text as they are, in the encoding they are in", (context) =>
    Effect.gen(function* () {
      const latin = Buffer.from("caf\xe9", "latin1")
      const port = yield* pages({
        "/json": ["application/json", '{"a": "é"}'],
        "/ld": ["application/ld+json", "{}"],
        "/plain": ["text/plain; charset=iso-8859-1", latin],
        "/meta": ["text/html", Buffer.concat([Buffer.from('<meta charset="windows-1252"><p>'), latin])],
        "/none": ["", "some text"],
        "/page": ["", "  <!DOCTYPE html><p>some page"],
        "/odd": ["text/plain; charset=nonsense", "é"],
        "/empty": ["text/plain", ""],
        "/wide": ["text/plain; charset=utf-16le", Buffer.from("wide", "utf16le")]
      })
      const text = (path: string) =>
        Effect.map(use("webfetch", { url: `http://127.0.0.1:${port}/${path}` }, context), textOf)
      assert.strictEqual(yield* text("json"), '{"a": "é"}')
      assert.strictEqual(yield* text("ld"), "{}")
      assert.strictEqual(yield* text("plain"), "café")
      assert.strictEqual(yield* text("meta"), "café")
      assert.strictEqual(yield* text("none"), "some text")
      assert.strictEqual(yield* text("page"), "some page")
      assert.strictEqual(yield* text("odd"), "é")
      assert.strictEqual(yield* text("empty"), "[no text]")
      assert.strictEqual(yield* text("wide"), "wide")
    }).pipe(Effect.scoped)
  )
  fetching("says what is no text, and what the server did not give", (context) =>
    Effect.gen(function* () {
      const port = yield* pages({
        "/png": ["image/png", Buffer.from("89504e47", "hex")],
        "/liar": ["text/plain", Buffer.from([1, 0, 2])],
        "/pdf": ["application/pdf", "%PDF-1.4"],
        "/broken": ["text/html", "<h1>It broke</h1>", 500]
      })
      const get = (path: string) => use("webfetch", { url: `http://127.0.0.1:${port}/${path}` }, context)
      const image = yield* get("png")
      assert.deepInclude(image, { isError: true })
      assert.strictEqual(textOf(image), "This is not text: 4 bytes of image/png.")
      for (const path of ["png", "liar", "pdf"]) assert.strictEqual(codeOf(yield* get(path)), "webfetch.binary")
      const broken = yield* get("broken")
      assert.deepInclude(broken.details, { code: "webfetch.status", status: 500 })
      assert.include(textOf(broken), "It broke")
      assert.deepInclude((yield* get("none")).details, { code: "webfetch.status", status: 404 })
    }).pipe(Effect.scoped)
  )
  fetching("takes 2 MiB of a page, and keeps what the model is not shown", (context) =>
    Effect.gen(function* () {
      const port = yield* serve((_, response) => {
        response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" })
        response.end(gzipSync("a line of text\n".repeat(1_000_000)))
      })
      const result = yield* use("webfetch", { url: `http://127.0.0.1:${port}/` }, context)
      assert.deepInclude(result.details, { bytes: 2_097_152, truncated: true })
      assert.include(textOf(result), "the whole output is in tool-output/")
      assert.include(textOf(result), "cut here: the page is longer than 2097152 bytes")
    }).pipe(Effect.scoped)
  )
  fetching("follows a page that moved within its site, five times at most", (context) =>
    Effect.gen(function* () {
      const port = yield* serve((request, response) => {
        const left = Number((request.url ?? "").slice(1))
        if (left === 0) response.writeHead(200, { "content-type": "text/plain" }).end("here")
        else response.writeHead(left % 2 === 0 ? 301 : 307, { location: `./${left - 1}` }).end()
      })
      const get = (left: number) => use("webfetch", { url: `http://127.0.0.1:${port}/${left}` }, context)
      const moved = yield* get(5)
      assert.strictEqual(textOf(moved), `[from http://127.0.0.1:${port}/0]\n\nhere`)
      assert.strictEqual(codeOf(yield* get(6)), "url.unreachable")
    }).pipe(Effect.scoped)
  )
  fetching("does not follow to another site: that is another thing to be allowed", (context) =>
    Effect.gen(function* () {
      let reached = 0
      const other = yield* serve((_, response) => {
        reached += 1
        response.end("canary")
      })
      const port = yield* serve((_, response) => {
        response.writeHead(302, { location: `http://localhost:${other}/x#y` }).end()
      })
      const result = yield* use("webfetch", { url: `http://127.0.0.1:${port}/` }, context)
      assert.isFalse(result.isError)
      assert.deepInclude(result.details, { redirect: `http://localhost:${other}/x`, status: 302 })
      assert.include(textOf(result), `http://localhost:${other}/x`)
      assert.strictEqual(reached, 0)
    }).pipe(Effect.scoped)
  )
  fetching("does not follow to what is no page", (context) =>
    Effect.gen(function* () {
      const targets: Readonly<Record<string, string>> = {
        "/file": "file:///etc/passwd",
        "/user": "http://u:p@127.0.0.1/",
        "/js": "javascript:alert(1)"
      }
      const port = yield* serve((request, response) => {
        response.writeHead(302, { location: targets[request.url ?? ""] ?? "" }).end()
      })
      for (const path of Object.keys(targets)) {
        const result = yield* use("webfetch", { url: `http://127.0.0.1:${port}${path}` }, context)
        assert.strictEqual(codeOf(result), "url.invalid", path)
      }
    }).pipe(Effect.scoped)
  )

  let reached = 0
  const hosts: Readonly<Record<string, string>> = { "inside.example": "127.0.0.1", "meta.example": "169.254.169.254" }
  const shut = over(
    Layer.provide(
      Tools.layer,
      Layer.succeed(WebAccess, {
        allowPrivateUrls: false,
        lookup: (name) => Promise.resolve([{ address: hosts[name] ?? "::1", family: name in hosts ? 4 : 6 }])
      })
    )
  )
  shut("reaches nothing private, by number or by name", (context) =>
    Effect.gen(function* () {
      const port = yield* serve((_, response) => {
        reached += 1
        response.end("canary")
      })
      for (const host of [
        "127.0.0.1",
        "127.1",
        "[::1]",
        "169.254.169.254",
        "inside.example",
        "meta.example",
        "localhost"
      ]) {
        const result = yield* use("webfetch", { url: `http://${host}:${port}/` }, context)
        assert.strictEqual(codeOf(result), "url.private", host)
        assert.notInclude(textOf(result), "127.0.0.1")
      }
      assert.strictEqual(reached, 0)
    }).pipe(Effect.scoped)
  )
  within("is shut to private addresses unless told otherwise", (context) =>
    Effect.gen(function* () {
      const { tool, tools } = yield* named("webfetch")
      const url = "http://127.0.0.1:1/"
      assert.strictEqual(codeOf(yield* tools.run(tool, { url }, context)), "url.private")
      for (const wrong of ["ftp://a/", "no url", "https://u:p@a.example/"]) {
        assert.strictEqual(codeOf(yield* use("webfetch", { url: wrong }, context)), "url.invalid")
      }
      assert.isTrue(tool.readOnly)
    })
  )
  fetching("is not held up by a page made to be slow to read", (context) =>
    Effect.gen(function* () {
      const port = yield* pages({
        "/deep": ["text/html", "<div>".repeat(300_000)],
        "/wide": ["text/html", "<table><tr><td colspan=999999999 rowspan=999999999>x</td></tr></table>"],
        "/blank": ["text/html", `<pre>${" ".repeat(1_900_000)}x</pre>`],
        "/list": ["text/html", "<ul><li>".repeat(100_000)],
        "/meta": ["text/html", `<meta ${"charset ".repeat(200_000)}`]
      })
      for (const path of ["deep", "wide", "blank", "list", "meta"]) {
        const result = yield* use("webfetch", { url: `http://127.0.0.1:${port}/${path}` }, context)
        assert.isFalse(result.isError, path)
      }
    }).pipe(Effect.scoped)
  )
})
