import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, FastCheck as fc } from "effect"
import { guardedLookup, isPublicAddress, readUrl } from "../../src/workspace/addresses.ts"
import type { Lookup } from "../../src/workspace/WebAccess.ts"
import { named } from "./names.ts"

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
