import { expect, it } from "vitest"
import { callsOf, ends } from "../kit/asks.ts"
import { loopStage } from "../kit/loopStage.ts"
import { callsFor, type ScriptedRequest, says } from "../kit/scriptedModel.ts"
import { messagesOf, textOf } from "../kit/stage.ts"

const { act, api, deliver, ended, prompt, request, requests, server, session, sound, told, waits } = loopStage()

const tool = (name: string, more: object = {}) => ({
  name,
  description: `does ${name}`,
  inputSchema: { type: "object", properties: { x: { type: "number" } } },
  ...more
})
const LONG = "n".repeat(80)
const NAMES = ["a.b", "a_b", "a-b", "a..b", `${LONG}one`, `${LONG}two`, "x.y.z"]

/** The tools of a request, by what they are for. */
const offered = ({ body }: ScriptedRequest): ReadonlyMap<string, string> =>
  new Map(
    JSON.parse(JSON.stringify(body)).tools.map((it: { function: { name: string; description: string } }) => [
      it.function.description.replace(/^does /, ""),
      it.function.name
    ])
  )

/** One external call, waiting. */
const waiting = async (name: string, more: object = {}, calls = 1) => {
  const home = await session(name, { externalTools: [tool("look.up", more)] })
  act(name, (_, step) =>
    step === 0
      ? callsFor(...Array.from({ length: calls }, (_, n) => ["look_up", { x: n }, `c${n}`] as const))
      : says("I see")
  )
  await prompt(home, "t", `${name}: look`)
  const turn = await waits(home, "t")
  return { home, turn, ids: callsOf(turn).map(({ callId }) => callId) }
}

/** The result as the model was told it. */
const lastResult = async (name: string) => {
  const result = messagesOf(await request(name, 1)).find(({ role }) => role === "tool")
  return textOf(result ?? { role: "", content: "" })
}

it("tools of a client are offered under names every provider takes, the same after a restart, and each is called as itself", async () => {
  const home = await session("names", { externalTools: NAMES.map((name) => tool(name)) })
  let names: ReadonlyMap<string, string> = new Map()
  act("names", (asked, step) => {
    if (step > 0) return says("done")
    names = offered(asked)
    return callsFor(...NAMES.map((name, x) => [names.get(name) ?? "", { x }, `c${x}`] as const))
  })
  await prompt(home, "t", "names: call them all")
  const turn = await waits(home, "t")
  expect(callsOf(turn).map(({ name }) => name)).toEqual(NAMES)
  const given = NAMES.map((name) => names.get(name) ?? "")
  for (const name of given) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
  expect(new Set(given).size).toBe(NAMES.length)
  expect((await told("names", "tool.requested")).map(({ call }) => [call.name, call.external])).toEqual(
    NAMES.map((name) => [name, true])
  )
  await server().crash()
  for (const [index, { callId }] of callsOf(turn).entries()) {
    const { body } = await deliver(home, "t", callId, { content: `result of ${NAMES[index]}` })
    expect(body).toEqual({ resolved: true, turnResumed: index === NAMES.length - 1 })
  }
  expect(await ended(home, "t")).toMatchObject({ state: "completed", finalText: "done" })
  const again = await request("names", 1)
  expect(offered(again)).toEqual(names)
  const results = messagesOf(again).filter(({ role }) => role === "tool")
  expect(results.map(textOf)).toEqual(NAMES.map((name) => `result of ${name}`))
  await sound("names")
})

it("a result comes as text, as parts, or as an error, and the model gets it well-formed", async () => {
  const image = { type: "image", mime: "image/png", data: "iVBORw0KGgo=" }
  const cases = [
    ["text", { content: "plain" }, "plain", "completed"],
    ["parts", { content: [{ type: "text", text: "one" }, { type: "text", text: "two" }, image] }, "one", "completed"],
    ["error", { content: "broken", isError: true }, "broken", "failed tool.failed"],
    ["code", { content: "gone", isError: true, details: { code: "http.404" } }, "gone", "failed http.404"],
    ["details", { content: "fine", details: { rows: 3 } }, "fine", "completed"],
    ["blank", { content: "" }, "", "completed"],
    ["nothing", { content: [] }, "", "completed"],
    ["surrogate", { content: "a\ud83d b" }, "a\ufffd b", "completed"]
  ] as const
  for (const [name, body, said, end] of cases) {
    const { home, ids } = await waiting(name)
    expect(await deliver(home, "t", ids[0] ?? "", body)).toMatchObject({ status: 200, body: { resolved: true } })
    const turn = await ended(home, "t")
    expect(ends(turn), name).toEqual([end])
    expect(await lastResult(name)).toContain(said)
    expect(turn.finalText).toBe("I see")
    await sound(name)
  }
})

