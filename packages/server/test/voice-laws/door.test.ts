import { once } from "node:events"
import { afterAll, beforeAll, expect, it } from "vitest"
import { layCable } from "../kit/cable.ts"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { agree, openLine, Refused, saidIn } from "../kit/line.ts"
import { Caller, startOf, writeAgent } from "../kit/lines.ts"
import { until } from "../kit/process.ts"
import { type ScriptedModel, says, startScriptedModel } from "../kit/scriptedModel.ts"
import { messagesOf, textOf } from "../kit/stage.ts"
import { wire } from "../kit/wire.ts"

const SECRET = "canary-of-everybody-4711"
const SHOP_SECRET = "canary-of-the-shop-4712"
const WRONG = "canary-nobody-gave-4713"
const WORDS = "canary-in-a-frame-4714"
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })
const mine = { headers: bearer(SECRET) }

let model: ScriptedModel
let server: Harness
const places = folders()
const asked = new Map<string, number>()

/** A call that goes on through everything others do at the door. */
let good: Caller

const goodIsAnswered = async () => {
  const turn = good.speak(`good ${good.turn + 1}`)
  expect(await good.answer()).toMatchObject({ turnId: turn, said: `You said good ${turn}.` })
}

beforeAll(async () => {
  model = await startScriptedModel((request) => {
    const words = textOf(messagesOf(request).findLast(({ role }) => role === "user") ?? { role: "", content: "" })
    asked.set(words, (asked.get(words) ?? 0) + 1)
    return says(`You said ${words}.`)
  })
  writeAgent(places.root, "acme")
  writeAgent(places.root, "general")
  writeAgent(places.root, "other")
  server = await startHarness({
    ...places,
    openaiBaseUrl: model.url,
    env: {
      HARNESS_JAMBONZ_SECRET: SECRET,
      HARNESS_JAMBONZ_SECRET_SHOP: SHOP_SECRET,
      HARNESS_LOG_LEVEL: "debug",
      HARNESS_PATIENCE: JSON.stringify({ start: 1_500, heartbeat: 1_000, resume: 60_000 }),
      HARNESS_CALLS_MAX: "24"
    }
  })
  good = await Caller.call(server, "good", mine)
  await goodIsAnswered()
})

afterAll(async () => {
  await server.stop()
  await model.close()
  places.remove()
})

const refusal = async (opening: ReturnType<typeof openLine>) => {
  const error = await opening.then(
    () => undefined,
    (problem: unknown) => problem
  )
  if (!(error instanceof Refused)) throw new Error(`not refused: ${String(error)}`)
  return error
}

it.each<[string, number, Parameters<typeof openLine>[1]]>([
  ["another subprotocol", 400, { ...mine, protocols: ["chat"] }],
  ["no subprotocol", 400, { ...mine, protocols: [] }],
  ["no secret", 401, {}],
  ["a wrong secret", 401, { headers: bearer(WRONG) }],
  ["the secret of another server", 401, { headers: bearer(SHOP_SECRET) }],
  ["everybody's secret where a server has its own", 401, { ...mine, name: "shop" }],
  ["an API token", 401, { headers: bearer("kit-token-of-an-admin") }],
  ["an unknown agent", 404, { ...mine, query: "?agent=nobody" }],
  ["a name that is none", 400, { ...mine, name: "-" }],
  ["another host", 421, { headers: { ...bearer(SECRET), host: "evil.example" } }],
  ["another host that looks like ours", 421, { headers: { ...bearer(SECRET), host: "localhost.evil.example" } }]
])("%s is refused without an upgrade", async (_, status, options) => {
  const { body, status: found } = await refusal(openLine(server, options))
  expect([found, JSON.parse(body).code]).toEqual([status, expect.any(String)])
  for (const canary of [SECRET, SHOP_SECRET, WRONG]) expect(body).not.toContain(canary)
})

it("a plain GET is refused, with the secret and without", async () => {
  const url = `${server.url}/v1/servers/default/jambonz`
  expect((await fetch(url, { headers: bearer(SECRET) })).status).toBe(400)
  expect((await fetch(url)).status).toBe(401)
})

