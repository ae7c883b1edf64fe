import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type Connection, type Message, startHarness } from "../../../packages/phone/test/kit/harness.ts"
import { Conversation } from "../src/phone/Conversation.ts"
import { type } from "../src/phone/typing.ts"
import { plain } from "../src/render/style.ts"
import { jsonLines, nowhere, run, temporaryFolder } from "./kit/cli.ts"
import { hasTerminals, screenOf, startOnTerminal } from "./kit/terminal.ts"

const desk = ({ input, turn_id, type }: Message, { chunk, reply, send }: Connection) => {
  if (type !== "turn:start") return
  if (input?.type === "greeting") reply("r1", 1, "Thanks for calling Acme.")
  else if (input?.text === "tell me everything") chunk(`r${turn_id}`, turn_id, "Well, it is a very long story, and ")
  else if (input?.text === "bye") send({ type: "command", command_id: "c1", name: "hangup", args: { reason: "bye" } })
  else reply(`r${turn_id}`, turn_id, `You said ${input?.text}.`)
}

const http = (url: string) => new URL(url).origin.replace("ws:", "http:")

describe("harness call", () => {
  it("plays a script, and shows every frame and what was heard", async () => {
    await using harness = await startHarness(desk)
    const folder = temporaryFolder()
    const script = join(folder.path, "call.json")
    writeFileSync(script, JSON.stringify({ call: { from: "+1" }, steps: [{ do: "say", text: "hello" }] }))
    const at = ["call", "--url", http(harness.url), "--script", script, "--speed", "20"]
    const { code, err, out } = await run([...at, "--agent", "desk", "--server", "acme"], {
      env: { HARNESS_JAMBONZ_SECRET: "s3cret" }
    })
    assert.strictEqual(code, 0, err)
    assert.match(out, /→ turn:start turn_id=2 input=\{"type":"speech","text":"hello","language":"en-US"\}\n/)
    assert.match(out, /← reply:chunk reply_id="r2" turn_id=2 "You said hello\."\n/)
    assert.match(out, /♪ You said hello\.\n/)
    assert.match(err, /^\* the caller hung up after \d+\.\d s\n$/)
    const request = harness.connections[0]?.request
    assert.strictEqual(request?.url, "/v1/servers/acme/jambonz?agent=desk")
    assert.strictEqual(request?.headers.authorization, "Bearer s3cret")
    assert.notInclude(out + err, "s3cret")

    const lines = jsonLines((await run([...at, "--json"])).out)
    assert.deepInclude(lines[0]?.["frame"], { type: "session:start", from: "+1" })
    assert.deepInclude(lines.at(-1)?.["report"], { reason: "caller_hangup", faults: [], late: 0 })
    folder.remove()
  })

  it("says each line of a pipe when it is the caller's turn, until the agent hangs up", async () => {
    await using harness = await startHarness(desk)
    const at = ["call", "--url", http(harness.url), "--speed", "20"]
    const { code, err, out } = await run(at, { stdin: "hello\nbye\nnever said\n" })
    assert.strictEqual(code, 0, err)
    assert.strictEqual(out, "agent  Thanks for calling Acme.\nyou    hello\nagent  You said hello.\nyou    bye\n")
    assert.match(err, /the agent hung up/)
  })

  it("ends with 1 when the call failed", async () => {
    await using harness = await startHarness(desk, () => 401)
    const refused = await run(["call", "--url", http(harness.url), "--json"], { stdin: "hello\n" })
    assert.strictEqual(refused.code, 1)
    assert.deepInclude(jsonLines(refused.out).at(-1)?.["error"], {
      code: "call.connect",
      message: "the call failed: refused with HTTP 401"
    })
    const nobody = await run(["call", "--url", await nowhere()], { stdin: "hello\n" })
    assert.strictEqual(nobody.code, 1)
    assert.match(nobody.err, /harness: the call failed: .*ECONNREFUSED/)
  })

  it("ends with 1 when the harness broke a rule, and says which", async () => {
    await using harness = await startHarness((message, connection) => {
      desk(message, connection)
      if (message.turn_id === 1 && message.type === "turn:start") connection.done("r1", 1)
    })
    const { code, err } = await run(["call", "--url", http(harness.url), "--speed", "20"], { stdin: "hello\n" })
    assert.strictEqual(code, 1)
    assert.match(err, /! refused: duplicate_id: the reply was done \(r1\)\n/)
    assert.match(err, /harness: 1 rule of the protocol was broken: duplicate_id/)
  })

  it("ends with 2 when the script makes no sense, and says where", async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder.path, "call.json"), JSON.stringify({ steps: [{ do: "say" }] }))
    const { code, err } = await run(["call", "--script", "call.json"], { cwd: folder.path })
    assert.strictEqual(code, 2)
    assert.match(err, /^harness: --script: call\.json: steps\.0\.text /)
    folder.remove()
  })
})

