import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { jsonLines, run, start } from "./kit/cli.ts"
import { startServer, type TestServer } from "./kit/server.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.remove())

const cli = (...args: ReadonlyArray<string>) => run(args, { env: server.env })

describe("compact", () => {
  it("waits for the summary, and says what it saved", async () => {
    await cli("prompt", "-s", "long", "one ".repeat(300))
    await cli("prompt", "-s", "long", "two")
    const { code, out } = await cli("compact", "long", "--instructions", "keep the numbers")
    assert.strictEqual(code, 0)
    assert.match(out, /^compacted: \d+ → \d+ tokens, up to \S+\n$/)
  })

  it("ends with 1 when nothing could be summarised", async () => {
    await cli("sessions", "create", "empty")
    const { code, err, out } = await cli("compact", "empty", "--json")
    assert.strictEqual(code, 1)
    assert.match(err, /^harness: the compaction failed: /)
    assert.deepInclude(jsonLines(out).at(-1)?.["error"], { state: "failed" })
  })

  it("is stopped with Ctrl-C, and leaves the history as it was", async () => {
    const busy = start(["prompt", "-s", "busy", "write 1000 words every 50 ms"], { env: server.env })
    await busy.saw("w2")
    const compacting = start(["compact", "busy"], { env: server.env })
    const watching = start(["watch", "-s", "busy", "--after", "0"], { env: server.env })
    await watching.saw("compaction queued")
    compacting.child.kill("SIGINT")
    assert.strictEqual((await compacting.done).code, 130)
    await watching.saw("compaction cancelled")
    for (const run of [watching, busy]) run.child.kill("SIGINT")
    await Promise.all([watching.done, busy.done])
  })
})

describe("sub-agents", () => {
  it("go on by themselves when they are sent into the background", async () => {
    const task = `use task ${JSON.stringify({ prompt: "write 400 words every 50 ms" })}`
    const running = start(["prompt", "-s", "parent", task], { env: server.env })
    await running.saw("waiting for a sub-agent", "err")
    assert.match((await cli("background", "parent")).out, /^they go on by themselves/)
    const { code, out } = await running.done
    assert.strictEqual(code, 0)
    assert.include(out, "goes on in the background")
    assert.strictEqual((await cli("background", "parent")).out, "no sub-agent is waited for\n")
    await cli("sessions", "delete", "parent")
  })
})

describe("agents", () => {
  it("are listed with those of files, and files that are none are named beside them", async () => {
    const folder = join(server.data, "..", "root", "project", ".harness", "agents")
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "reviewer.md"), "---\ndescription: Reads with care\n---\nYou review.\n")
    writeFileSync(join(folder, "broken.md"), "---\nmode: [\n---\n")
    await cli("sessions", "create", "project", "--workdir", "project")
    const { code, err, out } = await cli("agents", "project")
    assert.strictEqual(code, 0)
    for (const name of ["general", "plan", "explore"]) assert.match(out, new RegExp(`^${name} `, "m"))
    assert.match(out, /^reviewer .*Reads with care$/m)
    assert.match(err, /^! \S*broken\.md is no agent: \S/)
    const json = JSON.parse((await cli("agents", "project", "--json")).out)
    assert.strictEqual(json.problems.length, 1)
  })
})

describe("hooks", () => {
  it("are set, with a secret that is shown once, listed, replaced and removed", async () => {
    const first = await cli(
      "hooks",
      "set",
      "guard",
      "--point",
      "pre-tool",
      "--to",
      "https://example.com/a",
      "--functions",
      "shell,write"
    )
    assert.strictEqual(first.code, 0, first.err)
    assert.match(first.out, /\nfunctions shell, write\n[\s\S]*\nsecret +whsec_\S+\n$/)
    assert.strictEqual(first.err, "the secret is not shown again\n")
    const second = await cli(
      "hooks",
      "set",
      "guard",
      "--point",
      "post-tool",
      "--to",
      "https://example.com/b",
      "--priority=-1"
    )
    assert.notInclude(second.out, "whsec_")
    assert.strictEqual((await cli("hooks")).out, "guard  post-tool  -1  fail_open  *  https://example.com/b\n")
    assert.strictEqual((await cli("hooks", "remove", "guard")).out, "guard is removed\n")
    assert.strictEqual((await cli("hooks", "remove", "guard")).out, "guard is not there\n")
  })
})

describe("webhooks", () => {
  it("are set, listed, redelivered and removed", async () => {
    const set = await cli(
      "webhooks",
      "set",
      "ci",
      "--to",
      "https://example.com/t",
      "--events",
      "turn.completed",
      "-s",
      "long"
    )
    assert.match(set.out, /\nevents +turn\.completed\nonly +session long\nsecret +whsec_\S+\n$/)
    assert.strictEqual((await cli("webhooks")).out, "ci  turn.completed  session long  https://example.com/t\n")
    assert.match((await cli("webhooks", "redeliver", "ci", "--after", "0")).out, /^ci: \d+ events? to deliver\n$/)
    assert.strictEqual((await cli("webhooks", "redeliver", "ci")).code, 2)
    assert.strictEqual((await cli("webhooks", "remove", "ci")).out, "ci is removed\n")
    const gone = await cli("webhooks", "redeliver", "ci", "--after", "0", "--json")
    assert.strictEqual(gone.code, 1)
  })
})