it("our subprotocol is taken among others, and a server's own secret is its own", async () => {
  const line = await openLine(server, {
    headers: bearer(SHOP_SECRET),
    name: "shop",
    protocols: ["chat", "harness.jambonz.org"]
  })
  expect(line.socket.protocol).toBe("harness.jambonz.org")
  line.socket.close()
  await goodIsAnswered()
})

it.each([
  ["the door's agent, before the verb's", "?agent=acme", { agent: "other" }, "acme"],
  ["the verb's, when we have it", "", { agent: "other" }, "other"],
  ["the default, when we do not have the verb's", "", { agent: "nobody" }, "general"],
  ["the default", "", {}, "general"]
])("who answers: %s", async (name, query, metadata, agent) => {
  const callSid = `agent-${agent}-${name.length}`
  const caller = await Caller.call(server, callSid, { ...mine, query }, { metadata })
  caller.speak("hello")
  await caller.answer()
  const { body } = await wire(server).get(`${caller.session}/turns/call-${callSid}-1`)
  expect(body.agent).toBe(agent)
  caller.say({ type: "session:end", reason: "caller_hangup" })
  expect((await caller.line.closed).code).toBe(1000)
})

it.each<[string, object | string | undefined, number]>([
  ["another protocol", startOf("p2", { protocol: 2 }), 4000],
  ["no protocol", startOf("p0", { protocol: undefined }), 4000],
  ["no session:start in time", undefined, 1008],
  ["a call_sid that cannot name a session", startOf("not a name"), 1008],
  ["a call_sid that is too long", startOf("x".repeat(107)), 1008],
  ["a frame that is too big", JSON.stringify({ ...startOf("big"), metadata: { big: "x".repeat(1_048_576) } }), 1009]
])("%s closes the socket", async (_, frame, code) => {
  const line = await openLine(server, mine)
  if (frame !== undefined) line.say(frame)
  expect(await line.closed).toMatchObject({ code })
  expect(line.frames).toEqual([])
  await goodIsAnswered()
})

it("a session:start behind one that was refused begins no call", async () => {
  const line = await openLine(server, mine)
  line.say(startOf("late-start", { protocol: 2 }))
  line.say(startOf("late-start"))
  expect(await line.closed).toMatchObject({ code: 4000 })
  expect((await wire(server).get("/sessions/call-late-start")).status).toBe(404)
})

it("the longest call_sid names a call", async () => {
  const caller = await Caller.call(server, "y".repeat(106), mine)
  caller.speak("long")
  expect((await caller.answer()).said).toBe("You said long.")
  caller.say({ type: "session:end", reason: "caller_hangup" })
  await caller.line.closed
})

it("a call that is over as soon as it began has its end", async () => {
  const calls = await Promise.all(Array.from({ length: 8 }, (_, n) => Caller.call(server, `short-${n}`, mine)))
  for (const call of calls) {
    call.speak("never mind")
    call.say({ type: "session:end", reason: "caller_hangup" })
    call.line.socket.close()
  }
  for (const call of calls) {
    await call.line.closed
    const end = async () => (await wire(server).get(call.session)).body.metadata?.end
    await expect.poll(end, { timeout: 5_000 }).toMatchObject({ reason: "caller_hangup" })
  }
})

