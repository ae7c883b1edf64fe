import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { callsFor, makeGate, type ScriptedModel, type Step, says, startScriptedModel } from "../kit/scriptedModel.ts"
import { wire } from "../kit/wire.ts"

const place = folders()
let model: ScriptedModel
let server: Harness
beforeAll(async () => {
  model = await startScriptedModel(() => says("hello from afar"))
  server = await startHarness(place)
})
afterAll(async () => {
  await server.stop()
  await model.close()
  place.remove()
})

const write = (content: string) => writeFileSync(join(place.data, "harness.json"), content)

it("a provider that comes while the process runs answers the next turn; a bad file changes nothing", async () => {
  const { put, send } = wire(server)
  const session = { model: "mine/some-model" }
  const before = await put("/sessions/s", session)
  expect([before.status, before.body.code]).toEqual([400, "model.unknown"])
  write(JSON.stringify({ providers: [{ id: "mine", baseUrl: model.url }] }))
  const reloaded = await send("POST", "/runtime/reload")
  expect(reloaded.status).toBe(200)
  // The file may have been seen before it was asked for.
  expect(reloaded.body).toMatchObject({ revision: 1, failures: [] })
  expect((await put("/sessions/s", session)).status).toBe(201)
  write('{"providers": [')
  const refused = await send("POST", "/runtime/reload", { reason: "a try" })
  expect(refused.body).toMatchObject({ revision: 1, changed: [] })
  expect(refused.body.failures).toMatchObject([{ name: "harness.json", failure: { code: "settings.invalid" } }])
  expect(JSON.stringify(refused.body)).not.toContain(place.data)
  const turn = await put("/sessions/s/turns/t?waitMillis=10000", { content: "hello" })
  expect(turn.body).toMatchObject({ state: "completed", finalText: "hello from afar" })
  expect((await send("POST", "/runtime/reload", { why: "x" })).status).toBe(400)
})

it("a provider that moves while a turn runs is asked in its new place from the next step on", async () => {
  const { put, send } = wire(server)
  const gate = makeGate()
  const slow: ReadonlyArray<Step> = [{ type: "pause", gate }, ...callsFor(["list", { path: "." }])]
  const old = await startScriptedModel(() => slow)
  write(JSON.stringify({ providers: [{ id: "mover", baseUrl: old.url }] }))
  await send("POST", "/runtime/reload")
  await put("/sessions/moving", { model: "mover/x" })
  const turn = put("/sessions/moving/turns/t?waitMillis=20000", { content: "hello" })
  await gate.isReached
  write(JSON.stringify({ providers: [{ id: "mover", baseUrl: model.url }] }))
  await send("POST", "/runtime/reload")
  gate.open()
  expect((await turn).body).toMatchObject({ state: "completed", finalText: "hello from afar" })
  expect(old.requests).toHaveLength(1)
  await old.close()
})

it("limits hold for turns that name none themselves, for a session and for a whole tree", async () => {
  const { put, send } = wire(server)
  const spend: ReadonlyArray<Step> = [
    { type: "text", text: "dear" },
    { type: "finish", reason: "stop" },
    { type: "usage", usage: { prompt_tokens: 6_000, completion_tokens: 0, total_tokens: 6_000 } }
  ]
  model.script(({ text }) =>
    text.includes("loop")
      ? callsFor(["list", { path: "." }])
      : text.includes("delegate") && !text.includes("dear child")
        ? callsFor(["task", { prompt: "be a dear child" }])
        : spend
  )
  const providers = [{ id: "mine", baseUrl: model.url }]
  const set = async (limits: object) => {
    write(JSON.stringify({ providers, model: "mine/x", limits }))
    expect((await send("POST", "/runtime/reload")).body.failures).toEqual([])
  }
  const run = async (session: string, turn: string, content: string, options: object = {}) => {
    await put(`/sessions/${session}`)
    return (await put(`/sessions/${session}/turns/${turn}?waitMillis=20000`, { content, options })).body
  }
  await set({ maxSteps: 2 })
  expect(await run("steps", "t1", "loop")).toMatchObject({ stopReason: "max_steps", steps: [{ step: 1 }, { step: 2 }] })
  expect((await run("steps", "t2", "loop", { maxSteps: 1 })).steps).toHaveLength(1)

  await set({ session: { maxTokens: 10_000 } })
  expect(await run("dear", "t1", "hello")).toMatchObject({ stopReason: "end", finalText: "dear" })
  const over = await run("dear", "t2", "hello")
  expect(over).toMatchObject({ state: "completed", stopReason: "end" })
  const stopped = await run("dear", "t3", "hello")
  expect(stopped).toMatchObject({ state: "completed", stopReason: "budget", steps: [] })
  expect(stopped.parts).toMatchObject([{ type: "notice", code: "budget" }])
  expect(stopped.parts[0].message).toMatch(/^The session may use 10000 tokens: 12000 are spent/)
  // A fork did not spend what it was copied from.
  await send("POST", "/servers/default/sessions/dear/forks/cheap", {})
  expect(await run("cheap", "t1b", "hello")).toMatchObject({ stopReason: "end" })

  await set({ tree: { maxTokens: 5_000 } })
  const delegated = await run("parent", "t", "delegate")
  expect(delegated).toMatchObject({ stopReason: "budget", steps: [{ step: 1 }] })
  expect(delegated.parts.at(-1).message).toMatch(
    /^The session and its sub-agents may use 5000 tokens: 60\d\d are spent/
  )

  await set({ turn: { maxTokens: 5 } })
  expect((await run("small", "t", "hello")).stopReason).toBe("budget")
  expect((await run("small", "t2", "hello", { budget: { maxTokens: 100_000 } })).stopReason).toBe("end")
})
