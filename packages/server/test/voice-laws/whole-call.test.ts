import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { isChunk, isDone, isToolCall, openLine, saidIn } from "../kit/line.ts"
import { assertValidRequest, type ScriptedModel, startScriptedModel } from "../kit/scriptedModel.ts"
import { wire } from "../kit/wire.ts"

let model: ScriptedModel
let server: Harness
const places = folders()

const agentFile = `---
description: Answers the telephone.
tools: []
voice:
  greeting: Thanks for calling Acme.
  filler: []
---
You answer calls for Acme.
`

beforeAll(async () => {
  model = await startScriptedModel()
  mkdirSync(join(places.root, ".harness/agents"), { recursive: true })
  writeFileSync(join(places.root, ".harness/agents/acme.md"), agentFile)
  server = await startHarness({ ...places, openaiBaseUrl: model.url })
})

afterAll(async () => {
  await server.stop()
  await model.close()
  places.remove()
})

it("L12: the protocol page's whole call, and only what was heard of it is history", async () => {
  model.script(({ body }) => {
    const { messages } = body as { messages: ReadonlyArray<{ role: string }> }
    if (messages.at(-1)?.role === "user") {
      return [
        { type: "toolCall", id: "t", name: "get_hours", arguments: "{}" },
        { type: "finish", reason: "tool_calls" }
      ]
    }
    return [
      { type: "text", text: "We're open eight to six " },
      { type: "text", text: "on weekdays." },
      { type: "finish", reason: "stop" }
    ]
  })
  const line = await openLine(server, { query: "?agent=acme" })
  const call_sid = "whole"
  line.say({
    type: "session:start",
    call_sid,
    protocol: 1,
    account_sid: "acc",
    application_sid: "app",
    direction: "inbound",
    from: "+15085550100",
    to: "+15085550199",
    language: "en-US",
    sip_headers: {},
    metadata: {},
    tools: [
      {
        type: "function",
        function: { name: "get_hours", description: "Opening hours", parameters: { type: "object", properties: {} } }
      }
    ]
  })
  line.say({ type: "turn:start", call_sid, turn_id: 1, input: { type: "greeting" } })
  const greeting = await line.hear(isChunk)
  expect(greeting).toMatchObject({
    turn_id: 1,
    chunk: { object: "chat.completion.chunk", choices: [{ delta: { content: "Thanks for calling Acme." } }] }
  })
  expect(await line.hear(isDone)).toMatchObject({
    reply_id: greeting.reply_id,
    turn_id: 1,
    turn_record: { route: "line", model_calls: [] }
  })
  line.say({ type: "event", name: "reply_spoken", call_sid, reply_id: greeting.reply_id })
  line.say({ type: "speech:start", call_sid, turn_id: 2 })
  line.say({ type: "transcript", call_sid, turn_id: 2, text: "When are you", final: false })
  line.say({ type: "transcript", call_sid, turn_id: 2, text: "When are you open", final: true })
  line.say({
    type: "turn:start",
    call_sid,
    turn_id: 2,
    input: { type: "speech", text: "When are you open", language: "en-US" }
  })
  const tool = await line.hear(isToolCall)
  expect(tool).toMatchObject({ turn_id: 2, name: "get_hours", args: {} })
  line.say({ type: "tool:result", call_sid, call_id: tool.call_id, result: { weekdays: "8am to 6pm" } })
  const hours = await line.hear(isChunk)
  await line.hear(isDone)
  expect(saidIn(line.frames, hours.reply_id)).toBe("We're open eight to six on weekdays.")
  line.say({
    type: "event",
    name: "user_interruption",
    call_sid,
    turn_id: 2,
    reply_id: hours.reply_id,
    spoken: "We're open eight",
    unspoken: " to six on weekdays."
  })
  line.say({ type: "turn:cancel", call_sid, turn_id: 2, reason: "barge_in" })
  model.script(() => [
    { type: "text", text: "Goodbye!" },
    { type: "finish", reason: "stop" }
  ])
  line.say({ type: "turn:start", call_sid, turn_id: 3, input: { type: "speech", text: "Thanks, bye" } })
  const bye = await line.hear(isChunk)
  expect(bye).toMatchObject({ turn_id: 3 })
  await line.hear(isDone)
  line.say({ type: "session:end", call_sid, reason: "caller_hangup", duration_ms: 41_250 })
  line.socket.close()
  for (const request of model.requests) assertValidRequest(request.body)
  const last = model.requests.at(-1)?.body as { messages: ReadonlyArray<{ role: string; content: unknown }> }
  expect(JSON.stringify(last.messages)).toContain("We're open eight")
  expect(JSON.stringify(last.messages)).not.toContain("to six")
  const { body } = await wire(server).get(`/sessions/call-${call_sid}/history`)
  const said = body.entries
    .filter(({ role }: { role: string }) => role === "assistant")
    .flatMap(({ content }: { content: ReadonlyArray<{ type: string; text?: string }> }) => content)
    .flatMap(({ text }: { text?: string }) => (text === undefined ? [] : [text]))
  expect(said).toEqual(["Thanks for calling Acme.", "We're open eight", "Goodbye!"])
})
