import { beforeAll, expect, it } from "vitest"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { isChunk, isCommand, isDone } from "../kit/line.ts"
import { answers, bodyOf, clearUp, messagesOf, type OnCall, onCall, plays, resultsIn, wordsIn } from "../kit/onCall.ts"
import { writeAgent } from "../kit/phoneCall.ts"
import { type ScriptedModel, startScriptedModel } from "../kit/scriptedModel.ts"
import { readUntil, wire } from "../kit/wire.ts"

let model: ScriptedModel
let server: Harness
const places = folders()

const transfer = 'transfer: ["+15085550123", "sip:desk@example.com"]'

beforeAll(async () => {
  model = await startScriptedModel()
  writeAgent(places.root, "acme", [transfer], "tools: []\n")
  writeAgent(
    places.root,
    "hasty",
    [transfer, "tools:", "  set_barge_in:", "    timeoutMillis: 200", "  transfer:", "    timeoutMillis: 200"],
    "tools: []\n"
  )
  server = await startHarness({ ...places, openaiBaseUrl: model.url })
})

clearUp(places, () => ({ server, model }))

const acme = (start: object = {}) => onCall(server, { agent: "acme", start })
const commandsOf = (line: OnCall) => line.frames.filter(isCommand)
const obey = (line: OnCall, command: { readonly command_id: string }) =>
  line.tell({ type: "command:result", command_id: command.command_id, ok: true })

it("a hangup waits until the goodbye was heard, then ends the turn, and asks the model nothing more", async () => {
  plays(model, answers("Thanks for calling. Goodbye!", ["hangup", { reason: "resolvé\r\nX-Evil: 1" }]))
  const line = await acme()
  line.speak(1, "That is all, thanks")
  const { replyId, text, turnId } = await line.reply()
  expect([text, turnId]).toEqual(["Thanks for calling. Goodbye!", 1])
  await line.dealtWith()
  expect(commandsOf(line)).toEqual([])
  line.event("reply_spoken", { reply_id: replyId })
  const command = await line.command()
  const { command_id } = command
  const args = { reason: "resolve X-Evil: 1" }
  expect(command).toEqual({ type: "command", command_id, name: "hangup", args })
  const asked = model.requests.length
  obey(line, command)
  await line.end("harness_hangup")
  expect(model.requests).toHaveLength(asked)
  expect(await line.turns()).toMatchObject([
    { state: "completed", stopReason: "end", finalText: "Thanks for calling. Goodbye!" }
  ])
  const history = await line.history()
  expect(wordsIn(history)).toEqual(["Thanks for calling. Goodbye!"])
  expect(resultsIn(history)).toEqual(["The call is ended."])
})

it("a hangup without a word is done at once, and the call's own end is its result", async () => {
  plays(model, answers("", ["hangup", {}]))
  const line = await acme()
  line.speak(1, "Bye")
  const command = await line.command()
  expect(command).toMatchObject({ name: "hangup", args: {} })
  const done = line.frames.findIndex(isDone)
  expect(done).toBeLessThan(line.frames.findIndex(isCommand))
  expect(line.frames[done]).toMatchObject({ turn_id: 1, turn_record: { route: "acme" } })
  await line.end("harness_hangup")
  expect(await line.turns()).toMatchObject([{ state: "completed" }])
  expect(resultsIn(await line.history())).toEqual(["The call is ended."])
})

it("a goodbye of which nobody says that it was heard is waited for no longer than it takes to say", async () => {
  plays(model, answers("Bye.", ["hangup", { reason: "done" }]))
  const line = await acme()
  line.speak(1, "Bye")
  await line.reply()
  expect(await line.command()).toMatchObject({ name: "hangup", args: { reason: "done" } })
  await line.end("harness_hangup")
})

it("L12: a caller who speaks into the goodbye calls the hangup off", async () => {
  plays(model, answers("So long, and goodbye.", ["hangup", {}]), answers("Of course."))
  const line = await acme()
  line.speak(1, "Bye")
  const { replyId } = await line.reply()
  await line.dealtWith()
  line.event("user_interruption", { turn_id: 1, reply_id: replyId, spoken: "So long,", unspoken: " and goodbye." })
  line.tell({ type: "turn:cancel", turn_id: 1, reason: "barge_in" })
  line.speak(2, "Wait, one more thing")
  expect((await line.reply()).text).toBe("Of course.")
  await line.dealtWith()
  expect(commandsOf(line)).toEqual([])
  const last = JSON.stringify(messagesOf(model.requests.at(-1)))
  expect(last).toContain("Not done, the caller spoke.")
  expect(last).not.toContain("and goodbye")
  const history = await line.history()
  expect(wordsIn(history)).toEqual(["So long,", "Of course."])
  expect(resultsIn(history)).toEqual(["Not done, the caller spoke."])
  expect(await line.turns()).toMatchObject([{ state: "cancelled", stopReason: "interrupted" }, { state: "completed" }])
  await line.end()
})

