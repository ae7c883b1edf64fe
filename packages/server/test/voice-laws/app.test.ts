import { createHmac } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { isChunk, isDone, type Line, openLine, Refused } from "../kit/line.ts"
import { type ScriptedModel, startScriptedModel } from "../kit/scriptedModel.ts"
import { wire } from "../kit/wire.ts"

const SECRET = "jambonz-secret-of-the-kit"
const OTHER = "secret-of-the-branch"

const agentFile = `---
description: Answers the telephone.
tools: []
voice:
  greeting: Thanks for calling Acme.
  filler: [{ en: "Just a second.", de: "Einen Moment." }]
  language: de
  summary: true
  fillerAfterMillis: 60000
  verb:
    label: acme
    stt: { vendor: deepgramflux, language: de-DE }
    firstChunkTimeoutMs: 3000
    onHarnessFailure: { say: "Please hold.", transfer: "+15085550100" }
---
You answer calls for Acme.
`

let model: ScriptedModel
let server: Harness
const places = folders()
const call = { account_sid: "acc", application_sid: "app", direction: "inbound", from: "+15085550100", to: "+1508" }

beforeAll(async () => {
  model = await startScriptedModel()
  mkdirSync(join(places.root, ".harness/agents"), { recursive: true })
  writeFileSync(join(places.root, ".harness/agents/acme.md"), agentFile)
  server = await startHarness({
    ...places,
    openaiBaseUrl: model.url,
    env: { HARNESS_JAMBONZ_SECRET: SECRET, HARNESS_JAMBONZ_SECRET_BRANCH: OTHER }
  })
})

afterAll(async () => {
  await server.stop()
  await model.close()
  places.remove()
})

// As long as a busy machine may need.
const patience = { timeout: 30_000 }

const basic = (password: string) => ({
  authorization: `Basic ${Buffer.from(`jambonz:${password}`).toString("base64")}`
})
const signed = (body: string, secret = SECRET, seconds = Math.floor(Date.now() / 1000)) => ({
  "jambonz-signature": `t=${seconds},v1=${createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")}`
})

