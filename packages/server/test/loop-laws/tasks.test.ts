import { expect, it } from "vitest"
import { callsOf, ends } from "../kit/asks.ts"
import { loopStage } from "../kit/loopStage.ts"
import { callsFor, fails, makeGate, says } from "../kit/scriptedModel.ts"
import { messagesOf, textOf } from "../kit/stage.ts"
import { readUntil } from "../kit/wire.ts"

const { act, api, ended, prompt, request, requests, session, sound, told, waits } = loopStage()

const task = (args: object, id = "c0") => ["task", args, id] as const
const childrenOf = async (home: string) => (await (await api()).get(`${home}/children`)).body.children
const statusOf = async (home: string) => (await (await api()).get(`${home}/status`)).body

/** The model starts these sub-agents at once, and then is done. */
const starts = (name: string, ...args: ReadonlyArray<object>) =>
  act(name, (_, step) => (step === 0 ? callsFor(...args.map((one, n) => task(one, `c${n}`))) : says("all done")))

it("a call waits for its sub-agent, who can be read from the start, and gets its result", async () => {
  const home = await session("front", { agent: "general" })
  starts("front", { prompt: "front-kid: look", title: "A look" })
  const gate = makeGate()
  act("front-kid", () => [{ type: "text", text: "half" }, { type: "pause", gate }, ...says(" and whole")])
  const server = readUntil(
    (await api()).events("/events?afterServerCursor=0"),
    ({ data, type }) => type === "session.created" && data.session.spawnedFrom !== undefined
  )
  await prompt(home, "t", "front: go")
  const turn = await waits(home, "t")
  await gate.isReached
  const [call] = callsOf(turn)
  const [child] = await childrenOf(home)
  expect(child).toMatchObject({
    title: "A look",
    workdir: "front",
    state: "running",
    spawnedFrom: { sessionId: "front", turnId: "t", callId: call?.callId }
  })
  expect((await server).at(-1)?.data.session.sessionId).toBe(child.sessionId)
  const status = await statusOf(home)
  expect(status).toMatchObject({ state: "waiting", depth: 0, waitingOn: [{ kind: "child", id: child.sessionId }] })
  const [{ turnId }] = status.children
  expect(status.children).toEqual([{ callId: call?.callId, sessionId: child.sessionId, turnId }])
  const kid = `/sessions/${child.sessionId}`
  expect((await (await api()).get(`${kid}/turns/${turnId}`)).body).toMatchObject({
    state: "running",
    parts: [{ text: "half" }]
  })
  expect(await statusOf(kid)).toMatchObject({ state: "running", depth: 1, activeTurnId: turnId, turnCount: 1 })
  gate.open()
  const done = await ended(home, "t")
  expect(done).toMatchObject({ state: "completed", finalText: "all done" })
  expect(callsOf(done)[0]).toMatchObject({
    state: "completed",
    result: {
      isError: false,
      content: [{ type: "text", text: "half and whole" }],
      details: {
        sessionId: child.sessionId,
        turnId,
        state: "completed",
        text: "half and whole",
        usage: { outputTokens: expect.any(Number) }
      }
    }
  })
  expect(textOf(messagesOf(await request("front", 1)).at(-1) ?? { role: "", content: "" })).toBe("half and whole")
  expect(await statusOf(home)).toMatchObject({ state: "idle", children: [], waitingOn: [] })
  expect((await (await api()).get(`/sessions?parent=front`)).body.sessions).toHaveLength(1)
  await sound("front")
  await sound(child.sessionId)
})

it("whatever becomes of a sub-agent, its call gets one result that says so", async () => {
  const home = await session("ways")
  const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] }
  starts(
    "ways",
    { prompt: "ways-fails: go" },
    { prompt: "ways-json: go", output: { type: "json", schema } },
    { prompt: "ways-misfit: go", output: { type: "json", schema } },
    { prompt: "ways-cancelled: go" },
    { prompt: "ways-steps: go", maxSteps: 2 }
  )
  act("ways-fails", () => fails(400, { message: "no" }))
  act("ways-json", () => says('{"n": 7}'))
  act("ways-misfit", () => says('{"n": "seven"}'))
  const gate = makeGate()
  act("ways-cancelled", () => [{ type: "pause", gate }, ...says("never")])
  act("ways-steps", () => callsFor(["list", { path: "." }]))
  await prompt(home, "t", "ways: go")
  await gate.isReached
  for (const child of await childrenOf(home)) {
    if (
      child.state === "running" &&
      (await (await api()).get(`/sessions/${child.sessionId}/history`)).body.entries[0]?.content[0].text.startsWith(
        "ways-cancelled"
      )
    ) {
      await (await api()).post(`/sessions/${child.sessionId}/cancel`)
    }
  }
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "completed" })
  expect(ends(turn)).toEqual([
    "failed task.failed",
    "completed",
    "failed task.failed",
    "failed task.cancelled",
    "completed"
  ])
  const details = callsOf(turn).map(({ result }) => result?.details)
  expect(details[1]).toMatchObject({ state: "completed", result: { n: 7 } })
  expect(details[2]).toMatchObject({
    state: "completed",
    stopReason: "output_invalid",
    resultError: expect.any(String)
  })
  expect(details[4]).toMatchObject({ stopReason: "max_steps" })
  expect(requests("ways-steps")).toHaveLength(2)
  for (const { sessionId } of await childrenOf(home)) await sound(sessionId)
  await sound("ways")
})

