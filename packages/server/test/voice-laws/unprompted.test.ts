import { beforeAll, expect, it } from "vitest"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { agree } from "../kit/line.ts"
import { answers, clearUp, type OnCall, onCall, plays } from "../kit/onCall.ts"
import { writeAgent } from "../kit/phoneCall.ts"
import { makeGate, type ScriptedModel, startScriptedModel } from "../kit/scriptedModel.ts"
import { wire } from "../kit/wire.ts"

let model: ScriptedModel
let server: Harness
const places = folders()

beforeAll(async () => {
  model = await startScriptedModel()
  writeAgent(places.root, "acme", [], "tools: []\n")
  server = await startHarness({
    ...places,
    openaiBaseUrl: model.url,
    env: { HARNESS_PATIENCE: JSON.stringify({ speech: 300 }) }
  })
})

clearUp(places, () => ({ server, model }))

const LONG = "This line is a long one, and it goes on and on, so that nobody hears its end soon. ".repeat(6).trim()
/** Somebody has heard a word or two of it by then. */
const A_WHILE_MILLIS = 1_500

const speakUnasked = (line: OnCall, instructions: string, interrupt = false) =>
  line.event("application_update", { update_type: "generate_reply", data: { instructions, interrupt } })

/** What the history keeps of the assistant, once that fits. */
const kept = async (line: OnCall, fits: (entries: ReadonlyArray<Kept>) => boolean): Promise<ReadonlyArray<Kept>> => {
  for (;;) {
    const entries = (await line.history()).filter(({ role }) => role === "assistant")
    if (fits(entries)) return entries
    await new Promise((again) => setTimeout(again, 20))
  }
}
interface Kept {
  readonly content: ReadonlyArray<{ readonly text: string }>
  readonly interrupted?: boolean
  readonly estimated?: boolean
}
const textOf = (entry: Kept | undefined) => entry?.content.map(({ text }) => text).join("")

it("L12: what one of our own replies cuts off is kept as far as there was time to say it, and marked as a guess", async () => {
  plays(model, answers(LONG), answers("Stop: your taxi is here."))
  const line = await onCall(server, { agent: "acme" })
  line.speak(1, "Hello")
  const cut = await line.reply()
  await new Promise((resolve) => setTimeout(resolve, A_WHILE_MILLIS))
  speakUnasked(line, "The taxi.", true)
  expect((await line.reply()).turnId).toBeUndefined()
  const [guess] = await kept(line, ([first]) => first?.estimated === true)
  expect(guess?.interrupted).toBe(true)
  expect(LONG.startsWith(textOf(guess) ?? "?")).toBe(true)
  expect(textOf(guess)).not.toBe(LONG)
  // Whoever knows better is believed, late as it is.
  line.event("user_interruption", { turn_id: 1, reply_id: cut.replyId, spoken: "This line is", unspoken: "…" })
  const [told] = await kept(line, ([first]) => textOf(first) === "This line is")
  expect(told?.estimated).toBeUndefined()
  await line.end()
})

it("L12: a reply that was heard before ours began is no guess, nor is one we are told of in time", async () => {
  plays(model, answers("Hello."), answers("Your taxi is here."))
  const line = await onCall(server, { agent: "acme" })
  line.speak(1, "Hello")
  line.event("reply_spoken", { reply_id: (await line.reply()).replyId })
  speakUnasked(line, "The taxi.", true)
  line.event("reply_spoken", { reply_id: (await line.reply()).replyId })
  await line.dealtWith()
  await line.end()
  expect(
    (await line.history()).filter(({ estimated, interrupted }) => estimated === true || interrupted === true)
  ).toEqual([])
})

it("L12: a reply that a newer one took the place of is said after that one, and is history once it is heard", async () => {
  plays(model, answers("Your order is ready."), answers("Your taxi is here."))
  const line = await onCall(server, { agent: "acme" })
  speakUnasked(line, "The order.")
  const order = await line.reply()
  speakUnasked(line, "The taxi.", true)
  const taxi = await line.reply()
  line.event("reply_dropped", { reply_id: order.replyId, reason: "replaced" })
  await line.dealtWith()
  line.event("reply_spoken", { reply_id: taxi.replyId })
  const again = await line.reply()
  expect(again.text).toBe(order.text)
  expect(again.replyId).not.toBe(order.replyId)
  const chunk = line.frames.find((frame) => frame["type"] === "reply:chunk" && frame["reply_id"] === again.replyId)
  expect(chunk?.["interrupt"]).toBeUndefined()
  line.event("reply_dropped", { reply_id: again.replyId, reason: "call_ended" })
  await line.dealtWith()
  expect((await kept(line, () => true)).map(textOf)).toEqual(["Your taxi is here."])
  await line.end()
})

it("L12: a reply that waited for the floor until the call ended was not heard, however long it waited", async () => {
  plays(model, answers("Hello."), answers(LONG))
  const line = await onCall(server, { agent: "acme" })
  line.speak(1, "Hello")
  const hello = await line.reply()
  speakUnasked(line, "The taxi.")
  await line.reply()
  await new Promise((resolve) => setTimeout(resolve, A_WHILE_MILLIS))
  line.event("reply_spoken", { reply_id: hello.replyId })
  await line.end()
  expect((await kept(line, ({ length }) => length === 1)).map(textOf)).toEqual(["Hello."])
})

it("L12: of what was on its way when the call ended only what had arrived is kept, and marked as a guess", async () => {
  const gate = makeGate()
  const rest = answers(" The rest is never heard.")
  plays(model, [{ type: "text", text: "It begins well." }, { type: "pause", gate }, ...rest])
  const line = await onCall(server, { agent: "acme" })
  line.speak(1, "Tell me")
  await line.chunk()
  await agree(line)
  line.socket.pause()
  gate.open()
  while ((await line.turns())[0]?.["state"] !== "completed") await new Promise((again) => setTimeout(again, 20))
  await line.end()
  const [guess] = await kept(line, ([first]) => first?.estimated === true)
  expect(textOf(guess)).toBe("It begins well.")
  line.socket.terminate()
})

it("noise that began like speech holds a late result back for a while, and no longer", async () => {
  const tool = { name: "look", description: "", parameters: { type: "object", properties: {} } }
  plays(model, answers("", ["look", {}]), answers("Go on."), answers("It is found."))
  const line = await onCall(server, { agent: "acme", start: { tools: [tool] } })
  line.speak(1, "Look it up")
  const asked = await line.toolCall()
  line.tell({ type: "turn:cancel", turn_id: 1, reason: "barge_in" })
  line.speak(2, "Wait")
  const next = await line.reply()
  expect(next).toMatchObject({ turnId: 2, text: "Go on." })
  line.event("reply_spoken", { reply_id: next.replyId })
  line.tell({ type: "speech:start", turn_id: 3 })
  line.tell({ type: "tool:result", call_id: asked.call_id, result: "found" })
  const late = await line.reply()
  expect(late).toMatchObject({ turnId: undefined, text: "It is found." })
  await line.end()
  const { body } = await wire(server).get(`${line.session}/status`)
  expect(body.state).toBe("idle")
})