it("a turn:cancel calls it off, and so does the caller's next turn", async () => {
  plays(
    model,
    answers("Goodbye.", ["hangup", {}]),
    answers("I put you through.", ["transfer", {}]),
    answers("Yes, I am here.")
  )
  const line = await acme()
  line.speak(1, "Bye")
  await line.reply()
  line.tell({ type: "turn:cancel", turn_id: 1, reason: "barge_in" })
  line.speak(2, "No, put me through")
  await line.reply()
  line.speak(3, "Or rather stay")
  expect((await line.reply()).text).toBe("Yes, I am here.")
  await line.dealtWith()
  expect(commandsOf(line)).toEqual([])
  expect(resultsIn(await line.history())).toEqual(["Not done, the caller spoke.", "Not done, the caller spoke."])
  await line.end()
})

it("a transfer goes only where the agent may send calls, with all it says, and its announcement is jambonz's to say", async () => {
  const args = {
    to: "+15085550123",
    trunk: "carrier",
    headers: { "X-Reason": "billing" },
    announce: "I put you through to billing."
  }
  plays(
    model,
    answers("One moment.", ["transfer", { to: "+19005550100" }]),
    answers("", ["transfer", { headers: { "X-Bad": "a\r\nb" } }]),
    answers("", ["transfer", args])
  )
  const line = await acme()
  line.speak(1, "Billing, please")
  const { replyId, text } = await line.reply()
  expect(text.trim()).toBe("One moment.")
  line.event("reply_spoken", { reply_id: replyId })
  const command = await line.command()
  expect(command).toMatchObject({ name: "transfer", args })
  obey(line, command)
  const asked = model.requests.length
  line.event("transfer", { command_id: command.command_id, outcome: "bridged" })
  await line.end("transferred")
  expect(model.requests).toHaveLength(asked)
  expect(commandsOf(line)).toHaveLength(1)
  const results = resultsIn(await line.history())
  expect(results).toHaveLength(3)
  expect(results[2]).toBe("The caller was put through.")
  expect(wordsIn(await line.history()).join(" ")).not.toContain("billing")
  expect(await line.turns()).toMatchObject([{ state: "completed" }])
})

it("a transfer without a destination takes jambonz's own; when it fails the turn goes on at once", async () => {
  plays(model, answers("I put you through.", ["transfer", {}]), answers("Nobody answers there."))
  const line = await acme()
  line.speak(1, "A human, please")
  const { replyId } = await line.reply()
  line.event("reply_spoken", { reply_id: replyId })
  const command = await line.command()
  expect(command).toMatchObject({ name: "transfer", args: {} })
  obey(line, command)
  line.event("transfer", { command_id: command.command_id, outcome: "failed", reason: "no answer" })
  const after = await line.reply()
  expect(after).toMatchObject({ text: "Nobody answers there.", turnId: undefined })
  expect(after.replyId).not.toBe(replyId)
  line.event("reply_spoken", { reply_id: after.replyId })
  expect(resultsIn(await line.history())).toEqual(["The transfer failed (no answer). The caller is still with you."])
  expect(await line.turns()).toMatchObject([{ state: "completed", finalText: "Nobody answers there." }])
  await line.end()
  expect(wordsIn(await line.history())).toEqual(["I put you through.", "Nobody answers there."])
})

it("a transfer that jambonz does not take is an error, and one that comes back begins a turn", async () => {
  plays(
    model,
    answers("I put you through.", ["transfer", {}]),
    answers("That did not work. Again.", ["transfer", { to: "sip:desk@example.com" }]),
    answers("There you are again.")
  )
  const line = await acme()
  line.speak(1, "A human, please")
  line.event("reply_spoken", { reply_id: (await line.reply()).replyId })
  const first = await line.command()
  line.tell({ type: "command:result", command_id: first.command_id, ok: false, error: "no destination" })
  const second = await line.reply()
  expect(second).toMatchObject({ text: "That did not work. Again.", turnId: undefined })
  line.event("reply_spoken", { reply_id: second.replyId })
  const command = await line.command()
  obey(line, command)
  line.event("transfer", { command_id: command.command_id, outcome: "bridged" })
  line.event("transfer", { command_id: command.command_id, outcome: "returned" })
  const back = await line.reply()
  expect(back).toMatchObject({ text: "There you are again.", turnId: undefined })
  const history = await line.history()
  expect(resultsIn(history)).toEqual(["Not done: no destination.", "The caller was put through."])
  expect(JSON.stringify(history)).toContain("the caller is back with you")
  await line.end()
})