it("frames that make no sense are dropped and logged, and the call goes on", async () => {
  const line = await openLine(server, mine)
  // Before its first frame a call has no turns.
  line.say({ type: "turn:start", call_sid: "senseless", turn_id: 1, input: { type: "speech", text: WORDS } })
  line.say("}{")
  line.say(startOf("senseless"))
  line.socket.send(Buffer.from(JSON.stringify({ type: "session:end", call_sid: "senseless" })), { binary: true })
  const nonsense: ReadonlyArray<object | string> = [
    "",
    `{"type": "turn:start", "text": "${WORDS}"`,
    "[]",
    "null",
    '"turn:start"',
    { call_sid: "senseless", text: WORDS },
    { type: "turn:begin", call_sid: "senseless", text: WORDS },
    { type: "__proto__", call_sid: "senseless" },
    { type: "turn:start", call_sid: "senseless", input: { type: "speech", text: WORDS } },
    { type: "turn:start", call_sid: "senseless", turn_id: "one" },
    { type: "turn:start", call_sid: "senseless", turn_id: -1 },
    { type: "turn:start", call_sid: "good", turn_id: 99, input: { type: "speech", text: WORDS } },
    { type: "event", call_sid: "good", name: "user_interruption", reply_id: "r", spoken: "", unspoken: "" },
    { type: "event", call_sid: "senseless", name: "user_interruption" },
    { type: "event", call_sid: "senseless", name: "never_heard_of", text: WORDS },
    { type: "event", call_sid: "senseless" },
    startOf("senseless"),
    startOf("another")
  ]
  for (const frame of nonsense) line.say(frame)
  line.say({ type: "turn:start", call_sid: "senseless", turn_id: 1, input: { type: "speech", text: "sense" } })
  const chunk = await line.hear(({ type }) => type === "reply:done")
  expect(chunk).toMatchObject({ turn_id: 1 })
  expect(asked.get(WORDS)).toBeUndefined()
  expect((await wire(server).get("/sessions/call-another")).status).toBe(404)
  const { turns } = (await wire(server).get("/sessions/call-senseless/turns")).body
  expect(turns).toHaveLength(1)
  const log = server.log()
  for (const what of ["before session:start", "malformed_json", "unknown_type", "another call", "binary"]) {
    expect(log).toContain(what)
  }
  line.say({ type: "session:end", call_sid: "senseless", reason: "caller_hangup" })
  await line.closed
  await goodIsAnswered()
})

it("turns said twice, out of order or under other words, and ids nobody gave, have no effect", async () => {
  const caller = await Caller.call(server, "ids", mine)
  const start = (turn_id: number, text: string) =>
    caller.say({ type: "turn:start", turn_id, input: { type: "speech", text } })
  start(3, "ids three")
  start(3, "ids three")
  start(3, "ids other three")
  start(2, "ids two")
  expect(await caller.answer()).toMatchObject({ turnId: 3, said: "You said ids three." })
  start(3, "ids three")
  start(0, "ids zero")
  const id = { reply_id: "01JUNKJUNKJUNKJUNKJUNKJUNK" }
  caller.say({ type: "event", name: "reply_spoken", ...id })
  caller.say({ type: "event", name: "reply_dropped", reason: "replaced", ...id })
  caller.say({ type: "event", name: "user_interruption", spoken: "x", unspoken: "y", ...id })
  caller.say({ type: "event", name: "error", code: "unknown", message: "no", ref: id.reply_id })
  caller.say({ type: "event", name: "transfer", command_id: "c", outcome: "failed" })
  caller.say({ type: "tool:result", call_id: "t", result: {} })
  caller.say({ type: "command:result", command_id: "c", ok: true })
  caller.say({ type: "turn:cancel", turn_id: 77, reason: "barge_in" })
  start(9, "ids nine")
  expect(await caller.answer()).toMatchObject({ turnId: 9, said: "You said ids nine." })
  expect([...asked].filter(([words]) => words.startsWith("ids"))).toEqual([
    ["ids three", 1],
    ["ids nine", 1]
  ])
  caller.say({ type: "session:end", reason: "caller_hangup" })
  await caller.line.closed
  await goodIsAnswered()
})

it("a flood of frames is taken in as fast as it can be, and nobody else waits for it", async () => {
  const caller = await Caller.call(server, "flood", mine)
  const junk = { type: "event", name: "reply_spoken", reply_id: "01JUNKJUNKJUNKJUNKJUNKJUNK" }
  for (let n = 0; n < 3_000; n++) {
    caller.line.say("{}")
    caller.say(junk)
    caller.say({ type: "transcript", turn_id: 1, text: "more".repeat(n % 50), final: false })
  }
  await goodIsAnswered()
  caller.speak("flooded")
  expect((await caller.answer()).said).toBe("You said flooded.")
  await goodIsAnswered()
  caller.say({ type: "session:end", reason: "caller_hangup" })
  await caller.line.closed
  // What is dropped again and again is not told again and again.
  expect(server.log().split("missing_type").length).toBeLessThan(100)
})

