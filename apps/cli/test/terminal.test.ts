import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { run } from "./kit/cli.ts"
import { startServer, type TestServer } from "./kit/server.ts"
import { hasTerminals, screenOf, startOnTerminal } from "./kit/terminal.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.remove())

const CHOICES = "[o]nce, [a]lways, [r]eject: "
const shell = (command: string) => `use shell ${JSON.stringify({ command })}`
const prompt = (...args: ReadonlyArray<string>) => startOnTerminal(["prompt", ...args], { env: server.env })
const turnsOf = async (session: string) =>
  JSON.parse((await run(["turns", session, "--json"], { env: server.env })).out).turns

describe.runIf(hasTerminals)("a person at the terminal", () => {
  it("is shown the whole of it, nothing hidden, and asked", async () => {
    const evil = "echo one\necho \u001b[2J\u202etxt.exe\u200b  # \u00a0\r"
    const running = prompt(shell(evil))
    const screen = screenOf(await running.saw(CHOICES))
    assert.include(screen, "\n? shell: Run echo one\n  │ echo one\n  │ echo ␛[2J<U+202E>txt.exe<U+200B>  # <U+00A0>␍\n")
    running.type("maybe\r")
    await running.saw("o, a or r")
    running.type("r\r")
    await running.saw("why (or nothing): ")
    running.type("not that one\r")
    const { code, out } = await running.done
    assert.strictEqual(code, 0)
    assert.include(screenOf(out), "  rejected\n")
    assert.include(screenOf(out), "shell failed: A person rejected this. not that one\n")
  })

  it("cannot be fooled by long lines: every row of it is marked", async () => {
    const running = prompt(shell(`echo ${" ".repeat(200)}  [o]nce, [a]lways: # ${"x".repeat(200)}`))
    const rows = screenOf(await running.saw(CHOICES)).split("\n")
    const [first, last] = [rows.findIndex((row) => row.startsWith("?")), rows.length - 1]
    for (const row of rows.slice(first + 1, last)) {
      assert.match(row, /^ {2}[│┆a]/)
      assert.isAtMost(row.length, 80)
    }
    running.type("o\r")
    assert.strictEqual((await running.done).code, 0)
  })

  it("allows once, and always: what is saved is not asked again", async () => {
    const first = prompt("-s", "granted", shell("echo a"))
    await first.saw(CHOICES)
    first.type("a\r")
    assert.include((await first.done).out, "shell said: a")
    const again = await run(["prompt", "-s", "granted", shell("echo a")], { env: server.env })
    assert.deepStrictEqual([again.code, again.out], [0, "shell said: a\n"])
    const grants = await run(["grants", "granted"], { env: server.env })
    assert.match(grants.out, /^grt_\S+ {2}\S+Z {2}admin {2}shell echo a\n$/)
    const grant = grants.out.split(" ")[0] ?? ""
    const remove = () => run(["grants", "remove", "granted", grant], { env: server.env })
    assert.match((await remove()).out, /is taken back/)
    assert.strictEqual((await remove()).out, `${grant} was not there\n`)
    assert.strictEqual((await run(["prompt", "-s", "granted", shell("echo a")], { env: server.env })).code, 1)
  })

  it("is asked one thing after the other, and nothing that was typed before counts", async () => {
    const running = prompt(`${shell("echo a")}\n${shell("echo b")}`)
    running.type("o\ro\ra\r")
    const first = screenOf(await running.saw(CHOICES))
    assert.strictEqual(first.split(CHOICES).length, 2, first)
    running.type("r because\ro\r")
    await running.saw(/rejected[\s\S]*\? shell[\s\S]*\[r\]eject: /)
    running.type("o\r")
    const { code, out } = await running.done
    assert.strictEqual(code, 0)
    assert.include(screenOf(out), "A person rejected this. because")
    assert.match(screenOf(out), /shell said: [ab]/)
  })

  it("is no longer asked what somebody else has answered", async () => {
    const running = prompt("-s", "elsewhere", shell("echo a"))
    await running.saw(CHOICES)
    const approved = await run(["approve", "-s", "elsewhere"], { env: server.env })
    assert.match(approved.out, /^\? shell: Run echo a\n {2}│ echo a\n[\s\S]*\nreq_\S+ allowed once\n$/)
    const { code, out } = await running.done
    assert.strictEqual(code, 0)
    assert.match(screenOf(out), /\[r\]eject: \n {2}settled without you\n[\s\S]*shell said: a\n/)
  })

  it("is asked what sub-agents ask, and questions, with options by number and own words", async () => {
    const questions = [
      {
        question: "Which?",
        header: "",
        options: [
          { label: "Red", description: "warm" },
          { label: "Blue", description: "" }
        ]
      },
      {
        question: "And?",
        header: "",
        options: [
          { label: "x", description: "" },
          { label: "y", description: "" }
        ],
        multiple: true
      },
      { question: "Why?", header: "", options: [] }
    ]
    const running = prompt(`use task ${JSON.stringify({ prompt: `use question ${JSON.stringify({ questions })}` })}`)
    await running.saw("a number, or /reject: ")
    running.type("3\r")
    await running.saw("a number: 1 to 2")
    running.type("blue\r")
    await running.saw("numbers, with commas, or /reject: ")
    running.type("1,y\r")
    await running.saw("your own words, or /reject: ")
    running.type("for no reason\r")
    const { code, out } = await running.done
    assert.strictEqual(code, 0)
    assert.match(
      screenOf(out),
      /3 questions in session task-\S+\n\? Which\? 1 of 3\n {2}1 {2}Red {3}warm\n {2}2 {2}Blue\n/
    )
    for (const answer of ["Blue", "x, y", "for no reason"]) assert.include(out, answer)
  })

  it("still has the same to answer when the server was killed meanwhile", async () => {
    const own = await startServer()
    const running = startOnTerminal(["prompt", "-s", "killed", shell("echo a")], { env: own.env })
    await running.saw(CHOICES)
    await own.kill()
    await running.saw("connection lost")
    const again = await own.again()
    await running.saw("connected again")
    running.type("o\r")
    const { code, out } = await running.done
    await again.remove()
    assert.strictEqual(code, 0, out)
    assert.strictEqual(screenOf(out).split(CHOICES).length, 2)
    assert.include(out, "shell said: a")
  })
})

describe.runIf(hasTerminals)("a person who leaves", () => {
  it("with Ctrl-C cancels the turn, and ends with 130", async () => {
    const running = prompt("-s", "stopped", shell("echo a"))
    await running.saw(CHOICES)
    running.type("\u0003")
    assert.strictEqual((await running.done).code, 130)
    assert.strictEqual((await turnsOf("stopped")).at(-1).state, "cancelled")
  })

  it("with Ctrl-D answers nothing any more: it is rejected, and so is what comes later", async () => {
    const running = prompt(`${shell("echo a")}\n${shell("echo b")}`)
    await running.saw(CHOICES)
    running.type("\u0004")
    const { code, out } = await running.done
    assert.strictEqual(code, 1)
    assert.strictEqual(out.split('"shell" was rejected, for nobody is there to allow it').length, 3)
  })

  it("is not asked with --unattended", async () => {
    const { code, out } = await prompt("--unattended", shell("echo a")).done
    assert.strictEqual(code, 1)
    assert.include(out, 'harness: "shell" was rejected, for nobody is there to allow it: Run echo a')
  })
})

describe.runIf(!hasTerminals)("a person at the terminal", () => {
  it("is not played here: python3, which opens terminals for these tests, is missing", () => {
    assert.isFalse(hasTerminals)
  })
})