it("while the caller is away on a transfer nothing is said; what was to be said is said when they are back", async () => {
  plays(
    model,
    answers("I put you through.", ["transfer", { to: "sip:desk@example.com" }]),
    answers("A letter came."),
    answers("There you are again.")
  )
  const line = await acme()
  line.speak(1, "A human, please")
  line.event("reply_spoken", { reply_id: (await line.reply()).replyId })
  const command = await line.command()
  obey(line, command)
  line.event("transfer", { command_id: command.command_id, outcome: "bridged" })
  const { events, put } = wire(server)
  await put(`${line.session}/turns/aside`, { content: "Tell them that a letter came" })
  await readUntil(events(`${line.session}/turns/aside/events`), ({ type }) => type === "turn.terminal")
  await line.dealtWith()
  const before = line.frames.filter(isChunk).length
  expect(before).toBe(line.frames.filter((frame) => isChunk(frame) && frame.turn_id === 1).length)
  line.event("transfer", { command_id: command.command_id, outcome: "returned" })
  const held = await line.reply()
  expect(held).toMatchObject({ text: "A letter came.", turnId: undefined })
  line.event("reply_spoken", { reply_id: held.replyId })
  expect(await line.reply()).toMatchObject({ text: "There you are again.", turnId: undefined })
  await line.end()
})

it("recording, barge-in and language are commands, each with what comes of it", async () => {
  plays(
    model,
    answers(
      "",
      ["record", { action: "start", type: "siprec" }],
      ["set_barge_in", { enabled: false }],
      ["set_language", { language: "de-DE" }]
    ),
    answers("Recording now.")
  )
  const line = await acme()
  line.speak(1, "Record this")
  const [record, bargeIn, listen] = [await line.command(), await line.command(), await line.command()]
  expect(record).toMatchObject({ name: "record", args: { action: "start", type: "siprec" } })
  expect(bargeIn).toMatchObject({ name: "barge_in", args: { enabled: false } })
  expect(listen).toMatchObject({ name: "listen", args: { language: "de-DE" } })
  for (const command of [listen, record]) obey(line, command)
  line.tell({ type: "command:result", command_id: bargeIn.command_id, ok: false, error: "not now" })
  line.event("recording", { command_id: "another", state: "started", by: "application" })
  line.event("recording", { command_id: record.command_id, state: "started", by: "harness" })
  expect((await line.reply()).text).toBe("Recording now.")
  expect(resultsIn(await line.history())).toEqual([
    "The recording is started (by harness).",
    "Not done: not now.",
    "The caller is listened to in de-DE from here on."
  ])
  await line.end()
})

it("a command that nothing comes of is an error at its deadline", async () => {
  plays(
    model,
    answers("", ["set_barge_in", { enabled: true }]),
    answers("Hold on.", ["transfer", {}]),
    answers("It seems I cannot.")
  )
  const line = await onCall(server, { agent: "hasty" })
  line.speak(1, "A human, please")
  line.event("reply_spoken", { reply_id: (await line.reply()).replyId })
  expect(await line.reply()).toMatchObject({ text: "It seems I cannot.", turnId: undefined })
  expect(commandsOf(line).map(({ name }) => name)).toEqual(["barge_in", "transfer"])
  expect(resultsIn(await line.history())).toEqual([
    "Not done: no result came in time.",
    "Not done: no result came in time."
  ])
  await line.end()
})

it("other calls of the answer come first, and only one of them ends the call", async () => {
  plays(model, answers("", ["hangup", {}], ["record", { action: "stop" }], ["transfer", {}]))
  const line = await acme()
  line.speak(1, "Bye")
  const record = await line.command()
  expect(record).toMatchObject({ name: "record", args: { action: "stop" } })
  obey(line, record)
  line.event("recording", { command_id: record.command_id, state: "stopped", by: "harness" })
  const hangup = await line.command()
  expect(hangup).toMatchObject({ name: "hangup" })
  obey(line, hangup)
  await line.end("harness_hangup")
  expect(resultsIn(await line.history())).toEqual([
    "The call is ended.",
    "The recording is stopped (by harness).",
    "Not done: another call of this answer ends the call already."
  ])
})

it("every call offers them, and its application's tools of those names under another", async () => {
  plays(model, answers("", ["jambonz_hangup", {}]), answers("Well."))
  const hangup = { name: "hangup", description: "Theirs", parameters: { type: "object", properties: {} } }
  const line = await acme({ tools: [{ type: "function", function: hangup }] })
  line.speak(1, "Bye")
  const tool = await line.toolCall()
  expect(tool).toMatchObject({ name: "hangup", turn_id: 1 })
  line.tell({ type: "tool:result", call_id: tool.call_id, result: "ok" })
  expect((await line.reply()).text).toBe("Well.")
  const { tools } = bodyOf(model.requests.at(-1))
  expect(tools.map((one: { readonly function: { readonly name: string } }) => one.function.name)).toEqual([
    "hangup",
    "transfer",
    "record",
    "set_barge_in",
    "set_language",
    "jambonz_hangup"
  ])
  await line.end()
})
