import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { selected, stored } from "../kit/database.ts"
import { folders, startHarness } from "../kit/harness.ts"
import { agree, isChunk, isDone, isToolCall, saidIn } from "../kit/line.ts"
import { Caller, writeAgent } from "../kit/lines.ts"
import { callTool } from "../kit/phoneCall.ts"
import { until } from "../kit/process.ts"
import { makeGate, says, startScriptedModel } from "../kit/scriptedModel.ts"
import { stage } from "../kit/stage.ts"
import { talking } from "../kit/talking.ts"
import { readUntil, wire } from "../kit/wire.ts"

const { act, api, place, requests, server } = stage({ HARNESS_PATIENCE: JSON.stringify({ resume: 20_000 }) })

writeAgent(place.root, "acme")
const acme = { query: "?agent=acme" }
const lookup = { name: "lookup", description: "Looks it up", parameters: { type: "object", properties: {} } }

const call = async (callSid: string, more: object = {}) => Caller.call(await server().up(), callSid, acme, more)
const resume = async (caller: Caller) => caller.resume(await server().up(), acme)

const whole = "One two three. Four five six. Seven eight nine."
const head = "One two three. "

/** A model that stops behind the head, and after a restart says the rest. */
const halting = (name: string) => {
  const goesOn = talking([{ text: whole }], 0)
  act(name, (request, step) =>
    step === 0
      ? [
          { type: "text", text: head },
          { type: "pause", gate: makeGate() },
          { type: "finish", reason: "stop" }
        ]
      : goesOn(request)
  )
}

/** The call is in the middle of a reply whose beginning has arrived, and everybody has put that down. */
const midway = async (name: string) => {
  halting(name)
  const caller = await call(name)
  caller.speak(`${name}: go`)
  const { reply_id } = await caller.line.hear(isChunk)
  await agree(caller.line)
  return { caller, reply_id }
}

const historyOf = async (caller: Caller): Promise<ReadonlyArray<string>> => {
  const { body } = await (await api()).get(`${caller.session}/history`)
  return body.entries
    .filter(({ role }: { role: string }) => role === "assistant")
    .flatMap(({ content }: { content: ReadonlyArray<{ text?: string }> }) => content)
    .flatMap(({ text }: { text?: string }) => (text === undefined ? [] : [text]))
}

const goesOn = async (caller: Caller, replyId: string) => {
  const before = caller.line.frames
  const line = await resume(caller)
  expect(await line.hear(isDone)).toMatchObject({ reply_id: replyId, turn_id: 1 })
  expect(saidIn([...before, ...line.frames], replyId).trim()).toBe(whole)
  expect(await historyOf(caller)).toEqual([whole])
  const { turns } = (await (await api()).get(`${caller.session}/turns`)).body
  expect(turns).toEqual([expect.objectContaining({ state: "completed", attempt: 2 })])
  expect(requests(caller.callSid)).toHaveLength(2)
  act("more", () => says("Still here."))
  caller.speak("more: hello")
  expect(await caller.answer()).toMatchObject({ turnId: 2, said: "Still here." })
}

it("SIGTERM: calls are told last, and go on after the restart with what was not heard yet", async () => {
  const { caller, reply_id } = await midway("term")
  const order: Array<string> = []
  const stream = (await api()).events(`${caller.session}/events`)
  await stream.next()
  const reader = (async () => {
    while ((await stream.next()).done !== true);
    order.push("stream")
  })()
  const closed = caller.line.closed.then(({ code }) => order.push(`line ${code}`))
  const up = server().restart()
  await Promise.all([reader, closed])
  expect(order).toEqual(["stream", "line 1012"])
  await up
  await goesOn(caller, reply_id)
})

it("SIGKILL: the call goes on in the same session with the same reply, and says nothing twice that was put down", async () => {
  const { caller, reply_id } = await midway("kill")
  await stored(place.data, "SELECT 1 FROM voice_reply WHERE reply_id = ? AND delivered >= ?", reply_id, head.length - 1)
  await stored(place.data, "SELECT 1 FROM growth WHERE session_id = 'call-kill'")
  await server().crash()
  await goesOn(caller, reply_id)
})

