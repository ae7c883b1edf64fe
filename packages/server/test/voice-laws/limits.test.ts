import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, expect, it } from "vitest"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { isCommand } from "../kit/line.ts"
import { answers, clearUp, onCall, plays, resultsIn, wordsIn } from "../kit/onCall.ts"
import { writeAgent } from "../kit/phoneCall.ts"
import { makeGate, type ScriptedModel, startScriptedModel } from "../kit/scriptedModel.ts"

let model: ScriptedModel
let server: Harness
const places = folders()
const look = { name: "look", description: "", parameters: { type: "object", properties: {} } }

beforeAll(async () => {
  model = await startScriptedModel()
  const none = "tools: []\n"
  writeAgent(places.root, "terse", ["limits: { replyChars: 20 }"], none)
  writeAgent(places.root, "short", ["limits: { callMillis: 4000 }", "goodbye: Time is up."], none)
  writeAgent(places.root, "cheap", ["limits: { callCostUsd: 0.000001 }", "goodbye: That is all."], none)
  writeAgent(
    places.root,
    "lines",
    [
      "fillerEveryMillis: 300",
      "tools: { look: { start: Let me look., delayed: Nearly there., failed: I found nothing., timeoutMillis: 900 } }"
    ],
    none
  )
  writeAgent(places.root, "strict", ["tools: { look: { onInterrupt: cancel } }"], none)
  const scripted = { contextWindow: 128_000, inputUsd: 2, outputUsd: 8 }
  writeFileSync(join(places.data, "harness.json"), JSON.stringify({ models: { "openai/scripted": scripted } }))
  server = await startHarness({ ...places, openaiBaseUrl: model.url })
})

clearUp(places, () => ({ server, model }))

it("a reply is no longer than its agent's replies may be, and history holds what was said", async () => {
  plays(model, [
    { type: "text", text: "One two three " },
    { type: "text", text: "four five six seven eight." },
    { type: "finish", reason: "stop" }
  ])
  const line = await onCall(server, { agent: "terse" })
  line.speak(1, "Count")
  const { replyId, text } = await line.reply()
  expect(text).toBe("One two three four")
  line.event("reply_spoken", { reply_id: replyId })
  await line.end()
  expect(wordsIn(await line.history())).toEqual(["One two three four"])
  expect(await line.turns()).toMatchObject([{ state: "completed", stopReason: "length" }])
})

it("a call that has lasted as long as it may is said goodbye to, whatever it is at, and ended", async () => {
  const hold = makeGate()
  plays(model, [
    { type: "text", text: "A long story. " },
    { type: "pause", gate: hold }
  ])
  const line = await onCall(server, { agent: "short" })
  line.speak(1, "Tell me a story")
  await line.chunk()
  expect((await line.reply()).text.trim()).toBe("A long story.")
  expect(await line.chunk()).toMatchObject({ interrupt: true })
  const { replyId, text } = await line.reply()
  expect(text).toBe("Time is up.")
  line.event("user_interruption", { reply_id: replyId, spoken: "Time", unspoken: " is up." })
  const command = await line.command()
  expect(command).toMatchObject({ name: "hangup", args: { reason: "call too long" } })
  hold.open()
  await line.end("harness_hangup")
  expect(wordsIn(await line.history()).at(-1)).toBe("Time")
})

it("a call that has cost what it may is said goodbye to after its reply, and ended", async () => {
  plays(model, [
    { type: "text", text: "An answer." },
    { type: "usage", usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } },
    { type: "finish", reason: "stop" }
  ])
  const line = await onCall(server, { agent: "cheap" })
  line.speak(1, "Hello")
  expect((await line.reply()).text).toBe("An answer.")
  const goodbye = await line.reply()
  expect(goodbye.text).toBe("That is all.")
  expect(line.frames.some(({ interrupt }) => interrupt === true)).toBe(false)
  line.event("reply_spoken", { reply_id: goodbye.replyId })
  expect(await line.command()).toMatchObject({ name: "hangup", args: { reason: "call too costly" } })
  await line.end("harness_hangup")
  expect(wordsIn(await line.history())).toEqual(["An answer.", "That is all."])
})

it("an agent's tool has its own lines: when it begins, when it takes long, when it failed", async () => {
  plays(model, answers("", ["look", {}]), answers("Sorry."))
  const line = await onCall(server, { agent: "lines", start: { tools: [look] } })
  line.speak(1, "Look")
  const call = await line.toolCall()
  const { replyId, text } = await line.reply()
  expect(text).toBe("Let me look. Nearly there. I found nothing. Sorry.")
  line.tell({ type: "tool:result", call_id: call.call_id, result: "late" })
  line.event("reply_spoken", { reply_id: replyId })
  expect(resultsIn(await line.history())).toEqual(["No result came in time."])
  await line.end()
  expect(wordsIn(await line.history())).toEqual(["Let me look. Nearly there. I found nothing. Sorry."])
})

it("a tool that is not to outlive an interruption is cancelled by it, and its late result is nobody's", async () => {
  plays(model, answers("I look.", ["look", {}]), answers("What else?"))
  const line = await onCall(server, { agent: "strict", start: { tools: [look] } })
  line.speak(1, "Look")
  const call = await line.toolCall()
  const { reply_id } = line.frames.find(({ type }) => type === "reply:chunk")
  line.event("user_interruption", { turn_id: 1, reply_id, spoken: "I", unspoken: " look." })
  line.tell({ type: "turn:cancel", turn_id: 1, reason: "barge_in" })
  line.speak(2, "Stop that")
  const answer = await line.reply()
  expect(answer.text).toBe("What else?")
  line.event("reply_spoken", { reply_id: answer.replyId })
  line.tell({ type: "tool:result", call_id: call.call_id, result: "late" })
  await line.end()
  expect(resultsIn(await line.history())).toEqual(["Cancelled: the caller spoke while this was running."])
  expect(await line.turns()).toHaveLength(2)
  expect(line.frames.filter(isCommand)).toEqual([])
})
