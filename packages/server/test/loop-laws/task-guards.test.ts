import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { callsOf, ends } from "../kit/asks.ts"
import { loopStage } from "../kit/loopStage.ts"
import { callsFor, makeGate, says } from "../kit/scriptedModel.ts"
import { messagesOf, textOf } from "../kit/stage.ts"

const { act, api, ended, open, place, prompt, reply, request, requests, session, sound, waits } = loopStage()

const task = (args: object, id = "c0") => ["task", args, id] as const
const childrenOf = async (home: string) => (await (await api()).get(`${home}/children`)).body.children
const ALLOW_ALL = [{ permission: "*", pattern: "*", action: "allow" }]

/** An agent of a session's folder. */
const agent = (name: string, agentName: string, frontMatter: string) => {
  const folder = join(place.root, name, ".harness", "agents")
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${agentName}.md`), `---\ndescription: for a test\n${frontMatter}\n---\nDo it.\n`)
}
const WRITER = 'permissions:\n  - { permission: "*", pattern: "*", action: allow }'

it("a sub-agent that spawns its like ends three below, by an error that the model is told", async () => {
  const home = await session("deep")
  const told: Array<string> = []
  act("deep", (asked) => {
    const last = messagesOf(asked).at(-1)
    if (last?.role !== "tool") return callsFor(task({ prompt: "deep: once more" }))
    told.push(textOf(last))
    return says("up")
  })
  await prompt(home, "t", "deep: go")
  expect(await ended(home, "t")).toMatchObject({ state: "completed" })
  let below = home
  const depths: Array<number> = []
  for (;;) {
    const [child] = await childrenOf(below)
    if (child === undefined) break
    below = `/sessions/${child.sessionId}`
    depths.push((await (await api()).get(`${below}/status`)).body.depth)
    await sound(child.sessionId)
  }
  expect(depths).toEqual([1, 2, 3])
  expect(told[0]).toContain("at most 3")
  expect(requests("deep")).toHaveLength(8)
  const [last] = (await (await api()).get(`${below}/turns`)).body.turns
  expect(ends(last)).toEqual(["failed task.too_deep"])
})

it("a crowd that spawns a crowd stays within five for each, and the root settles", async () => {
  const home = await session("crowd")
  act("crowd", (asked) =>
    messagesOf(asked).at(-1)?.role === "tool"
      ? says("up")
      : callsFor(task({ prompt: "crowd: more" }, "c0"), task({ prompt: "crowd: more" }, "c1"))
  )
  await prompt(home, "t", "crowd: go")
  expect(await ended(home, "t")).toMatchObject({ state: "completed" })
  // 1 + 2 + 4 + 8 sessions, each asked twice.
  expect(requests("crowd")).toHaveLength(30)
})

it("of seven sub-agents at once five live, two are refused; when they have ended there is room again", async () => {
  const home = await session("seven")
  const seven = Array.from({ length: 7 }, (_, n) => task({ prompt: `seven-kid: ${n}` }, `c${n}`))
  act("seven", (_, step) =>
    step === 0 ? callsFor(...seven) : step === 1 ? callsFor(seven[6] ?? task({})) : says("done")
  )
  const gate = makeGate()
  act("seven-kid", async () => {
    await gate.opened
    return says("hi")
  })
  await prompt(home, "t", "seven: go")
  await waits(home, "t")
  expect(await childrenOf(home)).toHaveLength(5)
  gate.open()
  const turn = await ended(home, "t")
  const said = ends(turn)
  expect(said.slice(0, 7).toSorted()).toEqual([...Array(5).fill("completed"), ...Array(2).fill("failed task.too_many")])
  expect(said[7]).toBe("completed")
  await sound("seven")
})

it("maxChildren says how many sub-agents the one that is started may have at a time", async () => {
  const home = await session("fan")
  act("fan", (_, step) => (step === 0 ? callsFor(task({ prompt: "fan-kid: go", maxChildren: 1 })) : says("done")))
  act("fan-kid", (asked) =>
    messagesOf(asked).at(-1)?.role === "tool"
      ? says("up")
      : callsFor(task({ prompt: "fan-leaf: a" }, "c0"), task({ prompt: "fan-leaf: b" }, "c1"))
  )
  const gate = makeGate()
  act("fan-leaf", () => [{ type: "pause", gate }, ...says("hi")])
  await prompt(home, "t", "fan: go")
  await gate.isReached
  gate.open()
  expect(ends(await ended(home, "t"))).toEqual(["completed"])
  const [kid] = await childrenOf(home)
  const [turn] = (await (await api()).get(`/sessions/${kid.sessionId}/turns`)).body.turns
  expect(ends(turn).toSorted()).toEqual(["completed", "failed task.too_many"])
})

it("what cannot be started is an error for the model, and leaves no session behind", async () => {
  const home = await session("wrong")
  const wrong = [
    { prompt: "" },
    { prompt: "x", agent: "nobody" },
    { prompt: "x", model: "nowhere/none" },
    { prompt: "x", maxSteps: 0 },
    { prompt: "x", tools: { allow: [""] } },
    { prompt: "x", output: { type: "json", schema: { type: "nonsense" } } }
  ]
  act("wrong", (_, step) => (step === 0 ? callsFor(...wrong.map((args, n) => task(args, `c${n}`))) : says("done")))
  await prompt(home, "t", "wrong: go")
  for (const end of ends(await ended(home, "t"))) expect(end).toMatch(/^failed (tool|task|policy|schema)\./)
  expect(await childrenOf(home)).toEqual([])
})

it("a sub-agent gets at most the steps its parent has left", async () => {
  const home = await session("steps")
  act("steps", (_, step) =>
    step < 2 ? callsFor(["list", { path: "." }]) : callsFor(task({ prompt: "steps-kid: go", maxSteps: 50 }))
  )
  act("steps-kid", () => callsFor(["list", { path: "." }]))
  await prompt(home, "t", "steps: go", { options: { maxSteps: 5 } })
  await ended(home, "t")
  expect(requests("steps-kid").length).toBeLessThanOrEqual(2 * 3)
  const [kid] = await childrenOf(home)
  const [turn] = (await (await api()).get(`/sessions/${kid.sessionId}/turns`)).body.turns
  expect(turn).toMatchObject({ stopReason: "max_steps", steps: Array(2).fill({}) })
})

it("L8: what the root may not do no sub-agent may, whatever its own agent and a person's always say", async () => {
  const write = (path: string, id = "w") => ["write", { path, content: "x" }, id] as const
  for (const [name, root] of [
    ["rules", { permissions: [...ALLOW_ALL, { permission: "edit", pattern: "*", action: "deny" }] }],
    ["policy", { permissions: ALLOW_ALL, tools: { deny: ["write"] } }]
  ] as const) {
    const home = await session(`no-${name}`, root)
    agent(`no-${name}`, "writer", WRITER)
    act(`no-${name}`, (_, step) =>
      step === 0 ? callsFor(task({ prompt: `no-${name}-kid: write`, agent: "writer" })) : says("done")
    )
    act(`no-${name}-kid`, (asked) => {
      const said = messagesOf(asked).at(-1)
      if (textOf(said ?? { role: "", content: "" }).startsWith(`no-${name}-kid`))
        return callsFor(write("a.txt"), task({ prompt: `no-${name}-leaf: write`, agent: "writer" }, "c1"))
      return says("tried")
    })
    act(`no-${name}-leaf`, (asked) =>
      messagesOf(asked).at(-1)?.role === "tool" ? says("tried") : callsFor(write("b.txt"))
    )
    await prompt(home, "t", `no-${name}: go`)
    expect(await ended(home, "t")).toMatchObject({ state: "completed" })
    expect(existsSync(join(place.root, `no-${name}`, "a.txt"))).toBe(false)
    expect(existsSync(join(place.root, `no-${name}`, "b.txt"))).toBe(false)
    const [kid] = await childrenOf(home)
    const [turn] = (await (await api()).get(`/sessions/${kid.sessionId}/turns`)).body.turns
    expect(ends(turn)[0]).toMatch(/^rejected (permission.rejected|policy.denied)$/)
  }
})

it("L8: an always in a sub-agent is its own: the root is asked again, and a later no of the root's holds below", async () => {
  const home = await session("own", { permissions: [] })
  agent("own", "writer", WRITER)
  const write = (path: string) => ["write", { path, content: "x" }, "w"] as const
  const gate = makeGate()
  act("own", (_, step) => {
    if (step === 0) return callsFor(task({ prompt: "own-kid: write", agent: "writer" }))
    return step === 1 ? callsFor(write("a.txt")) : says("done")
  })
  act("own-kid", (_, step) => {
    if (step === 2) return [{ type: "pause", gate }, ...callsFor(write("a.txt"))]
    return step < 2 ? callsFor(write("a.txt")) : says("done")
  })
  await prompt(home, "t", "own: go")
  await waits(home, "t")
  const [kid] = await childrenOf(home)
  const below = `/sessions/${kid.sessionId}`
  const [{ turnId }] = (await (await api()).get(`${below}/turns`)).body.turns
  await waits(below, turnId)
  // The root allows nothing unasked, so its sub-agent asks, though its own agent would not.
  const [asked] = await open(below)
  expect((await reply(below, asked?.requestId ?? "", "always")).body.grantId).toBeDefined()
  await gate.isReached
  const { revision, ...held } = (await (await api()).get(`${home}/configuration`)).body
  const deny = [{ permission: "edit", pattern: "*", action: "deny" }]
  await (await api()).put(`${home}/configuration`, { ...held, permissions: deny, expectedRevision: revision })
  gate.open()
  const turn = await ended(below, turnId)
  expect(ends(turn)).toEqual(["completed", "completed", "rejected permission.rejected"])
  expect((await (await api()).get(`${home}/grants`)).body.grants).toEqual([])
  const done = await ended(home, "t")
  expect(callsOf(done).map(({ name }) => name)).toEqual(["task", "write"])
  expect(ends(done)[1]).toBe("rejected permission.rejected")
  expect(await request("own", 2)).toBeDefined()
})
