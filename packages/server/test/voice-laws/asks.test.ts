import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { stored } from "../kit/database.ts"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { isDone, openLine, saidIn } from "../kit/line.ts"
import { assertValidRequest, type ScriptedModel, startScriptedModel } from "../kit/scriptedModel.ts"
import { wire } from "../kit/wire.ts"

let model: ScriptedModel
let server: Harness
const places = folders()

const agents = {
  asks: "askPermissions: true",
  rejects: "askPermissions: false"
}

beforeAll(async () => {
  model = await startScriptedModel()
  mkdirSync(join(places.root, ".harness/agents"), { recursive: true })
  for (const [name, setting] of Object.entries(agents)) {
    writeFileSync(
      join(places.root, `.harness/agents/${name}.md`),
      `---\ndescription: Answers the telephone.\nvoice:\n  filler: []\n  ${setting}\n---\nYou answer calls.\n`
    )
  }
  server = await startHarness({ ...places, openaiBaseUrl: model.url })
})

afterAll(async () => {
  await server.stop()
  await model.close()
  places.remove()
})

interface Message {
  readonly role: string
  readonly content: unknown
}
const messagesOf = (body: unknown): ReadonlyArray<Message> => (body as { messages: ReadonlyArray<Message> }).messages

const question = {
  questions: [
    {
      question: "Which day suits you?",
      header: "Day",
      options: [
        { label: "Monday", description: "" },
        { label: "Friday", description: "" }
      ]
    }
  ]
}

const callTool = (name: string, args: object) => [
  { type: "toolCall" as const, id: "t", name, arguments: JSON.stringify(args) },
  { type: "finish" as const, reason: "tool_calls" }
]
const sayWords = (text: string) => [
  { type: "text" as const, text },
  { type: "finish" as const, reason: "stop" }
]

const begin = async (call_sid: string, agent: string, before = 0) => {
  const line = await openLine(server, { query: `?agent=${agent}` })
  const again = before === 0 ? {} : { resumed: true, last_turn_id: before }
  line.say({ type: "session:start", call_sid, protocol: 1, direction: "inbound", tools: [], ...again })
  let turn = before
  const speak = (text: string) => {
    turn++
    line.say({ type: "turn:start", call_sid, turn_id: turn, input: { type: "speech", text } })
    return turn
  }
  /** What the next reply says, to its end. */
  const answer = async () => {
    const done = await line.hear(isDone)
    return { ...done, said: saidIn(line.frames, done.reply_id).trim() }
  }
  return { line, speak, answer, api: wire(server), session: `/sessions/call-${call_sid}` }
}

it("a question is asked aloud, and the caller's next words answer it", async () => {
  model.script(({ body }) =>
    messagesOf(body).some(({ role }) => role === "tool") ? sayWords("Friday it is.") : callTool("question", question)
  )
  const { answer, api, line, session, speak } = await begin("question", "asks")
  speak("I need an appointment")
  const asked = await answer()
  expect(asked.said).toBe("Which day suits you? Monday or Friday?")
  // The caller cuts the question off to answer it.
  line.say({
    type: "event",
    name: "user_interruption",
    turn_id: 1,
    reply_id: asked.reply_id,
    spoken: "Which day suits you?",
    unspoken: " Monday or Friday?"
  })
  line.say({ type: "turn:cancel", turn_id: 1, reason: "barge_in" })
  speak("Friday please")
  expect(await answer()).toMatchObject({ turn_id: 2, said: "Friday it is." })
  const turn = (await api.get(`${session}/turns/call-question-1`)).body
  expect(turn).toMatchObject({ state: "completed", finalText: "Friday it is." })
  expect((await api.get(`${session}/turns/call-question-2`)).body.turnId).toBe("call-question-1")
  const { entries } = (await api.get(`${session}/history`)).body
  const texts = JSON.stringify(entries)
  expect(texts).toContain("Which day suits you?")
  expect(texts).toContain("Friday please")
  for (const request of model.requests) assertValidRequest(request.body)
})

it.each([
  ["yes, go ahead", "Deleted.", "asks"],
  ["no, don't", "I left it.", "asks"]
])("a permission is asked for aloud where the agent allows it: %s", async (words, end, agent) => {
  model.script(({ body }) => {
    const result = messagesOf(body).find(({ role }) => role === "tool")
    if (result === undefined) return callTool("shell", { command: "echo gone" })
    return sayWords(JSON.stringify(result.content).includes("gone") ? "Deleted." : "I left it.")
  })
  const { answer, speak } = await begin(`permission-${words.length}`, agent)
  speak("Delete it")
  expect((await answer()).said).toMatch(/^May I do this: .*yes or no\.$/)
  speak(words)
  expect(await answer()).toMatchObject({ turn_id: 2, said: end })
  for (const request of model.requests) assertValidRequest(request.body)
})

it.each([
  ["a question", "question", question, "Friday please", "Friday it is."],
  ["a permission", "shell", { command: "echo gone" }, "yes", "Deleted."]
])("%s that was asked aloud before a restart is answered by the caller's next words after it", async (...asked) => {
  const [, tool, args, words, end] = asked
  model.script(({ body }) => {
    const result = messagesOf(body).find(({ role }) => role === "tool")
    return result === undefined ? callTool(tool, args) : sayWords(end)
  })
  const before = await begin(`again-${tool}`, "asks")
  before.speak("Do it")
  const { reply_id, said } = await before.answer()
  expect(said).not.toBe("")
  before.line.say({ type: "event", call_sid: `again-${tool}`, name: "reply_spoken", reply_id })
  await stored(places.data, "SELECT 1 FROM voice_reply WHERE reply_id = ? AND heard = 'all'", reply_id)
  await server.kill()
  server = await startHarness({ ...places, openaiBaseUrl: model.url })
  const after = await begin(`again-${tool}`, "asks", 1)
  after.speak(words)
  const done = await after.line.hear((frame) => isDone(frame) && frame.turn_id === 2)
  expect(saidIn(after.line.frames, done.reply_id).trim()).toBe(end)
  const turn = (await after.api.get(`${after.session}/turns/call-again-${tool}-1`)).body
  expect(turn).toMatchObject({ state: "completed", finalText: end })
  expect(JSON.stringify((await after.api.get(`${after.session}/history`)).body).split(said)).toHaveLength(2)
  for (const request of model.requests) assertValidRequest(request.body)
})

it("elsewhere a permission is rejected at once: no call waits in dead air", async () => {
  model.script(({ body }) =>
    messagesOf(body).some(({ role }) => role === "tool")
      ? sayWords("I may not do that.")
      : callTool("shell", { command: "echo gone" })
  )
  const { answer, api, session, speak } = await begin("rejected", "rejects")
  speak("Delete it")
  expect(await answer()).toMatchObject({ turn_id: 1, said: "I may not do that." })
  expect((await api.get(`${session}/permissions`)).body.permissions).toEqual([])
})