describe.runIf(hasTerminals)("a person at the terminal", () => {
  const dial = (url: string) => startOnTerminal(["call", "--url", http(url), "--rate", "20"])

  it("hears, speaks, interrupts by typing, and hangs up with Ctrl-D", async () => {
    await using harness = await startHarness(desk)
    const running = dial(harness.url)
    await running.saw("Acme.")
    running.type("hello\r")
    await running.saw("You said hello.")
    running.type("tell me everything\r")
    await running.saw("a very long story")
    running.type("s")
    await running.saw(/story[\s\S]*you {4}s/)
    running.type("top\x7fp\r")
    await running.saw("You said stop.")
    running.type("\u0004")
    const { code, out } = await running.done
    assert.strictEqual(code, 0, out)
    assert.include(screenOf(out), "the caller hung up")
    const got = harness.connections[0]?.got ?? []
    assert.isTrue(got.some(({ name, reply_id }) => name === "user_interruption" && reply_id === "r3"))
    const turns = got.filter(({ type }) => type === "turn:start").map(({ input }) => input?.text)
    assert.deepStrictEqual(turns, [undefined, "hello", "tell me everything", "stop"])
  })

  it("presses keys, which interrupt nothing", async () => {
    await using harness = await startHarness((message, connection) => {
      desk(message, connection)
      if (message["name"] === "dtmf") connection.reply(`u${message["digits"]}`, undefined, `Key ${message["digits"]}.`)
    })
    const running = dial(harness.url)
    await running.saw("Acme.")
    running.type("/press 7\r")
    await running.saw("Key 7.")
    running.type("\u0004")
    assert.strictEqual((await running.done).code, 0)
  })

  it("with Ctrl-C hangs up too, and ends with 130", async () => {
    await using harness = await startHarness(desk)
    const running = dial(harness.url)
    await running.saw("Acme.")
    running.type("\u0003")
    assert.strictEqual((await running.done).code, 130)
    assert.deepInclude(harness.connections[0]?.got.at(-1), { type: "session:end", reason: "caller_hangup" })
  })
})

describe("what is typed", () => {
  it("is a line at a time, with what corrects it", () => {
    assert.deepStrictEqual(type("", "hi\x7f\r"), [
      { _tag: "Line", text: "h" },
      { _tag: "Line", text: "hi" },
      { _tag: "Line", text: "h" },
      { _tag: "Said", text: "h" }
    ])
    assert.deepStrictEqual(type("a", "\u0004\u001b[A\t\u0015"), [{ _tag: "Line", text: "" }])
    assert.deepStrictEqual(type("", "\u0004"), [{ _tag: "Gone" }])
  })

  it("takes the line; what the agent says meanwhile comes after it", () => {
    let text = ""
    const push = (more: string) => {
      text += more
    }
    const write = (): never => assert.fail("a conversation does not wait")
    const conversation = new Conversation({ write, push, isTerminal: true, columns: 80, style: plain }, true)
    const reply = {
      kind: "reply" as const,
      id: "r1",
      turnId: 1,
      text: "",
      offset: 0,
      words: 0,
      done: false,
      interruptible: false,
      urgent: false
    }
    const word = (word: string) => conversation.hear({ at: 0, _tag: "Word", reply, word })
    word("Calls")
    conversation.type("h")
    word(" are")
    conversation.type("hm")
    word(" recorded.")
    conversation.said()
    assert.strictEqual(screenOf(text), "agent  Calls\n\ryou    h\ryou    hm\nagent  are recorded.\n")
  })
})
