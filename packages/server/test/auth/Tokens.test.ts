import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ServerName } from "@harness/protocol"
import { Clock, Context, Effect, Layer, Option, Redacted, TestClock } from "effect"
import { fileTokens, Tokens } from "../../src/auth/Tokens.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "harness-tokens-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** A store of its own over the same files, as another process has it. */
const store = (data: string) =>
  Effect.map(Layer.build(Tokens.layerFile({ data })), (built) => Context.get(built, Tokens))
const serving = (data: string, token?: string) =>
  Effect.map(
    Layer.build(Tokens.layer({ data, token: token === undefined ? undefined : Redacted.make(token) })),
    (built) => Context.get(built, Tokens)
  )

const modeOf = (path: string) => statSync(path).mode & 0o777
const guest = { actor: "guest", scopes: ["read"] } as const

describe("the token file", () => {
  it.scoped("holds hashes, never a token, and only its owner may read it", () =>
    Effect.gen(function* () {
      const data = join(yield* folder, "deep", "data")
      const tokens = yield* store(data)
      const { token, tokenId } = yield* tokens.add({
        actor: "Ann Example",
        scopes: ["read", "write"],
        servers: [ServerName.make("a")]
      })
      const plain = Redacted.value(token)
      assert.match(plain, /^hrn_[A-Za-z0-9_-]{43}$/)
      assert.notInclude(String(token), plain)
      assert.notInclude(readFileSync(join(data, "tokens.json"), "utf8"), plain)
      assert.strictEqual(modeOf(join(data, "tokens.json")), 0o600)
      assert.strictEqual(modeOf(data), 0o700)
      assert.deepEqual(readdirSync(data), ["tokens.json"])
      const [listed] = yield* tokens.list
      assert.deepInclude(listed, {
        tokenId,
        actor: "Ann Example",
        scopes: ["read", "write"],
        servers: [ServerName.make("a")]
      })
      assert.notProperty(listed, "hash")
    })
  )

  it.scoped("is found, and only by the whole token", () =>
    Effect.gen(function* () {
      const tokens = yield* store(yield* folder)
      const plain = Redacted.value((yield* tokens.add(guest)).token)
      assert.deepEqual(yield* tokens.find(plain), Option.some({ actorId: "guest", scopes: ["read"] }))
      for (const wrong of ["", plain.slice(0, -1), `${plain}x`, ` ${plain}`, plain.toUpperCase()]) {
        assert.isTrue(Option.isNone(yield* tokens.find(wrong)))
      }
    })
  )

  it.scoped("what another process adds or revokes counts within a second", () =>
    Effect.gen(function* () {
      const data = yield* folder
      const server = yield* store(data)
      const cli = yield* store(data)
      assert.isTrue(Option.isNone(yield* server.find("hrn_any")))
      const { token, tokenId } = yield* cli.add(guest)
      yield* TestClock.adjust("1 second")
      assert.isTrue(Option.isSome(yield* server.find(Redacted.value(token))))
      assert.isTrue(yield* cli.revoke(tokenId))
      assert.isFalse(yield* cli.revoke(tokenId))
      yield* TestClock.adjust("1 second")
      assert.isTrue(Option.isNone(yield* server.find(Redacted.value(token))))
      yield* cli.add(guest)
      rmSync(join(data, "tokens.json"))
      yield* TestClock.adjust("1 second")
      assert.deepEqual(yield* server.list, [])
    })
  )

  it.scopedLive("loses none of the tokens that many processes add and revoke at once", () =>
    Effect.gen(function* () {
      const data = yield* folder
      const stores = yield* Effect.all(Array.from({ length: 8 }, () => store(data)))
      const added = yield* Effect.forEach(stores, (tokens) => Effect.all([tokens.add(guest), tokens.add(guest)]), {
        concurrency: "unbounded"
      })
      assert.lengthOf(yield* fileTokens(data), 16)
      yield* Effect.forEach(stores, (tokens, index) => tokens.revoke(added[index]?.[0].tokenId ?? ""), {
        concurrency: "unbounded"
      })
      const left = yield* fileTokens(data)
      assert.sameMembers(
        left.map(({ tokenId }) => tokenId),
        added.map(([, { tokenId }]) => tokenId)
      )
      assert.deepEqual(readdirSync(data), ["tokens.json"])
    })
  )

  it.scopedLive("is not held for ever by a process that died", () =>
    Effect.gen(function* () {
      const data = yield* folder
      const lock = join(data, "tokens.json.lock")
      writeFileSync(lock, "")
      const longAgo = (yield* Clock.currentTimeMillis) / 1000 - 60
      utimesSync(lock, longAgo, longAgo)
      yield* (yield* store(data)).add(guest)
      assert.lengthOf(yield* fileTokens(data), 1)
    })
  )

  for (const [what, text] of [
    ["no JSON", "{"],
    ["something else", '{"version":2,"tokens":[]}'],
    [
      "a token without scopes",
      '{"version":1,"tokens":[{"tokenId":"t","actor":"a","scopes":[],"hash":"0","createdAt":""}]}'
    ]
  ] as const) {
    it.scoped(`that is ${what} stops the start, and is not quoted`, () =>
      Effect.gen(function* () {
        const data = yield* folder
        writeFileSync(join(data, "tokens.json"), text)
        const error = yield* Effect.flip(store(data))
        assert.deepInclude(error, { _tag: "TokensError", reason: "is not a token file" })
        assert.strictEqual(error.message, `${join(data, "tokens.json")}: is not a token file`)
      })
    )
  }

  it.scoped("that breaks while the server runs takes nobody's access, and gives none", () =>
    Effect.gen(function* () {
      const data = yield* folder
      const tokens = yield* store(data)
      const { token } = yield* tokens.add(guest)
      writeFileSync(join(data, "tokens.json"), "{")
      yield* TestClock.adjust("1 second")
      assert.isTrue(Option.isSome(yield* tokens.find(Redacted.value(token))))
      assert.isTrue(Option.isNone(yield* tokens.find("hrn_other")))
    })
  )

  it.scoped("takes no name that would break a line", () =>
    Effect.gen(function* () {
      const tokens = yield* store(yield* folder)
      for (const actor of ["", "a\nb", "x".repeat(129), "\u0007"]) {
        assert.strictEqual((yield* Effect.flip(tokens.add({ ...guest, actor })))._tag, "TokensError")
      }
    })
  )
})

