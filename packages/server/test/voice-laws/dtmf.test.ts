import { beforeAll, expect, it } from "vitest"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { isDone } from "../kit/line.ts"
import { answers, clearUp, messagesOf, type OnCall, onCall, plays } from "../kit/onCall.ts"
import { writeAgent } from "../kit/phoneCall.ts"
import { makeGate, type ScriptedModel, startScriptedModel } from "../kit/scriptedModel.ts"

let model: ScriptedModel
let server: Harness
const places = folders()

beforeAll(async () => {
  model = await startScriptedModel()
  writeAgent(places.root, "acme", [], "tools: []\n")
  server = await startHarness({ ...places, openaiBaseUrl: model.url })
})

clearUp(places, () => ({ server, model }))

const press = (line: OnCall, ...keys: ReadonlyArray<string>) => {
  for (const digits of keys) line.event("dtmf", { digits, duration_ms: 90 })
}
const lastAsked = () => JSON.stringify(messagesOf(model.requests.at(-1)).at(-1))

it("keys are gathered until #, and answered by a reply that cuts off what plays", async () => {
  plays(model, answers("The line is long, so hear all of this first."), answers("Your balance is ten."))
  const line = await onCall(server, { agent: "acme" })
  line.speak(1, "Hello")
  const playing = await line.reply()
  press(line, "4", "8", "1", "5", "#")
  const chunk = await line.chunk()
  expect(chunk).toMatchObject({ interrupt: true })
  expect(chunk.turn_id).toBeUndefined()
  expect((await line.reply()).text).toBe("Your balance is ten.")
  expect(lastAsked()).toContain("4815")
  expect(lastAsked()).not.toContain("#")
  const last = line.frames.filter((frame) => frame.reply_id === chunk.reply_id && "interrupt" in frame)
  expect(last).toHaveLength(1)
  line.event("user_interruption", { turn_id: 1, reply_id: playing.replyId, spoken: "The line", unspoken: "…" })
  expect((await line.turns()).map(({ state }) => state)).toEqual(["completed", "completed"])
  const { role, custom } = (await line.history()).find(({ role }) => role === "custom")
  expect([role, custom.type]).toEqual(["custom", "voice.keys"])
  await line.end()
})

it("keys that stop are told when no more have come for a moment, all together", async () => {
  plays(model, answers("Seven and two."))
  const line = await onCall(server, { agent: "acme" })
  press(line, "7", "2")
  expect((await line.reply()).text).toBe("Seven and two.")
  expect(lastAsked()).toContain("72")
  await line.end()
})

it("with the caller's turn open the keys join it, and stop nothing", async () => {
  const hold = makeGate()
  const tool = { name: "look", description: "", parameters: { type: "object", properties: {} } }
  plays(model, [{ type: "pause", gate: hold }, ...answers("Looking. ", ["look", {}])], answers("Account 99 it is."))
  const line = await onCall(server, { agent: "acme", start: { tools: [tool] } })
  line.speak(1, "My account")
  await hold.isReached
  press(line, "9", "9", "#")
  hold.open()
  const call = await line.toolCall()
  line.tell({ type: "tool:result", call_id: call.call_id, result: "found" })
  const reply = await line.reply()
  expect(reply).toMatchObject({ text: "Looking. Account 99 it is.", turnId: 1 })
  expect(lastAsked()).toContain("99")
  expect(line.frames.filter(isDone)).toHaveLength(1)
  const turns = await line.turns()
  expect(turns[0]).toMatchObject({ state: "completed" })
  expect(turns[0].parts.some((part: { readonly type: string; readonly applied?: boolean }) => part.applied)).toBe(true)
  await line.end()
})

it("keys stay out of logs and turn records, and gathering ends when a transfer starts", async () => {
  plays(model, answers("I put you through.", ["transfer", {}]), answers("Back."), answers("Got them."))
  const line = await onCall(server, { agent: "acme" })
  line.speak(1, "A human, please")
  const { replyId } = await line.reply()
  press(line, "5", "5", "5", "7")
  line.event("reply_spoken", { reply_id: replyId })
  const command = await line.command()
  line.event("transfer", { command_id: command.command_id, outcome: "failed" })
  expect((await line.reply()).text).toBe("Back.")
  press(line, "8", "6", "4", "2", "0", "#")
  expect((await line.reply()).text).toBe("Got them.")
  const asked = JSON.stringify(messagesOf(model.requests.at(-1)))
  expect(asked).toContain("86420")
  expect(asked).not.toContain("5557")
  await line.dealtWith()
  const told = JSON.stringify(line.frames)
  for (const keys of ["5557", "86420"]) {
    expect(told).not.toContain(keys)
    expect(server.log()).not.toContain(keys)
  }
  await line.end()
})
