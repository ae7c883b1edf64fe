import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { wholeLog } from "../kit/follower.ts"
import { historyProblems, logProblems } from "../kit/logLaws.ts"
import { heldKib, measurable } from "../kit/process.ts"
import { assertValidRequest, callsFor, type Step, says } from "../kit/scriptedModel.ts"
import { messagesOf, pages, stage, textOf } from "../kit/stage.ts"
import type { Answer } from "../kit/wire.ts"

const { act, api, ended, place, request, requests, server, session } = stage(measurable)

type Part = Answer["body"]

/** Every text we are told holds whole characters only; and the next prompt gets a valid request and an answer. */
const goesOn = async (name: string) => {
  const { get, put } = await api()
  const home = `/sessions/${name}`
  const next = await put(`${home}/turns/next?waitMillis=20000`, { content: `${name}: and now` })
  expect(next.body).toMatchObject({ state: "completed", finalText: "fine" })
  for (const { body } of requests(name)) assertValidRequest(body)
  const entries = await pages(get, `${home}/history`, "entries")
  const rows = await wholeLog(await api(), name)
  const told = [entries, await pages(get, `${home}/turns`, "turns"), rows, next.body]
  expect(JSON.stringify(told)).not.toMatch(/\\ud[89a-f]/i)
  expect(JSON.stringify(told).isWellFormed()).toBe(true)
  expect(historyProblems(entries)).toEqual([])
  expect(logProblems(rows)).toEqual([])
}

const calls = (turn: Part): ReadonlyArray<Part> => turn.parts.filter(({ type }: Part) => type === "tool")
const outputs = (turn: Part): ReadonlyArray<string> => calls(turn).map(({ result }) => result.content[0].text)
const ran = (name: string): ReadonlyArray<string> => {
  const file = join(place.root, name, "ran.txt")
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []
}

it("L13: tool output cut inside a character, or that never was one, is well-formed when it is told", async () => {
  const home = await session("output")
  const cut = (before: string) => `printf '${before}'; yes 😀 | tr -d '\\n' | head -c 100001`
  const lone = String.raw`printf 'x\355\240\275y'`
  const commands = [...["", "a", "ab", "abc"].map(cut), lone]
  const asks = callsFor(...commands.map((command) => ["shell", { command }] as const))
  act("output", (_, step) => (step === 0 ? asks : says("fine")))
  await (await api()).put(`${home}/turns/t`, { content: "output: go" })
  const turn = await ended(home, "t")
  const texts = outputs(turn)
  expect(texts).toHaveLength(commands.length)
  for (const text of texts.slice(0, 4)) expect(Buffer.byteLength(text)).toBeLessThan(40_000)
  expect(texts[4]).toMatch(/^x\ufffd+y$/)
  await goesOn("output")
})

it("L13: half a character in a prompt, an entry or an answer becomes a whole one; a pair cut in two is joined", async () => {
  const home = await session("halves")
  const delta = (content: string): Step => ({
    type: "event",
    data: {
      id: "chatcmpl-scripted",
      object: "chat.completion.chunk",
      created: 1_700_000_000,
      model: "scripted",
      choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }]
    }
  })
  const halves = [
    delta("one \ud83d"),
    delta("\ude00 two \ud83d"),
    delta(" three"),
    { type: "finish", reason: "stop" }
  ] as const
  act("halves", (_, step) => (step === 0 ? halves : says("fine")))
  const { put } = await api()
  await put(`${home}/conversation/e`, { role: "user", content: "an entry \ud83d." })
  await put(`${home}/turns/t`, { content: "halves: a prompt \ude00." })
  const turn = await ended(home, "t")
  expect(turn.prompt.content).toEqual([{ type: "text", text: "halves: a prompt \ufffd." }])
  expect(turn.finalText).toBe("one 😀 two \ufffd three")
  expect(turn.parts).toMatchObject([{ type: "text", text: turn.finalText }])
  expect(messagesOf(await request("halves", 0)).map(textOf)).toEqual(["an entry \ufffd.", "halves: a prompt \ufffd."])
  await goesOn("halves")
})

