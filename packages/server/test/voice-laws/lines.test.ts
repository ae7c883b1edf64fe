import { expect, it } from "vitest"
import { stored } from "../kit/database.ts"
import { Fold } from "../kit/fold.ts"
import { agree, isChunk, isDone, isToolCall, saidIn } from "../kit/line.ts"
import { Caller, writeAgent } from "../kit/lines.ts"
import { callsFor, makeGate, says } from "../kit/scriptedModel.ts"
import { messagesOf, stage, textOf } from "../kit/stage.ts"
import { talking } from "../kit/talking.ts"
import { readUntil } from "../kit/wire.ts"

const { act, api, place, request, requests, server } = stage({ HARNESS_PATIENCE: JSON.stringify({ resume: 20_000 }) })

const soon = "fillerAfterMillis: 60\n  fillerEveryMillis: 60000"
writeAgent(place.root, "filling", `filler: [One moment.]\n  ${soon}`)
writeAgent(place.root, "sorry", "filler: []\n  apology: That did not work.")
writeAgent(place.root, "telling", "filler: []\n  tools: { lookup: { start: Let me look., failed: I found nothing. } }")
const lookup = { name: "lookup", description: "Looks it up", parameters: { type: "object", properties: {} } }

const call = async (callSid: string, agent: string, more: object = {}) =>
  Caller.call(await server().up(), callSid, { query: `?agent=${agent}` }, more)

const turnOf = async ({ session, callSid, turn }: Caller) =>
  (await (await api()).get(`${session}/turns/call-${callSid}-${turn}`)).body

/** The turn as its own stream tells it from its first row on, and the numbers of its parts as they came. */
const followed = async ({ session, callSid, turn }: Caller) => {
  const stream = (await api()).events(`${session}/turns/call-${callSid}-${turn}/events?afterRevision=0`)
  const fold = new Fold()
  const seen = new Set<string>()
  for (const event of await readUntil(stream, ({ type }) => type === "turn.terminal")) {
    fold.take(event)
    for (const { partId } of event.data.turn?.parts ?? []) seen.add(partId)
  }
  return { turn: fold.turns.get(`call-${callSid}-${turn}`), order: [...seen] }
}

const text = (words: string) => ({ type: "text", text: words, done: true })

const spoken = async (caller: Caller): Promise<ReadonlyArray<string>> => {
  const { body } = await (await api()).get(`${caller.session}/history`)
  return body.entries.flatMap((entry: { readonly role: string; readonly content: ReadonlyArray<{ text?: string }> }) =>
    entry.role === "assistant" ? entry.content.flatMap(({ text: words }) => words ?? []) : []
  )
}

const heard = (caller: Caller, reply_id: string) => {
  caller.say({ type: "event", name: "reply_spoken", reply_id })
  return agree(caller.line)
}

it("a filler is a part of its turn, before what the model then says, and stands in the history once", async () => {
  const hold = makeGate()
  act("filler", (_, step) => (step > 0 ? says("Yes.") : [{ type: "pause", gate: hold }, ...says("Here it is.")]))
  const caller = await call("filler", "filling")
  caller.speak("filler: go")
  await caller.line.hear(isChunk)
  hold.open()
  const { replyId, said } = await caller.answer()
  expect(said).toBe("One moment. Here it is.")
  await heard(caller, replyId)

  const turn = await turnOf(caller)
  expect(turn).toMatchObject({ state: "completed", finalText: "Here it is." })
  expect(turn.parts).toMatchObject([text("One moment."), text("Here it is.")])
  const seen = await followed(caller)
  expect(seen.turn?.parts).toEqual(turn.parts)
  expect(seen.order).toEqual(["p1", "p2"])

  caller.speak("filler: and then")
  await caller.answer()
  const sent = messagesOf(await request("filler", 1)).map((message) => `${message.role} ${textOf(message)}`)
  expect(sent).toEqual(["user filler: go", "assistant One moment. Here it is.", "user filler: and then"])
})

it("what is said of a tool stands among its turn's parts where it was said", async () => {
  act("tool", (_, step) => (step === 0 ? callsFor(["lookup", {}]) : says("Sorry about that.")))
  const caller = await call("tool", "telling", { tools: [lookup] })
  caller.speak("tool: go")
  const { call_id } = await caller.line.hear(isToolCall)
  caller.say({ type: "tool:result", call_id, error: "no" })
  expect((await caller.answer()).said).toBe("Let me look. I found nothing. Sorry about that.")
  const { parts } = await turnOf(caller)
  const rest = [text("Let me look."), text("I found nothing."), text("Sorry about that.")]
  expect(parts).toMatchObject([{ type: "tool", state: "failed" }, ...rest])
  const { order, turn } = await followed(caller)
  expect(order).toEqual(["p1", "p2", "p3", "p4"])
  expect(turn?.parts).toEqual(parts)
})

it("an apology is the last part of the turn that failed", async () => {
  act("fails", () => [{ type: "status", status: 401, body: '{"error":{"message":"no such key"}}' }])
  const caller = await call("fails", "sorry")
  caller.speak("fails: go")
  expect((await caller.answer()).said).toBe("That did not work.")
  const turn = await turnOf(caller)
  expect(turn).toMatchObject({ state: "failed", parts: [text("That did not work.")] })
  expect(turn.finalText).toBeUndefined()
  expect((await followed(caller)).turn?.parts).toEqual(turn.parts)

  // One that the caller did not ask for, too.
  const other = `${caller.session}/turns/other`
  await (await api()).put(other, { content: "fails: news" })
  expect((await caller.answer()).said).toBe("That did not work.")
  expect((await (await api()).get(other)).body.parts).toMatchObject([text("That did not work.")])
})

it("after a restart a line of a turn's parts is not said again, nor asked of the model", async () => {
  const whole = "One two three. Four five six."
  const head = "One two three. "
  const goesOn = talking([{ text: whole }], 0)
  const hold = makeGate()
  act("kill", (asked, step) =>
    step > 0
      ? goesOn(asked)
      : [
          { type: "pause", gate: hold },
          { type: "text", text: head },
          { type: "pause", gate: makeGate() }
        ]
  )
  const caller = await call("kill", "filling")
  caller.speak("kill: go")
  const { reply_id } = await caller.line.hear(isChunk)
  hold.open()
  await caller.line.hear(isChunk)
  await agree(caller.line)
  const known = "SELECT 1 FROM voice_reply WHERE reply_id = ? AND delivered >= ?"
  await stored(place.data, known, reply_id, `One moment. ${head}`.length - 1)
  await server().crash()
  const before = caller.line.frames
  const line = await caller.resume(await server().up(), { query: "?agent=filling" })
  await line.hear(isDone)
  expect(saidIn([...before, ...line.frames], reply_id).trim()).toBe(`One moment. ${whole}`)
  await heard(caller, reply_id)
  const turn = await turnOf(caller)
  expect(turn).toMatchObject({ state: "completed", attempt: 2, finalText: whole })
  expect(turn.parts).toMatchObject([text("One moment."), text(whole)])
  expect(await spoken(caller)).toEqual([`One moment. ${whole}`])
  expect(JSON.stringify(requests("kill").map(({ body }) => body))).not.toContain("One moment")
})