const post = async (hook: string, body: object, headers: Record<string, string> = basic(SECRET), name = "default") => {
  const response = await fetch(`${server.url}/v1/servers/${name}/jambonz/${hook}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body)
  })
  return { status: response.status, body: await response.json() }
}

const facts = (path: string) => wire(server).get(`/jambonz/calls/${path}`)
const session = (callSid: string) => wire(server).get(`/sessions/call-${callSid}`)
const history = async (callSid: string): Promise<ReadonlyArray<{ role: string; custom?: { type: string } }>> =>
  (await wire(server).get(`/sessions/call-${callSid}/history`)).body.entries

const beginCall = async (call_sid: string): Promise<Line> => {
  const line = await openLine(server, { query: "?agent=acme", headers: { authorization: `Bearer ${SECRET}` } })
  line.say({ type: "session:start", call_sid, protocol: 1, ...call, metadata: {}, tools: [] })
  line.say({ type: "turn:start", call_sid, turn_id: 1, input: { type: "greeting" } })
  await line.hear(isDone)
  return line
}

it("a call's webhook is answered with the verb that points it here, as its agent's file has it", async () => {
  const { body, status } = await post("app?agent=acme", { call_sid: "c1", ...call, sip: { headers: {} }, new_field: 1 })
  expect(status).toBe(200)
  expect(body).toEqual([
    {
      verb: "agent",
      stt: { vendor: "deepgramflux", language: "de-DE" },
      llm: {
        vendor: "harness",
        label: "acme",
        harness: {
          metadata: { agent: "acme", firstChunkTimeoutMs: 3000 },
          firstChunkTimeoutMs: 3000,
          holdingPhrase: "Einen Moment.",
          onHarnessFailure: { say: "Please hold.", transfer: "+15085550100" }
        }
      },
      noResponseTimeout: 10,
      toolHook: "/v1/servers/default/jambonz/tool?call_sid=c1",
      eventHook: "/v1/servers/default/jambonz/event?call_sid=c1",
      actionHook: "/v1/servers/default/jambonz/done?call_sid=c1"
    }
  ])
  expect((await facts("c1")).body.facts).toMatchObject([
    { kind: "application", body: { call_sid: "c1", sip: { headers: {} }, new_field: 1 } }
  ])
  const plain = await post("app", { call_sid: "c1" })
  expect(plain.body[0].llm.harness.metadata.agent).toBe("general")
  expect(await post("app?agent=nobody", { call_sid: "c1" })).toMatchObject({
    status: 404,
    body: { code: "agent.not_found" }
  })
  expect(await post("app", { from: "+1" })).toMatchObject({ status: 400, body: { code: "request.invalid" } })
})

it("jambonz comes in with the secret as a password or as a signature, others with a token that may write", async () => {
  const body = { call_sid: "auth" }
  const text = JSON.stringify(body)
  const enters = async (headers: Record<string, string>, name?: string) =>
    (await post("app", body, headers, name)).status
  expect(await enters(basic(SECRET))).toBe(200)
  expect(await enters(signed(text))).toBe(200)
  expect(await enters({ authorization: `Bearer ${server.token}` })).toBe(200)
  expect(await enters(basic(OTHER), "branch")).toBe(200)
  expect(await enters({})).toBe(401)
  expect(await enters(basic("wrong"))).toBe(401)
  expect(await enters(basic(SECRET), "branch")).toBe(401)
  expect(await enters(signed(`${text} `))).toBe(401)
  expect(await enters(signed(text, "wrong"))).toBe(401)
  expect(await enters(signed(text, SECRET, Math.floor(Date.now() / 1000) - 3600))).toBe(401)
  expect(await enters({ "jambonz-signature": "v1=" })).toBe(401)
  expect(await enters({ authorization: `Bearer ${SECRET}` })).toBe(401)
  const open = await fetch(`${server.url}/v1/servers/default/jambonz/calls/auth`, { headers: basic(SECRET) })
  expect(open.status).toBe(401)
  expect(server.log()).not.toContain(SECRET)
})

it("without a secret this machine is let in, and what is known of calls still wants a token", async () => {
  const own = folders()
  const bare = await startHarness(own)
  const headers = { "content-type": "application/json" }
  const url = `${bare.url}/v1/servers/default/jambonz`
  const app = await fetch(`${url}/app`, { method: "POST", headers, body: '{"call_sid":"x"}' })
  expect(app.status).toBe(200)
  expect((await fetch(`${url}/calls/x`)).status).toBe(401)
  await bare.stop()
  own.remove()
})

it("a tool nobody has is answered with an error, and the call goes on", async () => {
  const asked = { tool_call_id: "t1", name: "lookup", arguments: '{"a":1}', call_sid: "c1" }
  expect(await post("tool", asked)).toEqual({ status: 200, body: { error: "there is no tool of that name" } })
  expect((await post("tool", { name: "lookup" })).status).toBe(400)
})

it("what jambonz tells of a call stays on it: how turns went, that we were given up, how it ended", async () => {
  model.script(() => [
    { type: "text", text: "We open at eight." },
    { type: "finish", reason: "stop" }
  ])
  const callSid = "told"
  const line = await beginCall(callSid)
  line.say({ type: "turn:start", call_sid: callSid, turn_id: 2, input: { type: "speech", text: "When do you open?" } })
  await line.hear(isChunk)
  const done = await line.hear(isDone)
  const end = (turn_id: number, ms: number) => ({
    type: "turn_end",
    call_sid: callSid,
    turn_id,
    transcript: "When do you open?",
    engine: "harness",
    harness: { turn_record: done.turn_record, later: true },
    latency: { harness_first_chunk_ms: ms, stt_ms: 7 },
    brand_new: { kept: "yes" }
  })
  expect(await post("event", end(1, 40))).toEqual({ status: 200, body: {} })
  expect((await post("event", { ...end(2, 120), call_sid: undefined }, basic(SECRET))).status).toBe(400)
  expect((await post(`event?call_sid=${callSid}`, { ...end(2, 110), call_sid: undefined })).status).toBe(200)
  expect((await post("event", end(2, 120))).status).toBe(200)
  await post("event", { type: "llm_response", call_sid: callSid, response: "never heard" })
  await post("event", { type: "not_yet_known", call_sid: callSid, x: 1 })
  await post("event", { call_sid: callSid, call_status: "in-progress" })
  await post("event", { type: "harness_failure", call_sid: callSid, reason: "no_reply", message: "gave up", y: 2 })
  line.say({ type: "session:end", call_sid: callSid, reason: "caller_hangup", duration_ms: 900 })
  const error = { reason: "no_reply", message: "gave up" }
  expect(
    await post("done", { call_sid: callSid, completionReason: "harness_failure", harness_error: error, z: 3 })
  ).toEqual({ status: 200, body: [] })

  const turn = await facts(`${callSid}?turn=2`)
  expect(turn.body.turnId).toBe(`call-${callSid}-2`)
  expect(turn.body.facts.map(({ kind }: { kind: string }) => kind)).toEqual(["latency", "turn_end"])
  expect(turn.body.facts[1].body).toMatchObject({ brand_new: { kept: "yes" }, harness: { later: true } })
  expect(turn.body.facts[1].body.harness.turn_record.model_calls).toHaveLength(1)
  const whole = await facts(callSid)
  expect(whole.body.facts).toMatchObject([
    { kind: "call_status", body: { call_status: "in-progress" } },
    { kind: "done", body: { completion_reason: "harness_failure", harness_error: error, z: 3 } },
    { kind: "event:not_yet_known", body: { x: 1 } },
    { kind: "harness_failure", body: { reason: "no_reply", y: 2 } }
  ])
  expect(whole.body.turns).toMatchObject([
    { turnId: `call-${callSid}-1`, first_chunk_ms: expect.any(Number), jambonz_first_chunk_ms: 40 },
    { turnId: `call-${callSid}-2`, model_first_token_ms: expect.any(Number), jambonz_first_chunk_ms: 120 }
  ])
  expect(whole.body.turns[0].model_first_token_ms).toBeUndefined()
  await expect
    .poll(async () => (await session(callSid)).body.metadata, patience)
    .toMatchObject({
      call_sid: callSid,
      end: { reason: "caller_hangup", duration_ms: 900 },
      harness_failure: error,
      done: { completion_reason: "harness_failure", harness_error: error },
      latency: {
        model_first_token_ms: { turns: 1 },
        first_chunk_ms: { turns: 2 },
        jambonz_first_chunk_ms: { turns: 2, p50: 40, p95: 120 }
      }
    })
})

it("a call that has ended is summed up once, also when the server dies before it is", async () => {
  const callSid = "summed"
  const summary = "Somebody asked when Acme opens."
  model.script(() => new Promise(() => {}))
  const line = await beginCall(callSid)
  const before = model.requests.length
  line.say({ type: "session:end", call_sid: callSid, reason: "caller_hangup" })
  await expect.poll(() => model.requests.length, patience).toBe(before + 1)
  await server.kill()
  model.script(() => [
    { type: "text", text: summary },
    { type: "finish", reason: "stop" }
  ])
  server = await startHarness({
    ...places,
    openaiBaseUrl: model.url,
    env: { HARNESS_JAMBONZ_SECRET: SECRET, HARNESS_JAMBONZ_SECRET_BRANCH: OTHER }
  })
  const written = async () => (await history(callSid)).filter(({ custom }) => custom?.type === "voice.summary")
  await expect.poll(written, patience).toHaveLength(1)
  expect(await written()).toMatchObject([{ role: "custom", content: [{ type: "text", text: summary }] }])
  const asked = JSON.stringify(model.requests.at(-1)?.body)
  expect(asked).toContain("Thanks for calling Acme.")
})

it("a deleted call leaves nothing behind, and is told nothing more", async () => {
  const callSid = "gone"
  const line = await beginCall(callSid)
  await post("event", { type: "turn_end", call_sid: callSid, turn_id: 1, transcript: "a word of the caller" })
  line.say({ type: "session:end", call_sid: callSid, reason: "caller_hangup" })
  await expect.poll(async () => (await session(callSid)).body.metadata?.end, patience).toBeDefined()
  expect((await wire(server).send("DELETE", `/servers/default/sessions/call-${callSid}`)).status).toBe(200)
  expect((await post("done", { call_sid: callSid, completion_reason: "done" })).status).toBe(200)
  expect((await facts(callSid)).status).toBe(404)
  expect((await facts("never")).status).toBe(404)
})

it("the application is a socket too: verbs in the ack, and tools, events and the end as messages", async () => {
  const { WebSocket } = await import("ws")
  const url = `${server.url.replace("http", "ws")}/v1/servers/default/jambonz/app?agent=acme`
  const refused = await new Promise((resolve) => {
    const socket = new WebSocket(url, ["ws.jambonz.org"])
    socket.on("unexpected-response", (_, response) => resolve(response.statusCode))
    socket.on("error", () => {})
  })
  expect(refused).toBe(401)
  const wrong = openLine(server, { query: "/app", headers: { authorization: `Bearer ${server.token}` } })
  await expect(wrong).rejects.toThrow(Refused)
  const socket = new WebSocket(url, ["ws.jambonz.org"], { headers: basic(SECRET) })
  const heard: Array<unknown> = []
  socket.on("message", (data) => heard.push(JSON.parse(data.toString())))
  await new Promise((resolve) => socket.once("open", resolve))
  expect(socket.protocol).toBe("ws.jambonz.org")
  const say = (message: object | string) => socket.send(typeof message === "string" ? message : JSON.stringify(message))
  say("no JSON")
  say({ type: "session:new", msgid: "m1", call_sid: "ws1", data: { call_sid: "ws1", ...call } })
  say({ type: "agent:tool-call", msgid: "m2", call_sid: "ws1", data: { tool_call_id: "t1", name: "x", args: {} } })
  const turn = { type: "turn_end", turn_id: 1, latency: { harness_first_chunk_ms: 5 } }
  say({ type: "agent:event", msgid: "m3", call_sid: "ws1", hook: "/v1/servers/default/jambonz/event", data: turn })
  say({ type: "something:new", msgid: "m4", call_sid: "ws1", data: {} })
  const hook = "/v1/servers/default/jambonz/done?call_sid=ws1"
  say({ type: "verb:hook", msgid: "m5", call_sid: "ws1", hook, data: { completion_reason: "hangup" } })
  await expect.poll(() => heard, patience).toHaveLength(3)
  expect(heard).toMatchObject([
    { type: "ack", msgid: "m1", data: [{ verb: "agent", llm: { vendor: "harness", label: "acme" } }] },
    { type: "command", command: "llm:tool-output", tool_call_id: "t1", data: { error: expect.any(String) } },
    { type: "ack", msgid: "m5" }
  ])
  socket.close()
  const told = await facts("ws1")
  expect(told.body.facts.map(({ kind }: { kind: string }) => kind)).toEqual(["application", "done"])
  expect(told.body.turns).toEqual([{ turnId: "call-ws1-1", jambonz_first_chunk_ms: 5 }])
})