for (const [what, args] of [
  ["do not parse", '{"command":"echo ran >> ran.txt; echo '],
  ["happen to parse", '{"command":"echo ran >> ran.txt"}']
] as const) {
  it(`L6: arguments cut by the token limit are not run, even if they ${what}`, async () => {
    const name = what.replaceAll(" ", "-")
    const home = await session(name)
    const answer: ReadonlyArray<Step> = [
      { type: "toolCall", id: "call_0", name: "shell", arguments: args },
      { type: "finish", reason: "length" }
    ]
    act(name, (_, step) => (step === 0 ? answer : says("fine")))
    await (await api()).put(`${home}/turns/t`, { content: `${name}: go` })
    const turn = await ended(home, "t")
    expect(turn).toMatchObject({ state: "completed", finalText: "fine" })
    expect(calls(turn)).toMatchObject([
      { state: "failed", result: { isError: true, details: { code: "tool.arguments_cut" } } }
    ])
    expect(outputs(turn)[0]).toMatch(/cut off/i)
    expect(ran(name)).toEqual([])
    await goesOn(name)
  })
}

it("L6, L7: call ids that come twice, in one step or in three, or are empty, each run once and get their own result", async () => {
  const home = await session("ids")
  const say = (word: string, id: string) => ["shell", { command: `echo ${word} | tee -a ran.txt` }, id] as const
  const steps = [
    callsFor(say("a", "call_0"), say("b", "call_0")),
    callsFor(say("c", "call_0"), say("d", "")),
    callsFor(say("e", "call_0"), say("f", ""))
  ]
  act("ids", (_, step) => steps[step] ?? says("fine"))
  await (await api()).put(`${home}/turns/t`, { content: "ids: go" })
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "completed", finalText: "fine" })
  const ids = calls(turn).map(({ callId }) => callId)
  expect(new Set(ids).size).toBe(6)
  expect([...ran("ids")].sort()).toEqual(["a", "b", "c", "d", "e", "f"])
  expect(outputs(turn).map((text) => text.trim())).toEqual(["a", "b", "c", "d", "e", "f"])
  const results = messagesOf(await request("ids", 3)).filter(({ role }) => role === "tool")
  expect(results.map((message) => textOf(message).trim())).toEqual(["a", "b", "c", "d", "e", "f"])
  await goesOn("ids")
})

it("L11: 20 MB of output, in one line, in many, or binary, reach the model short, with both ends, and cost no memory", async () => {
  const home = await session("huge")
  const commands = [
    "echo first; yes x | tr -d '\\n' | head -c 20000000; echo; echo last",
    "echo first; yes a line of text | head -c 20000000; echo; echo last",
    "head -c 20000000 /dev/urandom"
  ]
  const { pid } = await server().up()
  const before = await heldKib(pid)
  act("huge", (_, step) => {
    const command = commands[step]
    return command === undefined ? says("fine") : callsFor(["shell", { command }])
  })
  await (await api()).put(`${home}/turns/t`, { content: "huge: go" })
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "completed", finalText: "fine" })
  const texts = outputs(turn)
  for (const text of texts.slice(0, 2)) {
    expect(Buffer.byteLength(text)).toBeLessThan(40_000)
    expect(text).toMatch(/^first\n/)
    expect(text).toMatch(/left out/)
    expect(text.trimEnd()).toMatch(/last$/)
  }
  expect(texts[2]).toMatch(/^\[20000000 bytes of binary output/)
  for (const { text } of requests("huge")) expect(text.length).toBeLessThan(200_000)
  const grown = (await heldKib(pid)) - before
  console.log(`after 60 MB of output the server holds ${Math.round(grown)} KiB more`)
  expect(grown).toBeLessThan(16_384)
  await goesOn("huge")
})