describe("the admin's token", () => {
  it.scoped("is made once, for its owner alone, and stays", () =>
    Effect.gen(function* () {
      const data = join(yield* folder, "data")
      yield* serving(data)
      const path = join(data, "token")
      const text = readFileSync(path, "utf8")
      assert.match(text, /^hrn_[A-Za-z0-9_-]{43}\n$/)
      assert.strictEqual(modeOf(path), 0o600)
      assert.deepEqual(readdirSync(data), ["token"])
      const again = yield* serving(data)
      assert.strictEqual(readFileSync(path, "utf8"), text)
      assert.deepEqual(yield* again.find(text.trim()), Option.some({ actorId: "admin", scopes: ["admin"] }))
      assert.deepEqual(yield* again.list, [])
    })
  )

  it.scoped("is one token for all who start at the same moment", () =>
    Effect.gen(function* () {
      const data = yield* folder
      const servers = yield* Effect.all(
        Array.from({ length: 8 }, () => serving(data)),
        { concurrency: "unbounded" }
      )
      const token = readFileSync(join(data, "token"), "utf8").trim()
      for (const server of servers) assert.isTrue(Option.isSome(yield* server.find(token)))
    })
  )

  it.scoped("of a file somebody could read is closed to others, and an empty file is filled", () =>
    Effect.gen(function* () {
      const data = yield* folder
      const path = join(data, "token")
      writeFileSync(path, "my-own-token\n", { mode: 0o644 })
      const tokens = yield* serving(data)
      assert.isTrue(Option.isSome(yield* tokens.find("my-own-token")))
      assert.strictEqual(modeOf(path), 0o600)
      const other = join(data, "other")
      mkdirSync(other)
      writeFileSync(join(other, "token"), "")
      yield* serving(other)
      assert.match(readFileSync(join(other, "token"), "utf8"), /^hrn_/)
    })
  )

  it.scoped("of the environment is an admin's too", () =>
    Effect.gen(function* () {
      const tokens = yield* serving(yield* folder, "chosen")
      assert.deepEqual(yield* tokens.find("chosen"), Option.some({ actorId: "admin", scopes: ["admin"] }))
      assert.isTrue(Option.isNone(yield* tokens.find("chosen2")))
    })
  )
})
