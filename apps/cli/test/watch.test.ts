import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { jsonLines, nowhere, run, start, startProcess } from "./kit/cli.ts"
import { startServer, type TestServer } from "./kit/server.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.remove())

const program = fileURLToPath(new URL("../dist/main.js", import.meta.url))

describe("watch", () => {
  it("shows what happens on a server in plain lines, from a position on", async () => {
    await run(["prompt", "--session", "seen", 'use list {"path":"."}'], { env: server.env })
    const watching = start(["watch", "--after", "0"], { env: server.env })
    await watching.saw("turn completed")
    watching.child.kill("SIGINT")
    const { code, err, out } = await watching.done
    assert.strictEqual(code, 130)
    assert.strictEqual(err, "")
    const lines = out.trimEnd().split("\n")
    for (const line of lines) assert.match(line, /^\d{4}-\d\d-\d\dT[\d:.]+Z seen \S/)
    const facts = lines.map((line) => line.split(" ").slice(2).join(" "))
    assert.match(facts[0] ?? "", /^session created/)
    const order = ["session created", "turn ", "→ list .", "← list", "list said", "turn completed"]
    let at = 0
    for (const fact of facts) if (fact.startsWith(order[at] ?? "\n")) at++
    assert.strictEqual(at, order.length, out)
  })

  it("shows a session and a turn, which ends with the turn", async () => {
    await run(["prompt", "--session", "one", "hello there"], { env: server.env })
    const { turns } = JSON.parse((await run(["turns", "one", "--json"], { env: server.env })).out)
    const turn = await run(["watch", "--session", "one", "--turn", turns[0].turnId], { env: server.env })
    assert.strictEqual(turn.code, 0)
    assert.include(turn.out, "hello there")
    const session = start(["watch", "-s", "one", "--after", "0", "--json"], { env: server.env })
    await session.saw("session.cursor")
    session.child.kill("SIGTERM")
    const outcome = await session.done
    assert.strictEqual(outcome.code, 143)
    assert.strictEqual(jsonLines(outcome.out)[0]?.["type"], "session.created")
  })

  it("ends without noise when nobody reads on", async () => {
    const script = '("$0" "$1" watch --after 0; echo $? >&2) | head -n 1'
    const cut = startProcess("sh", ["-c", script, process.execPath, program], { env: server.env })
    await cut.saw(/\n/)
    // A reader that is gone is noticed at the next line.
    await run(["prompt", "one more"], { env: server.env })
    const { err, out } = await cut.done
    assert.strictEqual(err, "0\n")
    assert.match(out, /^\S+Z seen session created.*\n$/)
  })

  it("ends with 1 when there is nothing to watch", async () => {
    const unknown = await run(["watch", "--session", "nobody"], { env: server.env })
    assert.strictEqual(unknown.code, 1)
    assert.match(unknown.err, /^harness: there is no session nobody\n/)
    const down = await run(["watch"], { env: { ...server.env, HARNESS_URL: await nowhere() } })
    assert.strictEqual(down.code, 1)
    const ahead = await run(["watch", "--after", "999999", "--json"], { env: server.env })
    assert.strictEqual(ahead.code, 1)
    assert.deepInclude(jsonLines(ahead.out).at(-1)?.["error"], { code: "cursor.ahead" })
  })
})
