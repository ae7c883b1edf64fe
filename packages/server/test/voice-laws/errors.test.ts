import { beforeAll, expect, it } from "vitest"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { isChunk } from "../kit/line.ts"
import { answers, clearUp, onCall, plays, resultsIn, wordsIn } from "../kit/onCall.ts"
import { writeAgent } from "../kit/phoneCall.ts"
import { makeGate, type ScriptedModel, startScriptedModel } from "../kit/scriptedModel.ts"

let model: ScriptedModel
let server: Harness
const places = folders()
const look = { name: "look", description: "", parameters: { type: "object", properties: {} } }

beforeAll(async () => {
  model = await startScriptedModel()
  writeAgent(places.root, "acme", [], "tools: []\n")
  server = await startHarness({ ...places, openaiBaseUrl: model.url })
})

clearUp(places, () => ({ server, model }))

const begin = () => onCall(server, { agent: "acme", start: { tools: [look] } })

it("a refused call and a refused command end as errors at once, and the turn goes on", async () => {
  plays(model, answers("", ["look", {}], ["set_barge_in", { enabled: true }]), answers("I could not look."))
  const line = await begin()
  line.speak(1, "Look")
  const call = await line.toolCall()
  const command = await line.command()
  const secret = "sk-canary-in-a-message"
  line.event("error", { code: "invalid_id", message: secret, ref: call.call_id })
  line.event("error", { code: "duplicate_id", message: secret, ref: command.command_id })
  expect((await line.reply()).text).toBe("I could not look.")
  expect(resultsIn(await line.history())).toEqual([
    "This was refused (invalid_id).",
    "Not done: it was refused (duplicate_id)."
  ])
  // What comes of them after that is nobody's.
  line.tell({ type: "tool:result", call_id: call.call_id, result: "late" })
  line.tell({ type: "command:result", command_id: command.command_id, ok: true })
  await line.dealtWith()
  expect(server.log()).not.toContain(secret)
  await line.end()
  expect(await line.turns()).toMatchObject([{ state: "completed" }])
})

it("a refused reply is not gone on with, and none of it is history; the call goes on", async () => {
  const hold = makeGate()
  plays(
    model,
    [
      { type: "text", text: "This is refused, " },
      { type: "pause", gate: hold },
      { type: "text", text: "and this is not sent." },
      { type: "finish", reason: "stop" }
    ],
    answers("This one is taken.")
  )
  const line = await begin()
  line.speak(1, "Hello")
  const chunk = await line.chunk()
  await hold.isReached
  line.event("error", { code: "duplicate_id", message: "that reply id was used", ref: chunk.reply_id })
  line.speak(2, "Hello?")
  const reply = await line.reply()
  hold.open()
  expect(reply).toMatchObject({ text: "This one is taken.", turnId: 2 })
  expect(line.frames.filter((frame) => isChunk(frame) && frame.reply_id === chunk.reply_id)).toHaveLength(1)
  line.event("reply_spoken", { reply_id: reply.replyId })
  await line.end()
  expect(wordsIn(await line.history())).toEqual(["This one is taken."])
  expect(await line.turns()).toMatchObject([{ state: "cancelled" }, { state: "completed" }])
})

it("a turn record that is too large for the other side is left out, and the reply's end is said again", async () => {
  plays(model, answers("All of this was said."))
  const line = await begin()
  line.speak(1, "Hello")
  const first = await line.done()
  expect(first.turn_record).toBeDefined()
  line.event("error", { code: "invalid_message", message: "turn_record exceeds 16384 bytes", ref: first.reply_id })
  expect(await line.done()).toEqual({ type: "reply:done", reply_id: first.reply_id, turn_id: 1 })
  line.event("reply_spoken", { reply_id: first.reply_id })
  await line.end()
  expect(wordsIn(await line.history())).toEqual(["All of this was said."])
})

it("an error that names nothing of ours, or nothing at all, changes nothing", async () => {
  plays(model, answers("Hello."))
  const line = await begin()
  line.event("error", { code: "odd", message: "?", ref: "unknown" })
  line.event("error")
  line.event("error", { code: 7, ref: {} })
  line.speak(1, "Hello")
  expect((await line.reply()).text).toBe("Hello.")
  await line.end()
})
