import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { run } from "./kit/cli.ts"
import { startServer, type TestServer } from "./kit/server.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.remove())

const json = async (...args: ReadonlyArray<string>) => {
  const { code, err, out } = await run([...args, "--json"], { env: server.env })
  assert.strictEqual(code, 0, err)
  return JSON.parse(out)
}
const plain = async (...args: ReadonlyArray<string>) => (await run(args, { env: server.env })).out

describe("sessions", () => {
  it("are made, named, listed page by page, and deleted", async () => {
    assert.strictEqual((await json("sessions", "create", "a", "--title", "First")).title, "First")
    assert.match((await json("sessions", "create")).sessionId, /^ses_/)
    assert.strictEqual((await json("sessions", "rename", "a", "Renamed")).title, "Renamed")
    const page = await run(["sessions", "--limit", "1"], { env: server.env })
    assert.match(page.out, /^a {2}\S+Z {2}idle {2}demo\/demo {2}\. {2}Renamed\n$/)
    assert.strictEqual(page.err, "there are more: --after a\n")
    assert.match(await plain("sessions", "--after", "a"), /^ses_[^\n]*\n$/)
    assert.match(await plain("sessions", "delete", "a"), /^a was deleted at \S+Z\n$/)
    const gone = await run(["sessions", "get", "a"], { env: server.env })
    assert.strictEqual(gone.code, 1)
  })

  it("of another server are its own", async () => {
    await json("sessions", "create", "x", "--server", "other")
    assert.deepStrictEqual(
      (await json("sessions", "--server", "other")).sessions.map((one: { sessionId: string }) => one.sessionId),
      ["x"]
    )
    assert.strictEqual((await run(["sessions", "get", "x"], { env: server.env })).code, 1)
  })
})

describe("turns, forks and status", () => {
  it("show what was done, and copy it", async () => {
    await plain("prompt", "-s", "work", "one")
    await plain("prompt", "-s", "work", "two")
    const { turns } = await json("turns", "work")
    const [first, second] = turns.map((turn: { turnId: string }) => turn.turnId)
    assert.match(await plain("turns", "work"), / completed {2}one\n.* completed {2}two\n$/)
    assert.match(await plain("turns", "get", "work", first), /\n> one\none\n$/)
    assert.strictEqual((await json("fork", "work", "all")).forkedFrom.sessionId, "work")
    await json("fork", "work", "before", "--before", second)
    assert.strictEqual((await json("turns", "before")).turns.length, 1)
    assert.match(await plain("status", "before"), /^state +idle\n/)
    assert.match(await plain("status"), /^server +http:/)
    assert.strictEqual(await plain("cancel", "work"), "nothing to stop\n")
    assert.strictEqual(await plain("cancel", "work", first), `nothing to stop: ${first} has ended\n`)
    const both = await run(["fork", "work", "--before", first, "--through", second], { env: server.env })
    assert.strictEqual(both.code, 2)
  })
})
