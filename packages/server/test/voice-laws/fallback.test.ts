import { afterAll, beforeAll, expect, it } from "vitest"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { beginPhoneCall, sayWords, writeAgent } from "../kit/phoneCall.ts"
import { makeGate, type ScriptedModel, startScriptedModel } from "../kit/scriptedModel.ts"

let model: ScriptedModel
let server: Harness
const places = folders()

beforeAll(async () => {
  model = await startScriptedModel()
  writeAgent(places.root, "hurried", ["fallbackModel: openai/second", "firstTokenMillis: 600"])
  writeAgent(places.root, "sorry", ["apology: That did not work."])
  server = await startHarness({ ...places, openaiBaseUrl: model.url })
})

afterAll(async () => {
  await server.stop()
  await model.close()
  places.remove()
})

const asked = (body: unknown) => (body as { readonly model: string }).model

it("a turn that fails says the apology line, and the line is history when it was heard", async () => {
  model.script(() => [{ type: "status", status: 401, body: '{"error":{"message":"no such key"}}' }])
  const call = await beginPhoneCall(server, "sorry", { agent: "sorry" })
  call.speak("Hello")
  const sorry = await call.answer()
  expect(sorry.said).toBe("That did not work.")
  call.event("reply_spoken", { reply_id: sorry.reply_id })
  model.script(() => sayWords("Better."))
  call.speak("Again")
  expect((await call.answer()).said).toBe("Better.")
  expect(await call.spokenHistory()).toEqual(["That did not work.", "Better."])
})

it("a model that does not begin in time is left, and the agent's other one answers", async () => {
  // What asks a provider is loaded by now: the first request has been sent before it is given up.
  const gate = makeGate()
  model.script(({ body }) => (asked(body) === "second" ? sayWords("Here I am.") : [{ type: "pause", gate }]))
  const call = await beginPhoneCall(server, "hurried", { agent: "hurried" })
  call.speak("Hello")
  expect(await call.answer()).toMatchObject({
    said: "Here I am.",
    turn_record: { model_calls: [{ model: "openai/second" }] }
  })
  const first = model.requests.findLast(({ body }) => asked(body) === "scripted")
  expect(await first?.closed).toMatchObject({ aborted: true })
  gate.open()
  const turn = (await call.api.get(`${call.session}/turns/call-hurried-1`)).body
  expect(turn).toMatchObject({ state: "completed", finalText: "Here I am.", steps: [{ model: "second" }] })
})
