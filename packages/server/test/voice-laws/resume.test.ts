import { existsSync } from "node:fs"
import { expect, it } from "vitest"
import { layCable } from "../kit/cable.ts"
import { selected } from "../kit/database.ts"
import { agree, isChunk, isDone, isToolCall, openLine, saidIn } from "../kit/line.ts"
import { Caller, writeAgent } from "../kit/lines.ts"
import { until } from "../kit/process.ts"
import { callsFor, type Gate, makeGate, type Step, says } from "../kit/scriptedModel.ts"
import { stage } from "../kit/stage.ts"
import { readUntil } from "../kit/wire.ts"

const { act, api, place, server } = stage({ HARNESS_PATIENCE: JSON.stringify({ resume: 10_000, end: 3_000 }) })

writeAgent(place.root, "acme")
writeAgent(
  place.root,
  "works",
  "filler: []",
  'tools: [shell]\npermissions:\n  - { permission: shell, pattern: "*", action: allow }'
)

const at = (agent: string) => ({ query: `?agent=${agent}` })
const call = async (callSid: string, agent = "acme", more: object = {}) =>
  Caller.call(await server().up(), callSid, at(agent), more)
const resume = async (caller: Caller, more: object = {}) => caller.resume(await server().up(), at("acme"), more)

/** Text in pieces, each behind a gate but the first. */
const inPieces = (
  ...pieces: ReadonlyArray<string>
): { readonly steps: ReadonlyArray<Step>; readonly gates: ReadonlyArray<Gate> } => {
  const gates = pieces.slice(1).map(makeGate)
  const steps = pieces.flatMap((text, index): ReadonlyArray<Step> => {
    const gate = gates[index - 1]
    return [...(gate === undefined ? [] : [{ type: "pause" as const, gate }]), { type: "text", text }]
  })
  return { steps: [...steps, { type: "finish", reason: "stop" }], gates }
}

/** The whole history, as text. */
const saidOn = async (caller: Caller): Promise<ReadonlyArray<string>> => {
  const { body } = await (await api()).get(`${caller.session}/history`)
  return body.entries
    .filter(({ role }: { role: string }) => role === "assistant")
    .flatMap(({ content }: { content: ReadonlyArray<{ text?: string }> }) => content)
    .flatMap(({ text }: { text?: string }) => (text === undefined ? [] : [text]))
}
const ended = async (caller: Caller, turnId: string) => {
  const stream = (await api()).events(`${caller.session}/turns/${turnId}/events`)
  const seen = await readUntil(stream, ({ type }) => type === "turn.terminal")
  return seen.at(-1)?.data.turn
}

const whole = "One two three. Four five six. Seven eight nine."
const thirds = ["One two three. ", "Four five six. ", "Seven eight nine."] as const

it("a cut line: what arrived is not said again, the rest is, in order, under the same reply", async () => {
  const caller = await call("cut")
  const { gates, steps } = inPieces(...thirds)
  act("cut", () => steps)
  caller.speak("cut: go")
  const first = await caller.line.hear(isChunk)
  await agree(caller.line)
  const old = caller.line
  old.socket.terminate()
  gates[0]?.open()
  await gates[1]?.isReached
  const line = await resume(caller)
  const second = await line.hear(isChunk)
  expect(second).toMatchObject({ reply_id: first.reply_id, turn_id: 1 })
  gates[1]?.open()
  expect(await line.hear(isDone)).toMatchObject({ reply_id: first.reply_id, turn_id: 1 })
  expect(saidIn([...old.frames, ...line.frames], first.reply_id).trim()).toBe(whole)
  expect(line.frames.filter(isDone)).toHaveLength(1)
  expect(await saidOn(caller)).toEqual([whole])
})

it("a line that died half-open: what went into it is said again, once, and the call is one", async () => {
  const cable = await layCable((await server().up()).url)
  const caller = await Caller.call(cable, "half", at("acme"))
  const { gates, steps } = inPieces(...thirds)
  act("half", () => steps)
  caller.speak("half: go")
  const { reply_id } = await caller.line.hear(isChunk)
  await agree(caller.line)
  const old = caller.line
  cable.goDead()
  gates[0]?.open()
  await gates[1]?.isReached
  gates[1]?.open()
  await ended(caller, "call-half-1")
  const line = await resume(caller)
  await line.hear(isDone)
  expect(saidIn([...old.frames, ...line.frames], reply_id).trim()).toBe(whole)
  expect(new Set(line.frames.map((frame) => frame.reply_id))).toEqual(new Set([reply_id]))
  expect(await saidOn(caller)).toEqual([whole])
  old.socket.terminate()
  await cable.close()
})

