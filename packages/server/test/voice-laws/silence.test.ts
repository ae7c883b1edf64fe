import { beforeAll, expect, it } from "vitest"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { isCommand, isDone, saidIn } from "../kit/line.ts"
import { answers, clearUp, type OnCall, onCall, plays, wordsIn } from "../kit/onCall.ts"
import { writeAgent } from "../kit/phoneCall.ts"
import { makeGate, type ScriptedModel, startScriptedModel } from "../kit/scriptedModel.ts"

let model: ScriptedModel
let server: Harness
const places = folders()

beforeAll(async () => {
  model = await startScriptedModel()
  const lines = ["reprompt: { en: Still there?, de: Noch da? }", "goodbye: Bye then."]
  writeAgent(places.root, "acme", [...lines, "uninterruptible: [goodbye]"], "tools: []\n")
  writeAgent(places.root, "brisk", [...lines, "goodbyeAfter: 1"], "tools: []\n")
  server = await startHarness({ ...places, openaiBaseUrl: model.url })
})

clearUp(places, () => ({ server, model }))

const silence = (line: OnCall, streak: number) => line.event("silence", { seconds: 10, streak })
/** What was said that no turn of the caller asked for. */
const unasked = (line: OnCall) =>
  line.frames
    .filter((frame) => isDone(frame) && frame.turn_id === undefined)
    .map((frame) => saidIn(line.frames, frame.reply_id))
const heard = async (line: OnCall) => {
  const reply = await line.reply()
  line.event("reply_spoken", { reply_id: reply.replyId })
  return reply
}

it("a silence is answered by the reprompt, the third in a row by goodbye and a hangup; no model is asked", async () => {
  const asked = model.requests.length
  const line = await onCall(server, { agent: "acme" })
  silence(line, 1)
  expect(await heard(line)).toMatchObject({ text: "Still there?", turnId: undefined })
  silence(line, 2)
  expect((await heard(line)).text).toBe("Still there?")
  silence(line, 3)
  const first = await line.chunk()
  expect(first).toMatchObject({ interruptible: false })
  expect(first.interrupt).toBeUndefined()
  expect(first.turn_id).toBeUndefined()
  const goodbye = await line.reply()
  expect(goodbye.text).toBe("Bye then.")
  await line.dealtWith()
  expect(line.frames.filter(isCommand)).toEqual([])
  line.event("reply_spoken", { reply_id: goodbye.replyId })
  const command = await line.command()
  expect(command).toMatchObject({ name: "hangup", args: { reason: "silence" } })
  line.tell({ type: "command:result", command_id: command.command_id, ok: true })
  await line.end("harness_hangup")
  expect(model.requests).toHaveLength(asked)
  expect(wordsIn(await line.history())).toEqual(["Still there?", "Still there?", "Bye then."])
})

it("while a reprompt is about to be said, another silence asks nothing", async () => {
  const line = await onCall(server, { agent: "acme" })
  silence(line, 1)
  silence(line, 2)
  expect((await heard(line)).text).toBe("Still there?")
  await line.dealtWith()
  expect(await line.turns()).toHaveLength(1)
  await line.end()
})

it("the reprompt is in the caller's language, and a caller who speaks into the goodbye stays", async () => {
  plays(model, answers("Ja, bitte?"))
  const line = await onCall(server, { agent: "brisk", start: { language: "de-DE" } })
  silence(line, 1)
  const { replyId, text } = await line.reply()
  expect(text).toBe("Bye then.")
  await line.dealtWith()
  line.event("user_interruption", { reply_id: replyId, spoken: "Bye", unspoken: " then." })
  line.tell({ type: "speech:start", turn_id: 1 })
  line.tell({ type: "turn:start", turn_id: 1, input: { type: "speech", text: "Moment!", language: "de-DE" } })
  expect((await heard(line)).text).toBe("Ja, bitte?")
  expect(line.frames.filter(isCommand)).toEqual([])
  expect(wordsIn(await line.history())).toEqual(["Bye", "Ja, bitte?"])
  await line.end()
})

it("a goodbye that was called off is said again at the next such silence", async () => {
  plays(model, answers("Yes?"))
  const line = await onCall(server, { agent: "acme", start: { language: "de" } })
  silence(line, 2)
  expect((await heard(line)).text).toBe("Noch da?")
  silence(line, 3)
  const { replyId } = await line.reply()
  line.event("user_interruption", { reply_id: replyId, spoken: "", unspoken: "Bye then." })
  line.speak(1, "Wait")
  await heard(line)
  silence(line, 3)
  line.event("reply_spoken", { reply_id: (await line.reply()).replyId })
  expect(await line.command()).toMatchObject({ name: "hangup" })
  await line.end("harness_hangup")
})

it("a silence is nobody's while a turn, a call, an unheard reply, keys or a transfer are open", async () => {
  const hold = makeGate()
  const tool = { name: "look", description: "", parameters: { type: "object", properties: {} } }
  plays(
    model,
    [{ type: "pause", gate: hold }, ...answers("", ["look", {}])],
    answers("Found it."),
    answers("I put you through.", ["transfer", {}]),
    answers("They were not there.")
  )
  const line = await onCall(server, { agent: "acme", start: { tools: [tool] } })
  line.speak(1, "Look for it")
  await hold.isReached
  silence(line, 1)
  hold.open()
  const call = await line.toolCall()
  silence(line, 2)
  line.tell({ type: "tool:result", call_id: call.call_id, result: "here" })
  const found = await line.reply()
  expect(found.text).toBe("Found it.")
  silence(line, 3)
  line.event("reply_spoken", { reply_id: found.replyId })
  line.speak(2, "A human, please")
  line.event("reply_spoken", { reply_id: (await line.reply()).replyId })
  const transfer = await line.command()
  line.tell({ type: "command:result", command_id: transfer.command_id, ok: true })
  silence(line, 3)
  line.event("transfer", { command_id: transfer.command_id, outcome: "failed" })
  const back = await line.reply()
  expect(back.text).toBe("They were not there.")
  await line.dealtWith()
  expect(unasked(line)).toEqual([back.text])
  await line.end()
})

it("a silence between two keys is none, and those before a key do not count", async () => {
  plays(model, answers("One."))
  const line = await onCall(server, { agent: "acme" })
  silence(line, 1)
  await heard(line)
  silence(line, 2)
  await heard(line)
  line.event("dtmf", { digits: "1", duration_ms: 80 })
  silence(line, 3)
  line.event("dtmf", { digits: "#" })
  expect((await heard(line)).text).toBe("One.")
  silence(line, 4)
  expect((await heard(line)).text).toBe("Still there?")
  expect(unasked(line)).toEqual(["Still there?", "Still there?", "One.", "Still there?"])
  await line.end()
})