it("a peer that does not read, and a line that went dead without a word, are found; their calls wait", async () => {
  const cable = await layCable(server.url)
  const deaf = await Caller.call(server, "deaf", mine)
  const dead = await Caller.call(cable, "dead", mine)
  for (const caller of [deaf, dead]) {
    caller.speak("first")
    await caller.answer()
    await agree(caller.line)
  }
  deaf.line.socket.pause()
  cable.goDead()
  const isLost = (callSid: string) =>
    server
      .log()
      .split("\n")
      .some((line) => line.includes("a line was lost") && line.includes(`"call-${callSid}"`))
  await until(() => isLost("deaf") && isLost("dead"))
  for (const caller of [deaf, dead]) {
    await caller.resume(server, mine)
    caller.speak("second")
    const { reply_id } = await caller.line.hear(({ turn_id, type }) => type === "reply:done" && turn_id === 2)
    expect(saidIn(caller.line.frames, reply_id).trim()).toBe("You said second.")
    expect(caller.line.frames.filter(({ turn_id, type }) => type === "reply:chunk" && turn_id === 1)).toEqual([])
    expect((await wire(server).get(`${caller.session}/turns`)).body.turns).toHaveLength(2)
    caller.say({ type: "session:end", reason: "caller_hangup" })
    await caller.line.closed
  }
  deaf.line.socket.terminate()
  await cable.close()
  await goodIsAnswered()
})

it("a server that has as many calls as it takes says so at once", async () => {
  const callers: Array<Caller> = []
  const fill = async (): Promise<Refused> => {
    for (let n = 0; n < 30; n++) {
      try {
        const caller = await Caller.call(server, `full-${n}`, mine)
        callers.push(caller)
        caller.speak("hi")
        await caller.answer()
      } catch (error) {
        if (error instanceof Refused) return error
        throw error
      }
    }
    throw new Error("never full")
  }
  expect((await fill()).status).toBe(503)
  for (const caller of callers) caller.say({ type: "session:end", reason: "caller_hangup" })
  await Promise.all(callers.map(({ line }) => line.closed))
  await goodIsAnswered()
})

it("through all of this the good call was one call, and no secret came out", async () => {
  const { body } = await wire(server).get("/sessions/call-good/turns?limit=100")
  expect(body.turns.map(({ state }: { state: string }) => state)).toEqual(
    Array.from({ length: good.turn }, () => "completed")
  )
  expect([...asked].filter(([words, times]) => words.startsWith("good") && times !== 1)).toEqual([])
  good.say({ type: "session:end", reason: "caller_hangup" })
  await good.line.closed
  const api = wire(server)
  const shown = [server.log(), JSON.stringify(good.line.frames)]
  for (const path of [
    "/sessions",
    "/sessions/call-good",
    "/sessions/call-good/configuration",
    "/sessions/call-good/history"
  ]) {
    shown.push(JSON.stringify((await api.get(path)).body))
  }
  for (const canary of [SECRET, SHOP_SECRET, WRONG, WORDS]) {
    expect(shown.filter((text) => text.includes(canary)).map((text) => text.slice(0, 200))).toEqual([])
  }
})

it("without a secret only this machine may call", async () => {
  const open = await startHarness({ ...places, data: folders().data, openaiBaseUrl: model.url })
  const wide = await startHarness({
    ...places,
    data: folders().data,
    openaiBaseUrl: model.url,
    env: { HARNESS_HOST: "0.0.0.0" }
  })
  const line = await openLine(open)
  line.socket.close()
  await once(line.socket, "close")
  const url = wide.url.replace("0.0.0.0", "127.0.0.1")
  expect((await refusal(openLine({ url }))).status).toBe(401)
  expect((await refusal(openLine({ url }, { headers: bearer(WRONG) }))).status).toBe(401)
  await Promise.all([open.stop(), wide.stop()])
})