it("a line that lives is closed when the call goes on over another, which hears nothing before it says who it is", async () => {
  const caller = await call("taken")
  const { gates, steps } = inPieces(...thirds)
  act("taken", () => steps)
  caller.speak("taken: go")
  const { reply_id } = await caller.line.hear(isChunk)
  await agree(caller.line)
  const old = caller.line
  const silent = await openLine(await server().up(), at("acme"))
  gates[0]?.open()
  await old.hear(isChunk)
  await agree(old)
  await agree(silent)
  expect(silent.frames).toEqual([])
  caller.line = silent
  caller.say({ type: "session:start", protocol: 1, resumed: true, last_turn_id: 1, tools: [] })
  expect((await old.closed).code).toBe(4001)
  gates[1]?.open()
  await silent.hear(isDone)
  expect(saidIn([...old.frames, ...silent.frames], reply_id).trim()).toBe(whole)
  // The old line's end is not the call's.
  act("after", () => says("Still here."))
  caller.speak("after: hello")
  expect(await caller.answer()).toMatchObject({ turnId: 2, said: "Still here." })
})

it("a reply that the other side has forgotten goes on under another id, and what was heard of both is one", async () => {
  const caller = await call("forgot")
  const { gates, steps } = inPieces(...thirds)
  act("forgot", () => steps)
  caller.speak("forgot: go")
  const { reply_id } = await caller.line.hear(isChunk)
  await agree(caller.line)
  const old = caller.line
  old.socket.terminate()
  gates[0]?.open()
  await gates[1]?.isReached
  const line = await resume(caller)
  await line.hear(isChunk)
  const error = { type: "event", name: "error", code: "unknown_reply", message: "no such reply", ref: reply_id }
  caller.say(error)
  caller.say(error)
  const again = await line.hear((frame) => isChunk(frame) && frame.reply_id !== reply_id)
  expect(again.turn_id).toBe(1)
  gates[1]?.open()
  expect((await line.hear(isDone)).reply_id).toBe(again.reply_id)
  const said = saidIn(old.frames, reply_id) + saidIn(line.frames, again.reply_id)
  expect(said.trim()).toBe(whole)
  caller.say({
    type: "event",
    name: "user_interruption",
    turn_id: 1,
    reply_id: again.reply_id,
    spoken: "Four five",
    unspoken: " six. Seven eight nine."
  })
  act("next", () => says("Yes."))
  caller.speak("next: wait")
  await caller.answer()
  expect(await saidOn(caller)).toEqual(["One two three. Four five", "Yes."])
})

it("a turn whose start was lost is asked for again", async () => {
  const caller = await call("lost")
  const { steps } = inPieces(...thirds)
  act("lost", () => steps)
  caller.speak("lost: go")
  await caller.line.hear(isChunk)
  caller.line.socket.terminate()
  caller.turn = 2
  const line = await resume(caller)
  expect(await caller.answer()).toMatchObject({ turnId: 2, said: "Sorry, could you say that again?" })
  expect(line.frames.filter(({ turn_id }) => turn_id === 1)).toEqual([])
  expect(await ended(caller, "call-lost-1")).toMatchObject({ state: "cancelled" })
  act("again", () => says("Now I hear you."))
  caller.speak("again: go")
  expect(await caller.answer()).toMatchObject({ turnId: 3, said: "Now I hear you." })
})

it("a call that is not known here begins a session under its id, with a notice, and is asked again", async () => {
  const line = await openLine(await server().up(), at("acme"))
  line.socket.close()
  const caller = await call("unknown", "acme", { resumed: true, last_turn_id: 4 })
  caller.turn = 4
  expect(await caller.answer()).toMatchObject({ turnId: 4, said: "Sorry, could you say that again?" })
  const { body } = await (await api()).get(caller.session)
  expect(body.metadata.notices).toEqual([expect.objectContaining({ code: "call.unknown" })])
  act("unknown", () => says("Welcome."))
  caller.speak("unknown: go")
  expect(await caller.answer()).toMatchObject({ turnId: 5, said: "Welcome." })
})

it("a tool asked for before a cut gives its result after it, and one asked for meanwhile is asked for then", async () => {
  const tools = ["first", "second"].map((name) => ({ name, description: name, parameters: { type: "object" } }))
  const caller = await call("tools", "acme", { tools })
  const gate = makeGate()
  act("tools", (_, step) => {
    if (step === 0) return callsFor(["first", {}, "one"])
    if (step === 1) return [{ type: "pause", gate }, ...callsFor(["second", {}, "two"])]
    return says("Both done.")
  })
  caller.speak("tools: go")
  const first = await caller.line.hear(isToolCall)
  caller.line.socket.terminate()
  const line = await resume(caller)
  caller.say({ type: "tool:result", call_id: first.call_id, result: "one" })
  await gate.isReached
  line.socket.terminate()
  const log = (await server().up()).log
  const losses = () =>
    log()
      .split("\n")
      .filter((row) => row.includes("a line was lost") && row.includes('"call-tools"'))
  await until(() => losses().length === 2)
  gate.open()
  const asked = "SELECT 1 FROM voice_request WHERE session_id = 'call-tools' AND name = 'jambonz.second'"
  await until(() => selected(place.data, asked) !== undefined)
  const last = await resume(caller)
  const second = await last.hear(isToolCall)
  expect(second).toMatchObject({ name: "second", turn_id: 1 })
  caller.say({ type: "tool:result", call_id: second.call_id, result: "two" })
  expect((await caller.answer()).said).toBe("Both done.")
  expect([...line.frames, ...last.frames].filter(isToolCall)).toHaveLength(1)
})

