import { expect, it } from "vitest"
import { callsOf, ends } from "../kit/asks.ts"
import { loopStage } from "../kit/loopStage.ts"
import { callsFor, type ScriptedRequest, type Step, says } from "../kit/scriptedModel.ts"
import { messagesOf, textOf } from "../kit/stage.ts"

const { act, api, deliver, ended, prompt, request, requests, server, session, sound, waits } = loopStage()

/** This family takes no schema itself: a tool is how it hands its result in. */
const PLAIN = { model: "openai/gpt-4-plain" }
const SCHEMA = {
  type: "object",
  properties: { n: { type: "number" }, list: { type: "array", items: { type: "string" } } },
  required: ["n"],
  additionalProperties: false
}
const json = (schema?: unknown) => ({
  options: { output: { type: "json", ...(schema === undefined ? {} : { schema }) } }
})
const bodyOf = ({ body }: ScriptedRequest) => JSON.parse(JSON.stringify(body))
const toolsOf = (asked: ScriptedRequest): ReadonlyArray<string> =>
  (bodyOf(asked).tools ?? []).map((tool: { function: { name: string } }) => tool.function.name)
const submit = (value: object, id = "c0") => ["submit_result", value, id] as const
const inTurn = (name: string, ...answers: ReadonlyArray<ReadonlyArray<Step>>) =>
  act(name, (_, step) => answers[step] ?? says("one too many"))

it("a model that has it is asked for JSON natively, and what fits is the result", async () => {
  const home = await session("native")
  inTurn("native", says('{"n": 7,', ' "list": ["é"]}'))
  await prompt(home, "t", "native: count", json(SCHEMA))
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "completed", stopReason: "end", result: { n: 7, list: ["é"] } })
  expect(turn.resultError).toBeUndefined()
  const asked = await request("native", 0)
  expect(bodyOf(asked).response_format).toMatchObject({
    type: "json_schema",
    json_schema: { schema: { required: ["n"] } }
  })
  expect(toolsOf(asked)).not.toContain("submit_result")
  expect((await (await api()).get(`${home}/status`)).body.result).toEqual({ n: 7, list: ["é"] })
  await sound("native")
})

it("what does not fit is told, path by path, and tried again; the nudge is not part of the history", async () => {
  const home = await session("again")
  const many = JSON.stringify({ n: "x", list: Array.from({ length: 30 }, (_, n) => n), more: 1 })
  inTurn("again", says("sorry, no"), says(many), says('```json\n{"n": 1}\n```'))
  await prompt(home, "t", "again: count", json(SCHEMA))
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "completed", stopReason: "end", result: { n: 1 } })
  expect(turn.steps).toHaveLength(3)
  const nudges = [1, 2].map(async (index) =>
    textOf(messagesOf(await request("again", index)).at(-1) ?? { role: "", content: "" })
  )
  expect(await nudges[0]).toContain("JSON")
  const second = (await nudges[1])?.split("\n").filter((line) => line.startsWith("- ")) ?? []
  expect(second.length).toBeGreaterThan(1)
  expect(second.length).toBeLessThanOrEqual(10)
  expect(second.join()).toContain("n")
  const { entries } = (await (await api()).get(`${home}/history`)).body
  expect(entries.map(({ role }: { role: string }) => role)).toEqual(["user", "assistant", "assistant", "assistant"])
  await sound("again")
})

it("after two more tries the turn ends without a result, and says what was wrong with the last", async () => {
  for (const [name, more, answer] of [
    ["native-never", {}, says('{"n": "seven"}')],
    ["tool-never", PLAIN, callsFor(submit({ n: "seven" }))],
    ["text-never", PLAIN, says("I would rather not")]
  ] as const) {
    const home = await session(name, more)
    act(name, () => answer)
    await prompt(home, "t", `${name}: count`, json(SCHEMA))
    const turn = await ended(home, "t")
    expect(turn, name).toMatchObject({
      state: "completed",
      stopReason: "output_invalid",
      resultError: expect.any(String)
    })
    expect(turn.rejected).toEqual(name === "text-never" ? "I would rather not" : { n: "seven" })
    expect(turn.result).toBeUndefined()
    expect(requests(name)).toHaveLength(3)
    expect((await (await api()).get(`${home}/status`)).body.resultError).toBe(turn.resultError)
    const next = await (await api()).put(`${home}/turns/next?waitMillis=20000`, { content: "next: hello" })
    expect(next.body).toMatchObject({ state: "completed", stopReason: "end" })
    await sound(name)
  }
})

it("other models hand the result in by a tool, which ends the turn after its siblings", async () => {
  const home = await session("hand-in", PLAIN)
  inTurn("hand-in", callsFor(submit({ n: 3 }), ["list", { path: "." }, "c1"]))
  await prompt(home, "t", "hand-in: count", json(SCHEMA))
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "completed", stopReason: "end", result: { n: 3 } })
  expect(ends(turn)).toEqual(["completed", "completed"])
  expect(toolsOf(await request("hand-in", 0))).toContain("submit_result")
  expect(requests("hand-in")).toHaveLength(1)
  const { entries } = (await (await api()).get(`${home}/history`)).body
  expect(entries.map(({ role }: { role: string }) => role)).toEqual(["user", "assistant", "tool", "tool"])
  // Without a contract the tool is gone; its history still makes a valid request.
  await prompt(home, "next", "after-hand-in: hello")
  await ended(home, "next")
  expect(toolsOf(await request("after-hand-in", 0))).not.toContain("submit_result")
  await sound("hand-in")
})