it("a call that nobody takes up after a restart is over: its turn is cancelled, and the session settles", async () => {
  const { caller } = await midway("gone")
  await server().crash()
  const stream = (await api()).events(`${caller.session}/turns/call-gone-1/events`)
  const seen = await readUntil(stream, ({ type }) => type === "turn.terminal")
  // Nothing stopped the model from saying the rest meanwhile.
  expect(["cancelled", "completed"]).toContain(seen.at(-1)?.data.turn.state)
  await stored(place.data, "SELECT 1 FROM voice_call WHERE session_id = 'call-gone' AND state = 'ended'")
  expect((await (await api()).get(caller.session)).body).toMatchObject({
    metadata: { end: { reason: "connection_lost" } }
  })
})

it("a tool asked for before a kill is not asked for again, and its result is taken after it", async () => {
  const caller = await call("tool", { tools: [lookup] })
  act("tool", talking([{ text: "Let me see. ", tool: "lookup" }, { text: "It is open." }], 0))
  caller.speak("tool: go")
  const { call_id } = await caller.line.hear(isToolCall)
  const old = caller.line
  await server().crash()
  const line = await resume(caller)
  caller.say({ type: "tool:result", call_id, result: "open" })
  const { reply_id } = await line.hear(isDone)
  expect(line.frames.filter(isToolCall)).toEqual([])
  // What was heard before the kill may come again; what comes ends where the reply ends, and there is no gap.
  const [first, second] = [saidIn(old.frames, reply_id), saidIn(line.frames, reply_id)]
  const said = "Let me see. It is open."
  expect(said.startsWith(first.trim())).toBe(true)
  expect(said.endsWith(second.trim())).toBe(true)
  expect(first.length + second.length).toBeGreaterThanOrEqual(said.length)
  expect(await historyOf(caller)).toEqual(["Let me see.", "It is open."])
})

it("L6: a tool of ours that went on without its turn is told of after a kill, once: it ended with the server", async () => {
  const anything = "permissions:\n  - {permission: shell, pattern: '*', action: allow}\n"
  writeAgent(place.root, "busy", "filler: []", anything)
  const [started, go] = [join(place.root, "left.started"), join(place.root, "left.go")]
  const line = `touch ${started}; for n in $(seq 600); do [ -e ${go} ] && break; sleep 0.1; done`
  act("left", () => callTool("shell", { command: line }))
  act("calm", () => says("Yes?"))
  const busy = { query: "?agent=busy" }
  const caller = await Caller.call(await server().up(), "left", busy)
  caller.speak("left: do it")
  await until(() => existsSync(started))
  caller.say({ type: "turn:cancel", turn_id: 1, reason: "barge_in" })
  caller.speak("calm: wait")
  expect(await caller.answer()).toMatchObject({ turnId: 2, said: "Yes?" })
  for (let times = 0; times < 2; times++) {
    await agree(caller.line)
    await server().crash()
    const line = await caller.resume(await server().up(), busy)
    if (times > 0) continue
    const { reply_id } = await line.hear((frame) => isDone(frame) && frame.turn_id === undefined)
    expect(saidIn(line.frames, reply_id).trim()).toBe("Yes?")
  }
  caller.speak("calm: and now")
  await caller.line.hear((frame) => isDone(frame) && frame.turn_id === 3)
  const { turns } = (await (await api()).get(`${caller.session}/turns`)).body
  expect(turns).toHaveLength(4)
  const { entries } = (await (await api()).get(`${caller.session}/history`)).body
  const told = entries.filter(({ custom }: { custom?: { type: string } }) => custom?.type === "voice.late_result")
  expect(told).toHaveLength(1)
  expect(JSON.stringify(told)).toContain("Interrupted: the server stopped")
  writeFileSync(go, "")
})

it("a turn that was put down and not begun is asked for again", async () => {
  const own = folders()
  const model = await startScriptedModel()
  writeAgent(own.root, "acme")
  const dying = await startHarness({
    ...own,
    openaiBaseUrl: model.url,
    env: { HARNESS_CRASH_AT: "after-reply-begun:call-noted:1" }
  })
  const caller = await Caller.call(dying, "noted", acme)
  caller.speak("hello")
  await caller.line.closed
  const up = await startHarness({ ...own, openaiBaseUrl: model.url })
  await caller.resume(up, acme)
  expect(await caller.answer()).toMatchObject({ turnId: 1, said: "Sorry, could you say that again?" })
  const { turns } = (await wire(up).get(`${caller.session}/turns`)).body
  expect(turns).toHaveLength(1)
  expect(model.requests).toEqual([])
  const count = "SELECT count(*) AS n FROM voice_reply WHERE session_id = 'call-noted'"
  expect(selected(own.data, count)).toEqual({ n: 1 })
  await up.stop()
  await model.close()
  own.remove()
})
