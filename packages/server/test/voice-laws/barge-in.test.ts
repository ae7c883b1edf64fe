import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { beginPhoneCall, callTool, messagesOf, sayWords, writeAgent } from "../kit/phoneCall.ts"
import { until } from "../kit/process.ts"
import { assertValidRequest, makeGate, type ScriptedModel, startScriptedModel } from "../kit/scriptedModel.ts"

let model: ScriptedModel
let server: Harness
const places = folders()
const shell = "permissions:\n  - {permission: shell, pattern: '*', action: allow}\n"

beforeAll(async () => {
  model = await startScriptedModel()
  writeAgent(places.root, "acme", [], shell)
  writeAgent(places.root, "strict", ["tools: {shell: {onInterrupt: cancel}}"], shell)
  // Waits for a file that the test makes, and says so by one of its own.
  writeFileSync(
    join(places.root, "slow.sh"),
    `echo started >> "$1.started"\nwhile [ ! -e "$1.go" ]; do sleep 0.05; done\necho "slow result $1"\n`
  )
  server = await startHarness({ ...places, openaiBaseUrl: model.url })
})

afterAll(async () => {
  for (const request of model.requests) assertValidRequest(request.body)
  await server.stop()
  await model.close()
  places.remove()
})

const exists = (name: string) => existsSync(join(places.root, name))
const lines = (name: string) => readFileSync(join(places.root, name), "utf8").trim().split("\n")

const bargeIn = (call: Awaited<ReturnType<typeof beginPhoneCall>>, turn_id: number, heard?: object) => {
  if (heard !== undefined) call.event("user_interruption", { turn_id, ...heard })
  call.line.say({ type: "turn:cancel", turn_id, reason: "barge_in" })
}

it("L12: words cut off while they are made are history as far as they were heard, and no further", async () => {
  const gate = makeGate()
  model.script(({ body }) =>
    messagesOf(body).filter(({ role }) => role === "user").length > 1
      ? sayWords("Yes?")
      : [
          { type: "text", text: "One two three four five six seven eight nine ten. " },
          { type: "pause", gate },
          { type: "text", text: "Never said." },
          { type: "finish", reason: "stop" }
        ]
  )
  const call = await beginPhoneCall(server, "words", { agent: "acme" })
  call.speak("Count")
  const chunk = await call.line.hear((frame) => frame.type === "reply:chunk")
  bargeIn(call, 1, { reply_id: chunk.reply_id, spoken: "One two three four", unspoken: " five six seven" })
  call.speak("Stop")
  expect(await call.answer()).toMatchObject({ turn_id: 2, said: "Yes?" })
  gate.open()
  const before = messagesOf(model.requests.at(-1)?.body).find(({ role }) => role === "assistant")
  expect(JSON.stringify(before)).toContain("One two three four")
  expect(JSON.stringify(before)).not.toContain("five")
  expect(await call.spokenHistory()).toEqual(["One two three four", "Yes?"])
  const late = call.line.frames.filter((frame) => frame.turn_id === 1).at(-1)
  expect(late.type).toBe("reply:chunk")
})

it("L12: of a turn cancelled without a word heard nothing stays, and no empty text", async () => {
  model.script(() => sayWords("You never hear this."))
  const call = await beginPhoneCall(server, "nothing", { agent: "acme" })
  call.speak("Hello")
  await call.answer()
  bargeIn(call, 1)
  model.script(() => sayWords("Again."))
  call.speak("Hello again")
  await call.answer()
  expect(await call.spokenHistory()).toEqual(["Again."])
})

it("L12: an event that comes after the cancel brings back what was heard", async () => {
  model.script(() => sayWords("Alpha beta gamma."))
  const call = await beginPhoneCall(server, "after", { agent: "acme" })
  call.speak("Hello")
  const { reply_id } = await call.answer()
  bargeIn(call, 1)
  call.event("user_interruption", { turn_id: 1, reply_id, spoken: "Alpha beta", unspoken: " gamma." })
  model.script(() => sayWords("Again."))
  call.speak("Hello again")
  await call.answer()
  expect(await call.spokenHistory()).toEqual(["Alpha beta", "Again."])
})