it("a result that was handed in is remembered while a sibling waits, also across a restart", async () => {
  const look = { name: "look", description: "looks", inputSchema: { type: "object" } }
  const home = await session("sibling", { ...PLAIN, externalTools: [look], permissions: [] })
  inTurn("sibling", callsFor(submit({ n: 4 }), ["look", {}, "c1"], ["shell", { command: "echo hi" }, "c2"]))
  await prompt(home, "t", "sibling: count", json(SCHEMA))
  const turn = await waits(home, "t")
  expect(callsOf(turn).map(({ state }) => state)).toEqual(["completed", "waiting", "waiting"])
  await server().crash()
  const { permissions } = (await (await api()).get(`${home}/permissions`)).body
  await (await api()).post(`${home}/permissions/${permissions[0].requestId}/reply`, { reply: "reject" })
  expect((await waits(home, "t")).state).toBe("waiting")
  await deliver(home, "t", callsOf(turn)[1]?.callId ?? "", { content: "seen" })
  const done = await ended(home, "t")
  expect(done).toMatchObject({ state: "completed", stopReason: "end", result: { n: 4 } })
  expect(requests("sibling")).toHaveLength(1)
  await sound("sibling")
})

it("a refused hand-in gets its result in the history, and the next one may be right; plain JSON text is taken too", async () => {
  const home = await session("refused", PLAIN)
  inTurn("refused", callsFor(submit({})), callsFor(submit({ n: 1, extra: true })), callsFor(submit({ n: 9 })))
  await prompt(home, "t", "refused: count", json(SCHEMA))
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ stopReason: "end", result: { n: 9 } })
  expect(ends(turn)).toEqual(["failed output.invalid", "failed output.invalid", "completed"])
  const text = await session("in-words", PLAIN)
  inTurn("in-words", says('{"n": 2}'))
  await prompt(text, "t", "in-words: count", json(SCHEMA))
  expect(await ended(text, "t")).toMatchObject({ stopReason: "end", result: { n: 2 } })
  await sound("refused")
})

it("results that are no objects, and JSON without a schema, come as they are", async () => {
  const list = await session("list", PLAIN)
  inTurn("list", callsFor(submit({ result: [1, 2] })))
  await prompt(list, "t", "list: count", json({ type: "array", items: { type: "number" } }))
  expect(await ended(list, "t")).toMatchObject({ stopReason: "end", result: [1, 2] })
  for (const [name, said, result] of [
    ["null", "null", null],
    ["text", '"only words"', "only words"],
    ["number", " 12 ", 12]
  ] as const) {
    const home = await session(`any-${name}`)
    inTurn(`any-${name}`, says(said))
    await prompt(home, "t", `any-${name}: go`, json())
    const turn = await ended(home, "t")
    expect(turn.stopReason).toBe("end")
    expect(turn.result).toEqual(result)
  }
})

it("at its most steps a turn under contract ends so, without a result", async () => {
  const home = await session("capped", PLAIN)
  act("capped", () => callsFor(["list", { path: "." }]))
  await prompt(home, "t", "capped: count", { options: { ...json(SCHEMA).options, maxSteps: 2 } })
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "completed", stopReason: "max_steps" })
  expect(turn.result).toBeUndefined()
  expect(requests("capped")).toHaveLength(2)
})

it("a schema that cannot be meant is refused when it is submitted, and starts nothing", async () => {
  const home = await session("schema")
  const bad = [
    { type: "nonsense" },
    { type: "object", properties: 7 },
    { $ref: "#/nowhere" },
    { $ref: "http://127.0.0.1:9/x" },
    { pattern: "(", type: "string" }
  ]
  for (const schema of bad) {
    const answer = await (await api()).put(`${home}/turns/bad`, { content: "schema: x", ...json(schema) })
    expect(answer, JSON.stringify(schema)).toMatchObject({ status: 400, body: { code: "schema.invalid" } })
  }
  expect((await (await api()).get(`${home}/turns`)).body.turns).toEqual([])
  expect(requests("schema")).toEqual([])
})

it("what somebody says after a result was handed in is heard, and the next result stands", async () => {
  const look = { name: "look", description: "looks", inputSchema: { type: "object" } }
  const home = await session("steered", { ...PLAIN, externalTools: [look] })
  const list = ["list", { path: "." }, "c0"] as const
  inTurn("steered", callsFor(submit({ n: 1 }), ["look", {}, "c1"]), callsFor(list), callsFor(submit({ n: 2 })))
  await prompt(home, "t", "steered: count", json(SCHEMA))
  const turn = await waits(home, "t")
  await (await api()).post(`${home}/turns/t/steer/s1`, { content: "count again" })
  await deliver(home, "t", callsOf(turn)[1]?.callId ?? "", { content: "seen" })
  expect(await ended(home, "t")).toMatchObject({ stopReason: "end", result: { n: 2 } })
  expect(requests("steered")).toHaveLength(3)
  await sound("steered")
})