it("L2: the first settlement stands: of many at once one is resolved, and whatever comes later is not", async () => {
  const { home, ids } = await waiting("first")
  const [id = ""] = ids
  const many = await Promise.all(
    Array.from({ length: 8 }, (_, n) => deliver(home, "t", id, { content: `result ${n}` }))
  )
  expect(many.map(({ status }) => status)).toEqual(Array(8).fill(200))
  expect(many.filter(({ body }) => body.resolved)).toHaveLength(1)
  const turn = await ended(home, "t")
  const winner = many.findIndex(({ body }) => body.resolved)
  expect(callsOf(turn)[0]?.result?.content).toEqual([{ type: "text", text: `result ${winner}` }])
  const late = await deliver(home, "t", id, { content: "late" })
  expect(late).toMatchObject({ status: 200, body: { resolved: false, turnResumed: false } })
  expect(await told("first", "tool.completed")).toHaveLength(1)
  expect(requests("first")).toHaveLength(2)
  await sound("first")
})

it("what is unknown, not external, or no longer waits is not resolved, and nothing is run by it", async () => {
  const { home, ids } = await waiting("unknown")
  const none = { status: 200, body: { resolved: false, turnResumed: false } }
  expect(await deliver(home, "t", "call_01ARZ3NDEKTSV4RRFFQ69G5FAV", { content: "x" })).toMatchObject(none)
  expect(await deliver(home, "other", ids[0] ?? "", { content: "x" })).toMatchObject(none)
  expect(await deliver(home, "t", ids[0] ?? "", { action: "execute" })).toMatchObject(none)
  expect((await deliver(home, "t", ids[0] ?? "", { result: "x" })).status).toBe(400)
  const asks = await session("asks", { permissions: [] })
  act("asks", (_, step) => (step === 0 ? callsFor(["shell", { command: "echo hi" }]) : says("ok")))
  await prompt(asks, "t", "asks: go")
  const [call] = callsOf(await waits(asks, "t"))
  // A person's yes is not something a client can bring.
  expect(await deliver(asks, "t", call?.callId ?? "", { content: "as if it had run" })).toMatchObject(none)
  expect(await deliver(asks, "t", call?.callId ?? "", { action: "execute" })).toMatchObject(none)
  expect((await (await api()).get(`${asks}/permissions`)).body.permissions).toHaveLength(1)
  await (await api()).post(`${asks}/cancel`)
  await deliver(home, "t", ids[0] ?? "", { content: "ok" })
  await ended(home, "t")
  await sound("unknown")
})

it("two calls of one step wait each for its own result; the last one lets the turn go on", async () => {
  const { home, ids } = await waiting("two", {}, 2)
  expect((await deliver(home, "t", ids[1] ?? "", { content: "second" })).body).toEqual({
    resolved: true,
    turnResumed: false
  })
  expect((await (await api()).get(`${home}/status`)).body).toMatchObject({
    state: "waiting",
    pendingCalls: [ids[0]],
    waitingOn: [{ kind: "external", id: ids[0] }]
  })
  expect((await deliver(home, "t", ids[0] ?? "", { content: "first" })).body).toEqual({
    resolved: true,
    turnResumed: true
  })
  await ended(home, "t")
  const results = messagesOf(await request("two", 1)).filter(({ role }) => role === "tool")
  expect(results.map(textOf)).toEqual(["first", "second"])
  await sound("two")
})

