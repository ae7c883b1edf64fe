import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { createServer as createTcp } from "node:net"
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { makeRequest } from "../../src/workspace/request.ts"
import { webAccess } from "../../src/workspace/WebAccess.ts"
import { named } from "./names.ts"

const limits = { timeoutMillis: 20_000, maxBytes: 1_000_000 }

/** A server on this machine; its port. */
const serve = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
      const server = createServer(listener)
      server.listen(0, "127.0.0.1", () => {
        const close = () => {
          server.close()
          server.closeAllConnections()
        }
        resume(Effect.succeed({ port: (server.address() as AddressInfo).port, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  ).pipe(Effect.map(({ port }) => port))

const open = makeRequest(webAccess(true))
const shut = makeRequest(webAccess(false))

describe("a request", () => {
  it.scopedLive("never reaches a private address, by number or by name", () =>
    Effect.gen(function* () {
      let reached = 0
      const port = yield* serve((_, response) => {
        reached += 1
        response.end("canary")
      })
      const lookup = named({
        "inside.example": ["127.0.0.1"],
        "six.example": ["::ffff:127.0.0.1"],
        "two.example": ["8.8.8.8", "127.0.0.1"]
      })
      const request = makeRequest({ allowPrivateUrls: false, lookup })
      for (const host of ["127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]"]) {
        assert.deepInclude(yield* Effect.flip(shut(`http://${host}:${port}/`, limits)), { code: "url.private" }, host)
      }
      for (const host of ["inside.example", "six.example", "two.example"]) {
        assert.deepInclude(
          yield* Effect.flip(request(`http://${host}:${port}/`, limits)),
          { code: "url.private" },
          host
        )
      }
      assert.strictEqual(reached, 0)
    })
  )
  it.scopedLive("goes where the name led when it was looked at, however the name changes", () =>
    Effect.gen(function* () {
      const port = yield* serve((_, response) => response.end("inside"))
      // One look per connection: what is connected to is what was judged.
      let looks = 0
      const once = makeRequest({
        allowPrivateUrls: true,
        lookup: () => {
          looks += 1
          return looks === 1
            ? Promise.resolve([{ address: "127.0.0.1", family: 4 }])
            : Promise.reject(new Error("moved"))
        }
      })
      const answer = yield* once(`http://rebind.example:${port}/`, limits)
      assert.strictEqual(Buffer.from(answer.body).toString(), "inside")
      assert.strictEqual(looks, 1)
    })
  )
  it.scopedLive("gives the answer as it is, and follows no redirect", () =>
    Effect.gen(function* () {
      const port = yield* serve((request, response) => {
        let body = ""
        request.on("data", (chunk: Buffer) => {
          body += chunk.toString()
        })
        request.on("end", () => {
          response.writeHead(302, { location: "/elsewhere", "x-a": "b", "set-cookie": ["a=1", "b=2"] })
          response.end(`${request.method} ${request.url} ${request.headers["x-sent"]} ${body}`)
        })
      })
      const url = `http://localhost:${port}/p?q`
      const answer = yield* open(url, { ...limits, method: "POST", headers: { "x-sent": "yes" }, body: "hello" })
      assert.deepInclude(answer, { url, status: 302, truncated: false })
      assert.deepInclude(answer.headers, { location: "/elsewhere", "x-a": "b", "set-cookie": "a=1, b=2" })
      assert.strictEqual(Buffer.from(answer.body).toString(), "POST /p?q yes hello")
    })
  )
  it.scopedLive("unpacks, within its bound", () =>
    Effect.gen(function* () {
      const text = "x".repeat(100_000)
      const packed = { gzip: gzipSync(text), deflate: deflateSync(text), br: brotliCompressSync(text) }
      const port = yield* serve((request, response) => {
        const [, kind = "", more] = (request.url ?? "").split("/")
        const body =
          more === "bomb"
            ? gzipSync(Buffer.alloc(200_000_000))
            : Object.entries(packed).find(([name]) => name === kind)?.[1]
        response.writeHead(200, { "content-encoding": kind })
        response.end(more === "empty" ? "" : body)
      })
      for (const kind of ["gzip", "deflate", "br"]) {
        const answer = yield* open(`http://127.0.0.1:${port}/${kind}`, limits)
        assert.strictEqual(Buffer.from(answer.body).toString(), text)
        assert.isFalse(answer.truncated)
        const empty = yield* open(`http://127.0.0.1:${port}/${kind}/empty`, limits)
        assert.lengthOf(empty.body, 0)
      }
      const bomb = yield* open(`http://127.0.0.1:${port}/gzip/bomb`, limits)
      assert.isTrue(bomb.truncated)
      assert.lengthOf(bomb.body, limits.maxBytes)
    })
  )
  it.scopedLive("takes no more than asked for of an endless answer", () =>
    Effect.gen(function* () {
      const closed = yield* Deferred.make<void>()
      const port = yield* serve((_, response) => {
        const chunk = Buffer.alloc(65_536, "a")
        const more = () => {
          while (response.write(chunk)) {}
        }
        response.on("drain", more)
        response.on("close", () => Deferred.unsafeDone(closed, Effect.void))
        more()
      })
      const answer = yield* open(`http://127.0.0.1:${port}/`, limits)
      assert.isTrue(answer.truncated)
      assert.lengthOf(answer.body, limits.maxBytes)
      yield* Deferred.await(closed)
    })
  )
  it.scopedLive("ends in time, and lets go of the connection when it is interrupted", () =>
    Effect.gen(function* () {
      const closed = yield* Deferred.make<void>()
      const asked = yield* Deferred.make<void>()
      const port = yield* serve((request, response) => {
        response.write("begun")
        if (request.url === "/interrupt") Deferred.unsafeDone(asked, Effect.void)
        if (request.url === "/interrupt") response.on("close", () => Deferred.unsafeDone(closed, Effect.void))
      })
      const late = yield* Effect.flip(open(`http://127.0.0.1:${port}/`, { ...limits, timeoutMillis: 100 }))
      assert.strictEqual(late.code, "url.timeout")
      const fiber = yield* Effect.fork(open(`http://127.0.0.1:${port}/interrupt`, limits))
      yield* Deferred.await(asked)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(closed)
    })
  )
  it.scopedLive("that comes to nothing says how", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.scoped(serve((_, response) => response.end()))
      assert.strictEqual((yield* Effect.flip(open(`http://127.0.0.1:${gone}/`, limits))).code, "url.unreachable")
      const port = yield* serve((request, response) => {
        if (request.url === "/length") response.writeHead(200, { "content-length": "100" })
        if (request.url === "/gzip") response.writeHead(200, { "content-encoding": "gzip" })
        response.write("not all of it")
        setImmediate(() => (request.url === "/gzip" ? response.end() : response.destroy()))
      })
      for (const path of ["length", "chunked", "gzip"]) {
        assert.strictEqual(
          (yield* Effect.flip(open(`http://127.0.0.1:${port}/${path}`, limits))).code,
          "url.broken",
          path
        )
      }
      const bad = yield* Effect.flip(open(`http://127.0.0.1:${port}/`, { ...limits, headers: { "x-a": "b\r\nc: d" } }))
      assert.strictEqual(bad.code, "url.invalid")
      const nameless = makeRequest({ allowPrivateUrls: false, lookup: named({}) })
      assert.strictEqual((yield* Effect.flip(nameless("http://none.example/", limits))).code, "url.unreachable")
    })
  )
  it.scopedLive("is not fooled by what is no HTTP", () =>
    Effect.gen(function* () {
      const port = yield* Effect.acquireRelease(
        Effect.async<readonly [number, () => void]>((resume) => {
          const server = createTcp((socket) => {
            socket.on("error", () => {})
            socket.end("SSH-2.0-x\r\n")
          })
          server.listen(0, "127.0.0.1", () =>
            resume(Effect.succeed([(server.address() as AddressInfo).port, () => server.close()]))
          )
        }),
        ([, close]) => Effect.sync(close)
      ).pipe(Effect.map(([port]) => port))
      assert.strictEqual((yield* Effect.flip(open(`http://127.0.0.1:${port}/`, limits))).code, "url.unreachable")
    })
  )
})
