import { chmodSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { run, temporaryFolder } from "./kit/cli.ts"
import { startServer, type TestServer } from "./kit/server.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.remove())

describe("token", () => {
  it("makes one that a running server knows, shows it once, and takes it back", async () => {
    const { env } = server
    const added = await run(["token", "add", "ci", "--scopes", "read", "--servers", "build,default"], { env })
    assert.strictEqual(added.code, 0)
    assert.match(added.out, /^hrn_\S+\n$/)
    assert.match(added.err, /^tok_\S+ for ci may read on build,default; it is not shown again\n$/)
    const token = added.out.trim()
    const file = join(server.data, "tokens.json")
    assert.notInclude(readFileSync(file, "utf8"), token)
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)

    const url = ["--url", server.url, "--token", token]
    assert.strictEqual((await run(["sessions", ...url])).code, 0)
    const write = await run(["prompt", "hello", ...url])
    assert.strictEqual(write.code, 1)
    assert.match(write.err, /^harness: .+\n$/)

    const own = await run(["token", "add", "alice", "--json"], { env })
    const made: { readonly scopes: unknown; readonly tokenId: string } = JSON.parse(own.out)
    assert.deepStrictEqual(made.scopes, ["read", "write", "approve"])
    await run(["token", "revoke", made.tokenId], { env })

    const listed = await run(["token", "list"], { env })
    assert.match(listed.out, /^tok_\S+ {2}ci {2}read {2}build,default {2}\S+Z\n$/)
    const [id = ""] = listed.out.split(" ")
    assert.strictEqual((await run(["token", "revoke", id], { env })).out, `${id} is revoked\n`)
    assert.strictEqual((await run(["token", "list"], { env })).out, "")
    const again = await run(["token", "revoke", id], { env })
    assert.deepStrictEqual([again.code, again.err.split("\n")[0]], [1, `harness: there is no token ${id}`])
  })
})

describe("doctor", () => {
  it("says of a good server that all is well, and that only the demo model answers", async () => {
    const { code, err, out } = await run(["doctor"], { env: server.env })
    assert.strictEqual(code, 0, err)
    const expected = { node: "ok", "data folder": "ok", "token file": "ok", server: "ok", protocol: "ok" }
    for (const [name, result] of Object.entries(expected)) assert.match(out, new RegExp(`^${result} +${name} `, "m"))
    assert.match(out, /^ok +token +accepted$/m)
    assert.match(out, /^warn +providers +none/m)
  })

  it("ends with 1 when something would fail, and names it", async () => {
    const folder = temporaryFolder()
    const { code, err, out } = await run(["doctor", "--json"], {
      env: { HARNESS_DATA: folder.path, HARNESS_URL: server.url }
    })
    folder.remove()
    assert.strictEqual(code, 1)
    assert.strictEqual(err, "harness: not in order: token\n")
    const [first, last] = out.trimEnd().split("\n")
    const checks: ReadonlyArray<{ readonly name: string; readonly result: string }> = JSON.parse(first ?? "").checks
    assert.deepStrictEqual(
      checks.map(({ name, result }) => `${name} ${result}`),
      ["node ok", "data folder ok", "token file warn", "server ok", "protocol ok", "token fail"]
    )
    assert.deepStrictEqual(JSON.parse(last ?? "").error.failed, ["token"])
  })

  it("minds a token file that others can read", async () => {
    const file = join(server.data, "token")
    chmodSync(file, 0o644)
    const { code, out } = await run(["doctor"], { env: server.env })
    chmodSync(file, 0o600)
    assert.strictEqual(code, 1)
    assert.match(out, /^fail +token file .* chmod 600 /m)
  })
})
