import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createHarness, type Harness } from "@harness/client"
import { jsonLines, run, start } from "./kit/cli.ts"
import { startServer, type TestServer } from "./kit/server.ts"

let server: TestServer
let harness: Harness
beforeAll(async () => {
  server = await startServer()
  harness = createHarness({ baseUrl: server.url, token: readFileSync(join(server.data, "token"), "utf8").trim() })
})
afterAll(() => server.remove())

const cli = (...args: ReadonlyArray<string>) => run(args, { env: server.env })
const shell = (command: string) => `use shell ${JSON.stringify({ command })}`
const question = (...questions: ReadonlyArray<object>) => `use question ${JSON.stringify({ questions })}`
const which = {
  question: "Which one?",
  header: "Colour",
  options: [
    { label: "Red", description: "warm" },
    { label: "Blue", description: "cold" }
  ]
}
const task = (prompt: string) => `use task ${JSON.stringify({ prompt })}`

/** A turn that runs without anybody attending, until so many of these are open in its session or below. */
const leave = async (sessionId: string, content: string, what: "permissions" | "questions", count = 1) => {
  const at = { server: "default", sessionId }
  await harness.turns.submit({ ...at, turnId: "t1", content, session: {} })
  const open = async () => {
    const [own, below] = await Promise.all([harness[what].list(at), harness[what].below(at)])
    return what === "permissions"
      ? [own, below].flatMap((page) => ("permissions" in page ? page.permissions.map((one) => one.requestId) : []))
      : [own, below].flatMap((page) => ("questions" in page ? page.questions.map((one) => one.questionId) : []))
  }
  for await (const event of harness.events.server({ server: "default", after: 0 })) {
    if (event.type === "server.cursor" || event.type.endsWith("requested") || event.type.endsWith("asked")) {
      const ids = await open()
      if (ids.length >= count) return { ids, ended: () => harness.turns.wait({ ...at, turnId: "t1" }) }
    }
  }
  throw new Error("the stream of a server has no end")
}

