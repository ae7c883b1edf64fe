import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { createServer as createTcp } from "node:net"
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Fiber, FastCheck as fc } from "effect"
import { guardedLookup, isPublicAddress, readUrl } from "../../src/workspace/addresses.ts"
import { makeRequest } from "../../src/workspace/request.ts"
import { type Lookup, webAccess } from "../../src/workspace/WebAccess.ts"

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

const named =
  (addresses: Readonly<Record<string, ReadonlyArray<string>>>): Lookup =>
  (hostname) =>
    Promise.resolve(
      (addresses[hostname] ?? []).map((address) => ({
        address,
        family: address.includes(":") ? (6 as const) : (4 as const)
      }))
    )

describe("an address", () => {
  const inside = [
    ..."0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1".split(
      " "
    ),
    ..."172.31.255.255 192.168.0.1 192.0.0.192 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1".split(" "),
    ..."239.255.255.250 240.0.0.1 255.255.255.255 168.63.129.16".split(" "),
    ...":: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::7f00:1 fe80::1 fec0::1 fc00::1 fd00:ec2::254 ff02::1".split(" "),
    ..."64:ff9b::7f00:1 64:ff9b:1::1 2001::1 2001:db8::1 2002:7f00:1::1 100::1 5f00::1 1::1 fe80::1%eth0".split(" ")
  ]
  for (const address of inside) {
    it(`${address} is not public`, () => assert.isFalse(isPublicAddress(address)))
  }
  for (const address of [
    "8.8.8.8",
    "1.1.1.1",
    "93.184.216.34",
    "172.32.0.1",
    "100.128.0.1",
    "2606:4700::1",
    "2a00:1450::1"
  ]) {
    it(`${address} is public`, () => assert.isTrue(isPublicAddress(address)))
  }
  it("that is none is not public", () => {
    for (const text of ["", "localhost", "127.1", "0x7f000001", "2130706433", "::ffff:1", "8.8.8.8.8"]) {
      assert.isFalse(isPublicAddress(text), text)
    }
  })
  it("of IPv4 is public exactly outside the ranges set aside", () => {
    const octet = fc.integer({ min: 0, max: 255 })
    fc.assert(
      fc.property(octet, octet, octet, octet, (a, b, c, d) => {
        const aside =
          a === 0 ||
          a === 10 ||
          a === 127 ||
          a >= 224 ||
          (a === 100 && b >= 64 && b < 128) ||
          (a === 169 && b === 254) ||
          (a === 172 && b >= 16 && b < 32) ||
          (a === 192 && b === 168) ||
          (a === 192 && b === 0 && (c === 0 || c === 2)) ||
          (a === 198 && (b === 18 || b === 19)) ||
          (a === 198 && b === 51 && c === 100) ||
          (a === 203 && b === 0 && c === 113) ||
          (a === 192 && b === 88 && c === 99) ||
          (a === 192 && b === 31 && c === 196) ||
          (a === 192 && b === 175 && c === 48) ||
          (a === 192 && b === 52 && c === 193)
        assert.strictEqual(isPublicAddress(`${a}.${b}.${c}.${d}`), !aside)
        assert.isFalse(isPublicAddress(`::ffff:${a}.${b}.${c}.${d}`))
      }),
      { numRuns: 5_000 }
    )
  })
})

describe("a URL", () => {
  it("is http or https, whole, without credentials and fragment", () => {
    const code = (text: string) =>
      Either.match(readUrl(text, false), { onLeft: ({ code }) => code, onRight: ({ href }) => href })
    assert.strictEqual(code("HTTPS://Example.com:443/a%20b?c=d#e"), "https://example.com/a%20b?c=d")
    for (const text of [
      "",
      "example.com",
      "/a",
      "ftp://example.com",
      "file:///etc/passwd",
      "data:text/plain,x",
      "javascript:1"
    ]) {
      assert.strictEqual(code(text), "url.invalid", text)
    }
    for (const text of [
      "http://u@example.com",
      "http://u:p@example.com",
      "http://:p@example.com",
      `http://a/${"x".repeat(9_000)}`
    ]) {
      assert.strictEqual(code(text), "url.invalid", text)
    }
  })
  it("that spells a private address in any way is refused", () => {
    const hosts = [
      "127.0.0.1",
      "127.1",
      "0x7f.1",
      "2130706433",
      "017700000001",
      "0",
      "[::1]",
      "[::ffff:7f00:1]",
      "[0:0:0:0:0:0:0:1]",
      "169.254.169.254",
      "127.0.0.1.",
      "①②⑦.⓪.⓪.①"
    ]
    for (const host of hosts) {
      const refused = readUrl(`http://${host}:80/x`, false)
      assert.deepInclude(Either.getOrThrow(Either.flip(refused)), { code: "url.private" }, host)
      assert.isTrue(Either.isRight(readUrl(`http://${host}/x`, true)), host)
    }
  })
})

describe("a lookup", () => {
  const ask = (lookup: Lookup, allowPrivate: boolean, options: { all?: boolean; family?: 4 | 6 }) =>
    Effect.async<unknown, Error>((resume) => {
      guardedLookup(lookup, allowPrivate)("x.example", options, (error, address, family) =>
        resume(
          error === null ? Effect.succeed(family === undefined ? address : { address, family }) : Effect.fail(error)
        )
      )
    })
  it.live("gives what was looked at, and nothing when one address is not public", () =>
    Effect.gen(function* () {
      const both = named({ "x.example": ["8.8.8.8", "2606:4700::1"] })
      assert.deepStrictEqual(yield* ask(both, false, {}), { address: "8.8.8.8", family: 4 })
      assert.deepStrictEqual(yield* ask(both, false, { family: 6 }), { address: "2606:4700::1", family: 6 })
      assert.lengthOf((yield* ask(both, false, { all: true })) as ReadonlyArray<unknown>, 2)
      const mixed = named({ "x.example": ["8.8.8.8", "10.0.0.1"] })
      yield* Effect.flip(ask(mixed, false, { all: true }))
      yield* Effect.flip(ask(mixed, false, { family: 6 }))
      assert.lengthOf((yield* ask(mixed, true, { all: true })) as ReadonlyArray<unknown>, 2)
      yield* Effect.flip(ask(named({}), false, {}))
      yield* Effect.flip(ask(() => Promise.reject(new Error("ENOTFOUND")), false, {}))
    })
  )
})

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
