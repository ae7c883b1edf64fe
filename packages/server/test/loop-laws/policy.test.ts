import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { count, ends } from "../kit/asks.ts"
import { loopStage } from "../kit/loopStage.ts"
import { callsFor, makeGate, says } from "../kit/scriptedModel.ts"

const { act, api, asksSession, ended, open, place, prompt, ran, reply, request, requests, session, sound, waits } =
  loopStage()

const ANY = { permissions: [{ permission: "*", pattern: "*", action: "allow" }] }
const toolsOf = (body: unknown): ReadonlyArray<string> =>
  JSON.parse(JSON.stringify(body)).tools?.map((tool: { function: { name: string } }) => tool.function.name) ?? []
const systemOf = (body: unknown): string => JSON.parse(JSON.stringify(body)).messages[0].content

const configure = async (home: string, change: object) => {
  const held = (await (await api()).get(`${home}/configuration`)).body
  const { revision, ...configuration } = held
  return (await api()).put(`${home}/configuration`, { ...configuration, ...change, expectedRevision: revision })
}

it("L8: a policy that becomes narrower holds from the next call on, a wider one from the next turn", async () => {
  const home = await session("narrow", ANY)
  const gate = makeGate()
  act("narrow", (_, step) => {
    const write = callsFor(["write", { path: `${step}.txt`, content: "x" }])
    if (step === 0) return write
    return step === 1 ? [{ type: "pause", gate }, ...write] : says("done")
  })
  await prompt(home, "t", "narrow: write")
  await gate.isReached
  expect((await configure(home, { tools: { deny: ["wri*"] } })).status).toBe(200)
  gate.open()
  expect(ends(await ended(home, "t"))).toEqual(["completed", "rejected policy.denied"])
  expect(existsSync(join(place.root, "narrow", "1.txt"))).toBe(false)
  expect(toolsOf((await request("narrow", 0)).body)).toContain("write")
  expect(toolsOf((await request("narrow", 2)).body)).not.toContain("write")
  await sound("narrow")
})

it("L8: a call that waited is judged by the rules of the moment it goes on", async () => {
  const home = await asksSession("later")
  act("later", (_, step) => (step === 0 ? callsFor(["shell", { command: count("a") }]) : says("done")))
  await prompt(home, "t", "later: count")
  await waits(home, "t")
  const [asked] = await open(home)
  await configure(home, { tools: { allow: ["read"] } })
  expect((await reply(home, asked?.requestId ?? "", "once")).status).toBe(200)
  expect(ends(await ended(home, "t"))).toEqual(["rejected policy.denied"])
  expect(ran("later")).toEqual([])
})

it("a rule that becomes stricter holds from the next call on", async () => {
  const home = await asksSession("strict", ANY)
  const gate = makeGate()
  act("strict", (_, step) => {
    const call = callsFor(["shell", { command: count("a") }])
    if (step === 0) return call
    return step === 1 ? [{ type: "pause", gate }, ...call] : says("done")
  })
  await prompt(home, "t", "strict: count")
  await gate.isReached
  await configure(home, { permissions: [{ permission: "shell", pattern: "*", action: "deny" }] })
  gate.open()
  expect(ends(await ended(home, "t"))).toEqual(["completed", "rejected permission.rejected"])
  expect(ran("strict")).toEqual(["a"])
})

it("no layer, an empty allow, and a deny: all fail closed, and the model's own words change nothing", async () => {
  const home = await session("closed", ANY)
  const all = ["write", { path: "a.txt", content: "x" }] as const
  for (const [id, tools] of [
    ["empty", { allow: [] }],
    ["denied", { allow: ["*"], deny: ["*rite"] }],
    ["others", { allow: ["read", "list"] }]
  ] as const) {
    act(id, (_, step) => (step === 0 ? callsFor([...all]) : says("ok")))
    await prompt(home, id, `${id}: write, whatever the policy says`, { options: { tools } })
    expect(ends(await ended(home, id))).toEqual(["rejected policy.denied"])
    expect(toolsOf((await request(id, 0)).body)).not.toContain("write")
  }
  expect(existsSync(join(place.root, "closed", "a.txt"))).toBe(false)
  const bad = await (await api()).put(`${home}/turns/bad`, { content: "x", options: { tools: { allow: [""] } } })
  expect(bad.status).toBe(400)
})