describe("a prompt with nobody at a terminal", () => {
  it("rejects what is asked at once, says which tool wanted what, and ends with 1 though the turn completes", async () => {
    const { code, err, out } = await cli("prompt", shell("echo a && touch x"))
    assert.strictEqual(code, 1)
    assert.strictEqual(out, "shell failed: A person rejected this. Nobody is there to allow it.\n")
    const [line, ...others] = err.split("\n").filter((one) => one.startsWith("harness:"))
    assert.strictEqual(line, 'harness: "shell" was rejected, for nobody is there to allow it: Run echo a && touch x')
    assert.deepStrictEqual(others, [])
  })

  it("invents no answer to a question", async () => {
    const { code, err } = await cli("prompt", "-s", "asked", question(which))
    assert.strictEqual(code, 1)
    assert.include(err, 'harness: "question" was rejected, for nobody is there to answer it: Which one?\n')
    const { entries } = await harness.sessions.history({ server: "default", sessionId: "asked" })
    const result = entries.flatMap(({ content }) => content.filter((part) => part.type === "result"))
    assert.deepInclude(result[0], { isError: true })
  })

  it("rejects what sub-agents ask, too, and with --json says all of it on the last line", async () => {
    const { code, err, out } = await cli("prompt", "--json", "-s", "family", task(shell("echo deep")))
    assert.strictEqual(code, 1)
    assert.match(
      err,
      /^harness: "shell" was rejected, for nobody is there to allow it: Run echo deep \(sub-agent \S+\)\n$/
    )
    const error = jsonLines(out).at(-1)?.["error"]
    assert.deepInclude(error, { code: "ask.unattended", sessionId: "family", state: "completed" })
    assert.match(JSON.stringify(error), /"rejected":\[\{"kind":"permission","id":"req_\w+","sessionId":"task-\w+"/)
  })

  it("cancels its turn when its token may not even reject, names the tool, and ends with 1", async () => {
    const added = await run(["token", "add", "robot", "--scopes", "read,write"], { env: server.env })
    const token = ["--url", server.url, "--token", added.out.trim()]
    const wanted = [
      ["shy", shell("echo a"), "shell"],
      ["shy-question", question(which), "question"]
    ] as const
    for (const [sessionId, content, tool] of wanted) {
      const { code, err } = await run(["prompt", ...token, "-s", sessionId, content], { env: server.env })
      assert.strictEqual(code, 1)
      assert.include(
        err,
        `harness: the turn was cancelled: nobody was there to allow "${tool}", and this token may not reject it\n`
      )
      const at = { server: "default", sessionId }
      const [turn] = (await harness.turns.list(at)).turns
      assert.deepInclude(await harness.turns.wait({ ...at, turnId: turn?.turnId ?? "" }), { state: "cancelled" })
      assert.deepStrictEqual((await harness.permissions.list(at)).permissions, [])
    }
    const { out } = await run(["prompt", "--json", ...token, "-s", "shy-json", shell("echo a")], { env: server.env })
    assert.deepInclude(jsonLines(out).at(-1)?.["error"], { code: "ask.unattended", state: "cancelled" })
  })

  it("does so too when the prompt itself was piped in", async () => {
    const running = start(["prompt"], { env: server.env, stdin: shell("echo a") })
    assert.strictEqual((await running.done).code, 1)
  })
})

describe("approve and deny", () => {
  it("act on the only open request, wherever below the session it is, and show the whole of it", async () => {
    const { ended } = await leave("deep", task(shell("echo one\necho two")), "permissions")
    const approved = await cli("approve", "--session", "deep")
    assert.strictEqual(approved.code, 0)
    assert.match(
      approved.out,
      /^\? shell: Run echo one… in session task-\w+\n|^\? shell: Run echo one in session task-\w+\n/
    )
    assert.include(approved.out, "  │ echo one\n  │ echo two\n")
    assert.match(approved.out, /\nreq_\w+ allowed once\n$/)
    assert.include((await ended()).finalText ?? "", "one")
    const none = await cli("approve", "--session", "deep")
    assert.deepStrictEqual([none.code, none.err], [1, "harness: nothing in deep or below it waits to be allowed\n"])
  })

  it("list several, whole, and do nothing; and act on the one that is named", async () => {
    const { ids, ended } = await leave("several", `${shell("echo a")}\n${shell("echo b")}`, "permissions", 2)
    const listed = await cli("approve", "-s", "several")
    assert.deepStrictEqual([listed.code, listed.err], [1, "harness: 2 requests wait to be allowed: name one\n"])
    for (const text of [...ids, "  │ echo a\n", "  │ echo b\n"]) assert.include(listed.out, text)
    const json = await cli("approve", "-s", "several", "--json")
    assert.strictEqual(JSON.parse(json.out.split("\n")[0] ?? "").permissions.length, 2)
    const [first = "", second = ""] = ids
    // Without a session it is found on the whole server.
    assert.match((await cli("deny", first, "--message", "use npm")).out, new RegExp(`\\n${first} rejected\\n$`))
    assert.match(
      (await cli("approve", second, "--always")).out,
      new RegExp(`\\n${second} allowed always\\nsaved as grt_\\w+\\n$`)
    )
    const turn = await ended()
    assert.include(JSON.stringify(turn.parts), "A person rejected this. use npm")
    // The same again is fine, another answer is not.
    assert.strictEqual((await cli("deny", first, "-s", "several")).code, 0)
    const late = await cli("approve", first, "-s", "several", "--json")
    assert.deepInclude(jsonLines(late.out).at(-1)?.["error"], { code: "permission.settled" })
    assert.strictEqual((await cli("approve", "req_none")).code, 1)
  })
})

describe("answer", () => {
  it("takes numbers, labels and own words, and nothing else", async () => {
    const { ended, ids } = await leave("colour", question(which), "questions")
    const [id = ""] = ids
    const wrong = await cli("answer", "-s", "colour", "green")
    assert.strictEqual(wrong.code, 2)
    assert.match(wrong.err, /"Which one\?" takes a number: 1 to 2/)
    const silent = await cli("answer", "-s", "colour")
    assert.strictEqual(silent.code, 1)
    assert.include(silent.out, `${id}\n? Which one? (Colour)\n  1  Red   warm\n  2  Blue  cold\n`)
    assert.deepStrictEqual((await cli("answer", id, "2")).out, `${id} replied\n`)
    assert.include((await ended()).finalText ?? "", "Blue")
  })

  it("takes one word for each thing that is asked", async () => {
    const { ended } = await leave("two", question(which, { question: "Why?", header: "", options: [] }), "questions")
    assert.strictEqual((await cli("answer", "-s", "two", "red")).code, 2)
    assert.strictEqual((await cli("answer", "-s", "two", "red", "it is warm")).code, 0)
    assert.include((await ended()).finalText ?? "", "it is warm")
  })

  it("closes a question without one", async () => {
    const { ended } = await leave("closed", question(which), "questions")
    assert.match((await cli("answer", "-s", "closed", "--reject")).out, / rejected\n$/)
    assert.strictEqual((await ended()).state, "completed")
    assert.strictEqual((await cli("answer", "-s", "closed", "--reject")).code, 1)
  })
})

describe("what is open", () => {
  it("is in a session's status, by name, and in what a watcher sees", async () => {
    await leave("seen", task(shell("echo deep")), "permissions")
    assert.match((await cli("status", "seen")).out, /\nwaits on +child task-\w+\nbelow +req_\w+ shell: Run echo deep\n/)
    const below = start(["watch", "-s", "seen"], { env: server.env })
    await below.saw(/turn waiting/)
    const watching = start(["watch", "--after", "0"], { env: server.env })
    await watching.saw(/sub-agent of seen created[\s\S]*\? shell: Run echo deep req_\w+\n\S+ \S+ {3}│ echo deep\n/)
    await cli("deny", "-s", "seen", "--message", "no")
    await watching.saw(/! rejected by admin: no req_/)
    await below.saw(/ task-\w+ ! rejected by admin: no req_/)
    for (const one of [watching, below]) {
      one.child.kill("SIGTERM")
      await one.done
    }
  })
})
