import { afterAll, beforeAll, expect, it } from "vitest"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { beginPhoneCall, callTool, messagesOf, sayWords, writeAgent } from "../kit/phoneCall.ts"
import { assertValidRequest, type ScriptedModel, startScriptedModel } from "../kit/scriptedModel.ts"

let model: ScriptedModel
let server: Harness
const places = folders()

beforeAll(async () => {
  model = await startScriptedModel()
  writeAgent(places.root, "acme")
  server = await startHarness({ ...places, openaiBaseUrl: model.url })
})

afterAll(async () => {
  for (const request of model.requests) assertValidRequest(request.body)
  await server.stop()
  await model.close()
  places.remove()
})

const lastRequest = () => JSON.stringify(model.requests.at(-1)?.body)

it("application_update inject_context: messages become entries in their order, and nobody speaks", async () => {
  model.script(() => sayWords("Hello."))
  const call = await beginPhoneCall(server, "inject", { agent: "acme" })
  call.event("application_update", {
    update_type: "inject_context",
    data: {
      messages: [
        { role: "system", content: "The caller is Ada." },
        { role: "user", content: "I moved house." },
        { role: "assistant", content: "Noted." }
      ]
    }
  })
  call.speak("Hi")
  expect((await call.answer()).said).toBe("Hello.")
  const texts = messagesOf(model.requests.at(-1)?.body).map(({ content }) => JSON.stringify(content))
  const at = (text: string) => texts.findIndex((one) => one.includes(text))
  expect(at("The caller is Ada.")).toBeGreaterThan(0)
  expect(at("I moved house.")).toBeGreaterThan(at("The caller is Ada."))
  expect(at("Noted.")).toBeGreaterThan(at("I moved house."))
  expect(at('"Hi"')).toBeGreaterThan(at("Noted."))
})

it("application_update generate_reply: the agent speaks unasked, and interrupts where it is told to", async () => {
  model.script(() => sayWords("Your taxi is here."))
  const call = await beginPhoneCall(server, "generate", { agent: "acme" })
  call.event("application_update", { update_type: "generate_reply", data: { instructions: "Tell them of the taxi." } })
  const first = await call.answer()
  expect(first).toMatchObject({ said: "Your taxi is here." })
  expect(first.turn_id).toBeUndefined()
  expect(first.turn_record).toBeUndefined()
  call.event("reply_spoken", { reply_id: first.reply_id })
  call.event("application_update", { update_type: "generate_reply", data: { user_input: "Taxi?", interrupt: true } })
  const second = await call.answer()
  const chunk = call.line.frames.find((frame) => frame.type === "reply:chunk" && frame.reply_id === second.reply_id)
  expect(chunk).toMatchObject({ interrupt: true })
  expect(lastRequest()).toContain("Taxi?")
})

it("application_update update_instructions: a new revision, from the next turn on", async () => {
  model.script(() => sayWords("Arr."))
  const call = await beginPhoneCall(server, "instructions", { agent: "acme" })
  call.event("application_update", {
    update_type: "update_instructions",
    data: { instructions: "Speak like a pirate." }
  })
  call.speak("Hi")
  await call.answer()
  expect(lastRequest()).toContain("Speak like a pirate.")
  expect((await call.api.get(`${call.session}/configuration`)).body).toMatchObject({
    revision: 2,
    systemPrompt: "Speak like a pirate."
  })
})

it("application_update update_tools: the call's tools are others from now on", async () => {
  model.script(({ body }) =>
    messagesOf(body).some(({ role }) => role === "tool") ? sayWords("Done.") : callTool("new_tool", { a: 1 })
  )
  const call = await beginPhoneCall(server, "tools", {
    agent: "acme",
    start: { tools: [{ name: "old_tool", description: "Old", parameters: { type: "object" } }] }
  })
  call.event("application_update", {
    update_type: "update_tools",
    data: { tools: [{ name: "new_tool", description: "New", parameters: { type: "object" } }] }
  })
  call.speak("Do it")
  const asked = await call.line.hear((frame) => frame.type === "tool:call")
  expect(asked).toMatchObject({ name: "new_tool", args: { a: 1 }, turn_id: 1 })
  call.line.say({ type: "tool:result", call_id: asked.call_id, result: "ok" })
  expect((await call.answer()).said).toBe("Done.")
  expect(lastRequest()).not.toContain("old_tool")
})

it("application_update of another kind: an entry says so, and the call goes on", async () => {
  model.script(() => sayWords("Hello."))
  const call = await beginPhoneCall(server, "other", { agent: "acme" })
  call.event("application_update", { update_type: "party_mode", data: { lights: "on" } })
  call.speak("Hi")
  await call.answer()
  expect(lastRequest()).toContain("The application sent party_mode")
  expect(server.log()).toContain("an application_update of a kind we do not know")
})