it("L8: plan and ask only read, whatever the prompt, the rules and the model say", async () => {
  const home = await session("modes", ANY)
  writeFileSync(join(place.root, "modes", "a.txt"), "text of a")
  const calls = callsFor(
    ["read", { path: "a.txt" }, "c0"],
    ["write", { path: "b.txt", content: "x" }, "c1"],
    ["shell", { command: "touch c.txt" }, "c2"],
    ["task", { prompt: "write d.txt" }, "c3"]
  )
  for (const mode of ["plan", "ask"] as const) {
    act(mode, (_, step) => (step === 0 ? calls : says("ok")))
    await prompt(home, mode, `${mode}: leave this mode and write`, { options: { mode } })
    const turn = await ended(home, mode)
    expect(turn.mode).toBe(mode)
    expect(ends(turn)).toEqual(["completed", ...Array(3).fill("rejected policy.denied")])
    const asked = (await request(mode, 0)).body
    for (const name of ["write", "edit", "shell"]) expect(toolsOf(asked)).not.toContain(name)
    expect(systemOf(asked)).toContain("only read")
  }
  expect(systemOf((await request("ask", 0)).body)).toContain("few sentences")
  for (const name of ["b.txt", "c.txt", "d.txt"]) expect(existsSync(join(place.root, "modes", name))).toBe(false)
  await sound("modes")
})

it("a tool that is not offered gets an error result with its reason, and the turn goes on", async () => {
  const home = await session("unknown", ANY)
  act("unknown", (_, step) =>
    step === 0
      ? callsFor(
          ["no_such_tool", {}, "c0"],
          ["read", { path: 7 }, "c1"],
          ["read", '{"path": "a', "c2"],
          ["submit_result", {}, "c3"]
        )
      : says("ok")
  )
  await prompt(home, "t", "unknown: try")
  expect(ends(await ended(home, "t"))).toEqual([
    "failed tool.not_found",
    "failed tool.arguments_invalid",
    "failed tool.arguments_cut",
    "failed tool.not_found"
  ])
  await sound("unknown")
})

it("the third identical call after two identical failures is answered without being run", async () => {
  const home = await asksSession("repeats", ANY)
  const fail = `${count("x")}; exit 3`
  act("repeats", (_, step) => {
    if (step < 4) return callsFor(["shell", { command: fail }])
    return step === 4 ? callsFor(["shell", { command: `${count("y")}; exit 3` }]) : says("done")
  })
  await prompt(home, "t", "repeats: go")
  expect(ends(await ended(home, "t"))).toEqual([
    "failed shell.exit",
    "failed shell.exit",
    "failed tool.repeated_failure",
    "failed tool.repeated_failure",
    "failed shell.exit"
  ])
  expect(ran("repeats")).toEqual(["x", "x", "y"])
  await sound("repeats")
})

it("the same call for ever ends the turn at its most steps, with a notice that says so", async () => {
  const home = await asksSession("forever", ANY)
  act("forever", () => callsFor(["shell", { command: count("a") }]))
  await prompt(home, "t", "forever: go", { options: { maxSteps: 7 } })
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "completed", stopReason: "max_steps" })
  expect(turn.steps).toHaveLength(7)
  expect(turn.parts.at(-1)).toMatchObject({ type: "notice", code: "max_steps" })
  expect(requests("forever")).toHaveLength(7)
  expect(ran("forever")).toHaveLength(7)
  const next = await (await api()).put(`${home}/turns/next?waitMillis=20000`, { content: "bye: hello" })
  expect(next.body).toMatchObject({ state: "completed" })
  await sound("forever")
})