it("after a cancel a result comes too late, without an error", async () => {
  const { home, ids } = await waiting("cancel")
  await (await api()).post(`${home}/turns/t/cancel`)
  expect((await deliver(home, "t", ids[0] ?? "", { content: "late" })).body).toEqual({
    resolved: false,
    turnResumed: false
  })
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "cancelled" })
  expect(ends(turn)).toEqual(["cancelled call.not_run"])
  const next = await (await api()).put(`${home}/turns/next?waitMillis=20000`, { content: "next: hi" })
  expect(next.body).toMatchObject({ state: "completed" })
  await sound("cancel")
})

it("arguments that do not fit, and a policy that says no, end an external call at once", async () => {
  const home = await session("bad", { externalTools: [tool("look.up")], tools: { deny: ["secret.*"] } })
  act("bad", (_, step) => (step === 0 ? callsFor(["look_up", { x: "text" }]) : says("ok")))
  await prompt(home, "t", "bad: look")
  expect(ends(await ended(home, "t"))).toEqual(["failed tool.arguments_invalid"])
  const denied = await session("denied", { externalTools: [tool("look.up")], tools: { deny: ["look.*"] } })
  act("denied", (_, step) => (step === 0 ? callsFor(["look_up", { x: 1 }], ["look.up", { x: 1 }]) : says("ok")))
  await prompt(denied, "t", "denied: look")
  for (const end of ends(await ended(denied, "t")))
    expect(end).toMatch(/^(rejected policy.denied|failed tool.not_found)$/)
  const ruled = await session("ruled", {
    externalTools: [tool("look.up")],
    permissions: [{ permission: "external", pattern: "look.*", action: "deny" }]
  })
  act("ruled", (_, step) => (step === 0 ? callsFor(["look_up", { x: 1 }]) : says("ok")))
  await prompt(ruled, "t", "ruled: look")
  expect(ends(await ended(ruled, "t"))).toEqual(["rejected permission.rejected"])
})

it("a call whose time is over while the server is away ends on its start; one in time waits on", async () => {
  const short = await waiting("short", { pendingTimeoutMillis: 1 })
  const long = await waiting("long", { pendingTimeoutMillis: 3_600_000 })
  await server().crash()
  const turn = await ended(short.home, "t")
  expect(ends(turn)).toEqual(["failed tool.pending_timeout"])
  expect(turn).toMatchObject({ state: "completed", finalText: "I see", attempt: 1 })
  expect((await deliver(short.home, "t", short.ids[0] ?? "", { content: "late" })).body.resolved).toBe(false)
  expect((await (await api()).get(`${long.home}/turns/t`)).body.state).toBe("waiting")
  expect((await deliver(long.home, "t", long.ids[0] ?? "", { content: "in time" })).body.resolved).toBe(true)
  await ended(long.home, "t")
  await sound("short")
})

it("a call whose time is over is ended while the server runs, too", { timeout: 60_000 }, async () => {
  const { home } = await waiting("sweep", { pendingTimeoutMillis: 10 })
  expect(ends(await ended(home, "t"))).toEqual(["failed tool.pending_timeout"])
  expect(await lastResult("sweep")).not.toBe("")
})

it("a client's tool of a name we know stands in for ours, and is offered once", async () => {
  for (const name of ["read", "task", "question", "submit_result"]) {
    const id = name.replace("_", "-")
    const home = await session(id, { externalTools: [tool(name), tool(name)] })
    let names: ReadonlyArray<string> = []
    act(id, (asked, step) => {
      if (step > 0) return says("ok")
      names = JSON.parse(asked.text).tools.map((it: { function: { name: string } }) => it.function.name)
      return callsFor([name, { x: 1, prompt: "child: hello", path: "." }])
    })
    await prompt(home, "t", `${id}: go`)
    const [call] = callsOf(await waits(home, "t"))
    expect(names.filter((it) => it.startsWith(name))).toEqual([name])
    expect((await deliver(home, "t", call?.callId ?? "", { content: "from the client" })).body.resolved).toBe(true)
    expect(ends(await ended(home, "t"))).toEqual(["completed"])
    expect((await (await api()).get(`${home}/children`)).body.children).toEqual([])
  }
})