it("a sub-agent in the background settles its call at once, and its result comes as one turn of the parent", async () => {
  const home = await session("back")
  starts("back", { prompt: "back-kid: work", background: true })
  const gate = makeGate()
  act("back-kid", () => [{ type: "pause", gate }, ...says("found it")])
  await prompt(home, "t", "back: go")
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "completed", finalText: "all done" })
  const [call] = callsOf(turn)
  const [child] = await childrenOf(home)
  expect(call?.result?.details).toMatchObject({ sessionId: child.sessionId, background: true })
  await gate.isReached
  const later = readUntil(
    (await api()).events(`${home}/events?afterCursor=0`),
    ({ data }) => data.turnId !== "t" && data.turn?.state === "completed"
  )
  gate.open()
  const { turn: result } = (await later).at(-1)?.data ?? {}
  const whole = (await (await api()).get(`${home}/turns/${result.turnId}`)).body
  expect(whole).toMatchObject({
    prompt: {
      role: "custom",
      custom: { type: "task_result", details: { sessionId: child.sessionId, text: "found it" } }
    }
  })
  const { turns } = (await (await api()).get(`${home}/turns`)).body
  expect(turns.map(({ turnId }: { turnId: string }) => turnId)).toEqual(["t", result.turnId])
  expect(await statusOf(home)).toMatchObject({ state: "idle", turnCount: 2 })
  // The model hears of it in the prompt of that turn.
  const heard = messagesOf(await request("back", 2))
  expect(heard.map(textOf).join("\n")).toContain("found it")
  await sound("back")
})

it("a chain that is waited for can be let go: the call settles, and the result comes as a turn, behind what runs", async () => {
  const home = await session("detach")
  starts("detach", { prompt: "detach-kid: work" }, { prompt: "detach-kid: work more" })
  const gate = makeGate()
  act("detach-kid", async () => {
    await gate.opened
    return says("late")
  })
  const busy = makeGate()
  act("detach-busy", () => [{ type: "pause", gate: busy }, ...says("ok")])
  await prompt(home, "t", "detach: go")
  await waits(home, "t")
  const let_go = await (await api()).post(`${home}/background`)
  expect(let_go).toMatchObject({ status: 200, body: { detached: true } })
  expect(ends(await ended(home, "t"))).toEqual(["completed", "completed"])
  expect((await (await api()).post(`${home}/background`)).body).toEqual({ detached: false })
  await prompt(home, "u", "detach-busy: meanwhile")
  await busy.isReached
  const settled = new Set<string>()
  const results = readUntil((await api()).events(`${home}/events?afterCursor=0`), ({ data }) => {
    if (data.turn?.state === "completed") settled.add(data.turnId)
    return settled.size === 4
  })
  gate.open()
  const queued = readUntil(
    (await api()).events(`${home}/events?afterCursor=0`),
    ({ data }) => data.turn?.state === "queued" && data.turnId.startsWith("result-")
  )
  await queued
  expect(settled.size).toBe(1)
  busy.open()
  await results
  const { turns } = (await (await api()).get(`${home}/turns`)).body
  expect(turns.map(({ prompt }: { prompt: { role: string } }) => prompt.role)).toEqual([
    "user",
    "user",
    "custom",
    "custom"
  ])
  expect(await told("detach", "tool.completed")).toHaveLength(2)
  await sound("detach")
})

it("an own sub-agent is gone on with; nobody else's is", async () => {
  const home = await session("again")
  const other = await session("stranger")
  starts("stranger", { prompt: "again-kid: for somebody else" })
  act("again-kid", (_, step) => says(`answer ${step}`))
  await prompt(other, "t", "stranger: go")
  await ended(other, "t")
  const [theirs] = await childrenOf(other)
  act("again", async (_, step) => {
    if (step === 0) return callsFor(task({ prompt: "again-kid: first" }))
    if (step > 1) return says("done")
    const [own] = await childrenOf(home)
    return callsFor(
      task({ prompt: "again-kid: second", task_id: own.sessionId }, "c0"),
      task({ prompt: "again-kid: steal", task_id: theirs.sessionId }, "c1"),
      task({ prompt: "again-kid: steal", task_id: "stranger" }, "c2"),
      task({ prompt: "again-kid: nobody", task_id: "nobody" }, "c3"),
      task({ prompt: "again-kid: myself", task_id: "again" }, "c4")
    )
  })
  await prompt(home, "t", "again: go")
  const turn = await ended(home, "t")
  expect(ends(turn)).toEqual(["completed", "completed", ...Array(4).fill("failed task.not_yours")])
  const children = await childrenOf(home)
  expect(children).toHaveLength(1)
  const { turns } = (await (await api()).get(`/sessions/${children[0].sessionId}/turns`)).body
  expect(turns).toHaveLength(2)
  expect(messagesOf(await request("again-kid", 2)).map(textOf)).toEqual([
    "again-kid: first",
    "answer 1",
    "again-kid: second"
  ])
  expect(await childrenOf(other)).toHaveLength(1)
  await sound("again")
})
