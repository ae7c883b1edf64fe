import { assert, describe, it } from "@effect/vitest"
import { jsonLines, start } from "./kit/cli.ts"
import { startServer } from "./kit/server.ts"

describe("a server that goes away in the middle of a turn", () => {
  it("and comes back: the prompt goes on to the end", async () => {
    const server = await startServer()
    const running = start(["prompt", "--session", "work", "write 40 words every 100 ms"], { env: server.env })
    await running.saw("w3 ")
    await server.kill()
    const again = await server.again()
    const { code, err, out } = await running.done
    await again.remove()
    assert.strictEqual(code, 0, err)
    assert.include(err, "connection lost")
    assert.include(err, "connected again")
    assert.match(out, /w40\n$/)
  })

  it("for good: the prompt ends with 1, and says what became of it", async () => {
    const server = await startServer()
    const running = start(["prompt", "--json", "write 1000 words every 50 ms"], { env: server.env })
    await running.saw("turn.text.delta")
    await server.kill()
    const { code, err, out } = await running.done
    await server.remove()
    assert.strictEqual(code, 1)
    assert.match(err, /harness: the server at \S+ was lost: .*\n {2}`harness turns get ses_\S+ turn_\S+` shows/)
    assert.deepInclude(jsonLines(out).at(-1)?.["error"], { code: "client.disconnected" })
  })
})

describe("a server that is asked to end", () => {
  it("ends with 0, in good time, also with somebody watching and a turn at work", async () => {
    const server = await startServer()
    const watching = start(["watch", "--json"], { env: server.env })
    await watching.saw("server.cursor")
    const prompting = start(["prompt", "write 1000 words every 50 ms"], { env: server.env })
    await prompting.saw("w2")
    server.run.child.kill("SIGTERM")
    const { code, out } = await server.run.done
    assert.strictEqual(code, 0)
    assert.match(out, /^harness is listening on http:\/\/127\.0\.0\.1:\d+\n/)
    prompting.child.kill("SIGINT")
    watching.child.kill("SIGINT")
    assert.strictEqual((await watching.done).code, 130)
    await prompting.done
    await server.remove()
  })
})