it("a call that does not come back is over: its turn is cancelled and its session settles", async () => {
  const caller = await call("never")
  const { steps } = inPieces(...thirds)
  act("never", () => steps)
  caller.speak("never: go")
  await caller.line.hear(isChunk)
  caller.line.socket.terminate()
  expect(await ended(caller, "call-never-1")).toMatchObject({ state: "cancelled" })
  await until(
    () => selected(place.data, "SELECT 1 FROM voice_call WHERE call_sid = 'never' AND state = 'ended'") !== undefined
  )
  const { body } = await (await api()).get(caller.session)
  expect(body.metadata.end).toEqual({ reason: "connection_lost" })
  // Late is better than never: the caller is not dropped.
  act("late", () => says("You are back."))
  const line = await resume(caller)
  caller.speak("late: hello")
  await line.hear((frame) => isDone(frame) && frame.turn_id === 2)
  expect((await (await api()).get(caller.session)).body.metadata.end).toBeUndefined()
})

it("at the end of a call generation stops, a tool that ends soon is recorded, and one that does not is ended", async () => {
  const command = (text: string) => callsFor(["shell", { command: text }, "t"])
  const { steps } = inPieces(...thirds)
  act("talk", () => steps)
  act("soon", () => command("touch soon; sleep 1; echo well-done"))
  act("long", () => command("touch long; sleep 600"))
  const parts: Record<string, unknown> = {}
  for (const name of ["talk", "soon", "long"]) {
    const caller = await call(`end-${name}`, "works")
    caller.speak(`${name}: go`)
    if (name === "talk") await caller.line.hear(isChunk)
    else {
      await until(() => existsSync(`${place.root}/${name}`))
    }
    caller.say({ type: "session:end", reason: "caller_hangup", duration_ms: 1_234 })
    expect((await caller.line.closed).code).toBe(1000)
    const turn = await ended(caller, `call-end-${name}-1`)
    expect(turn.state).toBe("cancelled")
    const whole = (await (await api()).get(`${caller.session}/turns/call-end-${name}-1`)).body
    parts[name] = whole.parts.find(({ type }: { type: string }) => type === "tool")
    const { body } = await (await api()).get(caller.session)
    expect(body.metadata.end).toEqual({ reason: "caller_hangup", duration_ms: 1_234 })
  }
  expect(parts["soon"]).toMatchObject({ state: "completed" })
  expect(JSON.stringify(parts["soon"])).toContain("well-done")
  expect(parts["long"]).toMatchObject({ state: "cancelled" })
})

it("a turn on a call that has ended runs, and is not spoken", async () => {
  const caller = await call("over")
  caller.say({ type: "session:end", reason: "caller_hangup" })
  await caller.line.closed
  act("after-end", () => says("Nobody **hears** this."))
  await (await api()).put(`${caller.session}/turns/t1`, { content: "after-end: go" })
  await ended(caller, "t1")
  const { body } = await (await api()).get(`${caller.session}/turns/t1`)
  expect(body).toMatchObject({ state: "completed", finalText: "Nobody **hears** this." })
  expect(body.parts.filter(({ type }: { type: string }) => type === "notice")).toEqual([
    expect.objectContaining({ code: "call_ended" })
  ])
  expect(caller.line.frames).toEqual([])
})

it("a turn on a call that has ended does not wait for the call's tools, of which it is told none", async () => {
  const caller = await call("over-tools")
  caller.say({ type: "session:end", reason: "caller_hangup" })
  await caller.line.closed
  const offered: Array<unknown> = []
  act("after-tools", ({ body }, step) => {
    offered.push(body)
    return step === 0 ? callsFor(["hangup", {}, "one"]) : says("Nobody hears this.")
  })
  await (await api()).put(`${caller.session}/turns/t1`, { content: "after-tools: go" })
  expect(await ended(caller, "t1")).toMatchObject({ state: "completed", finalText: "Nobody hears this." })
  expect(JSON.stringify(offered[0])).not.toContain("hangup")
})

it("a live call whose session is deleted is over, and nothing of it is left", async () => {
  const caller = await call("deleted")
  const { steps } = inPieces(...thirds)
  act("deleted", () => steps)
  caller.speak("deleted: go")
  await caller.line.hear(isChunk)
  const { status } = await (await api()).send("DELETE", `/servers/default${caller.session}`)
  expect(status).toBe(200)
  expect((await caller.line.closed).code).toBe(1008)
  for (const table of ["voice_call", "voice_reply", "voice_request"]) {
    expect(selected(place.data, `SELECT 1 FROM ${table} WHERE session_id = 'call-deleted'`)).toBeUndefined()
  }
  // What is deleted stays deleted.
  const line = await resume(caller)
  expect((await line.closed).code).toBe(1011)
})