it("a caller who interrupts and says nothing hears the rest, from the start of its clause", async () => {
  model.script(() => sayWords("We open at eight, we close at six."))
  const call = await beginPhoneCall(server, "rest", { agent: "acme" })
  call.speak("When?")
  const { reply_id } = await call.answer()
  bargeIn(call, 1, { reply_id, spoken: "We open at eight, we", unspoken: " close at six." })
  call.line.say({ type: "turn:start", turn_id: 2, input: { type: "no_input" } })
  const rest = await call.answer()
  expect(rest).toMatchObject({ turn_id: 2, said: "we close at six.", turn_record: { route: "line", model_calls: [] } })
})

it("L6: the call's tool goes on when the caller speaks: one tool:call, its late result told, a valid history", async () => {
  const tools = [{ name: "lookup", description: "Looks up", parameters: { type: "object" } }]
  model.script(({ body }) => {
    const text = JSON.stringify(messagesOf(body))
    if (text.includes("has come to this")) return sayWords("It is blue.")
    return text.includes("Are you there") ? sayWords("Yes, still looking.") : callTool("lookup")
  })
  const call = await beginPhoneCall(server, "late", { agent: "acme", start: { tools } })
  call.speak("Which colour?")
  const asked = await call.line.hear((frame) => frame.type === "tool:call")
  bargeIn(call, 1)
  call.speak("Are you there?")
  expect(await call.answer()).toMatchObject({ turn_id: 2, said: "Yes, still looking." })
  expect(JSON.stringify(model.requests.at(-1)?.body)).toContain("Still running")
  call.line.say({ type: "tool:result", call_id: asked.call_id, result: { colour: "blue" } })
  const told = await call.answer()
  expect(told.said).toBe("It is blue.")
  expect(told.turn_id).toBeUndefined()
  expect(call.line.frames.filter((frame) => frame.type === "tool:call")).toHaveLength(1)
})

it("L6: a tool of ours goes on too; asked again meanwhile it does not run again", async () => {
  const command = "sh slow.sh one"
  model.script(({ body }) => {
    const messages = messagesOf(body)
    const text = JSON.stringify(messages)
    if (text.includes("slow result one")) return sayWords("Here it is.")
    return messages.at(-1)?.role === "tool" ? sayWords("Hm.") : callTool("shell", { command })
  })
  const call = await beginPhoneCall(server, "own", { agent: "acme" })
  call.speak("Do it")
  await until(() => exists("one.started"))
  bargeIn(call, 1)
  call.speak("Do it, please")
  // The second call waits for the first, which still runs.
  for (let running = false; !running; ) {
    const { body } = await call.api.get(`${call.session}/turns/call-own-2`)
    running = body.parts?.some(({ state }: { state?: string }) => state === "running") === true
  }
  writeFileSync(join(places.root, "one.go"), "")
  expect(await call.answer()).toMatchObject({ turn_id: 2, said: "Here it is." })
  expect(lines("one.started")).toHaveLength(1)
})

it("a tool whose voice says so is ended with its turn", async () => {
  const command = "sh slow.sh two"
  model.script(({ body }) =>
    messagesOf(body).at(-1)?.role === "tool" || JSON.stringify(body).includes("Never mind")
      ? sayWords("Fine.")
      : callTool("shell", { command })
  )
  const call = await beginPhoneCall(server, "strict", { agent: "strict" })
  call.speak("Do it")
  await until(() => exists("two.started"))
  bargeIn(call, 1)
  call.speak("Never mind")
  expect(await call.answer()).toMatchObject({ turn_id: 2, said: "Fine." })
  expect(JSON.stringify(model.requests.at(-1)?.body)).not.toContain("Still running")
})
