import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { jsonLines, nowhere, run, start } from "./kit/cli.ts"
import { startServer, type TestServer } from "./kit/server.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.remove())

const statusOf = async (session: string) =>
  JSON.parse((await run(["status", session, "--json"], { env: server.env })).out)
const lastTurnOf = async (session: string) =>
  JSON.parse((await run(["turns", session, "--json"], { env: server.env })).out).turns.at(-1)

describe("a prompt", () => {
  it("is answered on standard output, and ends with 0", async () => {
    const outcome = await run(["prompt", "hello", "world"], { env: server.env })
    assert.deepStrictEqual(outcome, { code: 0, signal: null, out: "hello world\n", err: "" })
  })

  it("comes from standard input when none is given, or for -", async () => {
    const text = "line one\nline two: 日本語🌍é"
    for (const args of [["prompt"], ["prompt", "-"]]) {
      const { code, out } = await run(args, { env: server.env, stdin: text })
      assert.strictEqual(code, 0)
      assert.strictEqual(out, `${text}\n`)
    }
  })

  it("goes on with a session, which is made if it is missing", async () => {
    await run(["prompt", "--session", "talk", "--title", "A talk", "one"], { env: server.env })
    await run(["prompt", "--session", "talk", "--title", "Another", "two"], { env: server.env })
    const session = JSON.parse((await run(["sessions", "get", "talk", "--json"], { env: server.env })).out)
    assert.strictEqual(session.title, "A talk")
    assert.strictEqual((await statusOf("talk")).turnCount, 2)
  })

  it("shows tools and thoughts beside the answer, or with --quiet not at all", async () => {
    const tool = await run(["prompt", 'use list {"path":"."}'], { env: server.env })
    assert.strictEqual(tool.code, 0)
    assert.match(tool.err, /^→ list \.\n← list .*\n$/)
    const thought = await run(["prompt", "think", "well"], { env: server.env })
    assert.strictEqual(thought.out, "well\n")
    assert.strictEqual(thought.err, "Thinking about: well\n")
    const quiet = await run(["prompt", "-q", "think", "well"], { env: server.env })
    assert.deepStrictEqual([quiet.out, quiet.err], ["well\n", ""])
  })

  it("is with --json every event from the first, a line each", async () => {
    const { code, out } = await run(["prompt", "--json", "--session", "rows", "hello"], { env: server.env })
    assert.strictEqual(code, 0)
    const events = jsonLines(out)
    const rows = events.flatMap(({ at, revision }) => (at === undefined ? [] : [revision]))
    assert.deepStrictEqual(
      rows,
      rows.map((_, at) => at + 1)
    )
    assert.strictEqual(events.at(-1)?.["type"], "turn.terminal")
  })

  it("streams: what has been said is there before the rest", async () => {
    const running = start(["prompt", "write 40 words every 50 ms"], { env: server.env })
    assert.notInclude(await running.saw("w3 "), "w40")
    const { code, out } = await running.done
    assert.strictEqual(code, 0)
    assert.strictEqual(out.trim().split(" ").length, 40)
  })
})

describe("a prompt that does not work", () => {
  it("ends with 1 and one clear line; for a program with an object", async () => {
    const failed = await run(["prompt", "fail"], { env: server.env })
    assert.strictEqual(failed.code, 1)
    assert.strictEqual(failed.out, "")
    assert.strictEqual(failed.err, "harness: the turn failed: The demo model failed, as asked.\n")
    const json = await run(["prompt", "--json", "fail"], { env: server.env })
    assert.strictEqual(json.code, 1)
    const last = jsonLines(json.out).at(-1)
    assert.deepInclude(last?.["error"], { code: "demo.failed", state: "failed", retryable: false })
  })

  it("ends with 1 when no server is there", async () => {
    const env = { ...server.env, HARNESS_URL: await nowhere() }
    const { code, err, out } = await run(["prompt", "--json", "hello"], { env })
    assert.strictEqual(code, 1)
    assert.match(err, /^harness: no server answers at http:\S+ \(ECONNREFUSED\)\n {2}`harness server` starts one.*\n$/)
    assert.deepInclude(jsonLines(out).at(-1)?.["error"], { code: "client.disconnected", retryable: true })
  })

  it("ends with 1 when the token is refused, and never shows it", async () => {
    const { code, err, out } = await run(["prompt", "--token", "hrn_canary", "--json", "hello"], { env: server.env })
    assert.strictEqual(code, 1)
    assert.deepInclude(jsonLines(out).at(-1)?.["error"], { code: "auth.unknown", _tag: "UnauthorizedError" })
    assert.notInclude(out + err, "canary")
  })

  it("ends with 1 when a model is asked for that is not there", async () => {
    const { code, err } = await run(["prompt", "--model", "nobody/none", "hello"], { env: server.env })
    assert.strictEqual(code, 1)
    assert.match(err, /^harness: .+\n$/)
  })

  it("ends with 1 when somebody else cancels it", async () => {
    const running = start(["prompt", "--json", "--session", "busy", "write 1000 words every 50 ms"], {
      env: server.env
    })
    await running.saw("turn.text.delta")
    const cancel = await run(["cancel", "busy"], { env: server.env })
    assert.match(cancel.out, /^stopping turn_/)
    const { code, err, out } = await running.done
    assert.strictEqual(code, 1)
    assert.strictEqual(err, "harness: the turn was cancelled\n")
    assert.deepInclude(jsonLines(out).at(-1)?.["error"], { code: "turn.cancelled", state: "cancelled" })
  })
})

describe("Ctrl-C", () => {
  it("cancels the turn on the server, and ends with 130", async () => {
    const running = start(["prompt", "--session", "stopped", "write 1000 words every 50 ms"], { env: server.env })
    await running.saw("w2")
    running.child.kill("SIGINT")
    const { code, err, out } = await running.done
    assert.strictEqual(code, 130)
    assert.strictEqual(err, "harness: the turn was cancelled\n")
    assert.match(out, /\n$/)
    const turn = await lastTurnOf("stopped")
    assert.strictEqual(turn.state, "cancelled")
  })

  it("ends at once the second time", async () => {
    const running = start(["prompt", "wait 60000"], { env: { ...server.env } })
    server.run.child.kill("SIGSTOP")
    try {
      running.child.kill("SIGINT")
      running.child.kill("SIGINT")
      const { code, signal } = await running.done
      assert.include([130, null], code)
      if (code === null) assert.strictEqual(signal, "SIGINT")
    } finally {
      server.run.child.kill("SIGCONT")
    }
  })
})
