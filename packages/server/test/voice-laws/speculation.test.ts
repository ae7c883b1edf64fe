import { expect, it } from "vitest"
import { textOf, wordsIn } from "../kit/caller.ts"
import { isChunk, isToolCall } from "../kit/line.ts"
import { callsFor, fails, makeGate, says } from "../kit/scriptedModel.ts"
import { voiceStage } from "../kit/voiceStage.ts"
import type { wire } from "../kit/wire.ts"

const on = voiceStage({ early: "  speculation: on" })

const usageOf = async (of: Awaited<ReturnType<typeof on.call>>, turn: number) => (await of.turn(turn)).body.usage

it("a draft of the same words streams at once, and the model is asked once", async () => {
  const gate = makeGate()
  const words = "When are you open?"
  on.answers().on(words, [{ type: "text", text: "We are " }, { type: "pause", gate }, ...says("open.")])
  const caller = await on.call("hit")
  caller.speaks(1)
  caller.hears(1, "When are", false)
  caller.hears(1, words)
  await gate.isReached
  await on.meanwhile()
  expect(caller.line.frames).toEqual([])
  expect((await caller.history()).length).toBe(0)
  caller.commits(1, " when are  you open")
  const first = await caller.line.hear(isChunk)
  expect(first).toMatchObject({ turn_id: 1 })
  gate.open()
  expect(await caller.reply()).toMatchObject({ said: "We are open.", turn_id: 1 })
  expect(on.answers().asked(words).length + on.answers().asked(" when are  you open").length).toBe(1)
  expect((await caller.history()).map(({ role, ...entry }) => [role, textOf({ role, ...entry })])).toEqual([
    ["user", " when are  you open"],
    ["assistant", "We are open."]
  ])
  expect((await usageOf(caller, 1)).speculative).toBeUndefined()
})

it("words that did not change for a while are answered early too, and the same words final twice are answered once", async () => {
  const caller = await on.call("steady")
  caller.hears(1, "steady as", false)
  caller.hears(1, "steady as she goes", false)
  await on.answers().ask("steady as she goes")
  caller.hears(1, "Steady as she goes.", true)
  caller.hears(1, "Steady as she goes.", true)
  await on.meanwhile()
  caller.commits(1, "steady as she goes")
  expect((await caller.reply()).said).toBe("You said: steady as she goes")
  expect(on.model().requests.filter((request) => /steady/i.test(wordsIn(request))).length).toBe(1)
})

it("revised words end the draft of those before: its request is closed, and none of it is said", async () => {
  const gate = makeGate()
  on.answers().on("book a table", [{ type: "text", text: "For how many?" }, { type: "pause", gate }, ...says("!")])
  const caller = await on.call("revised")
  caller.hears(1, "book a table")
  const first = await on.answers().ask("book a table")
  await gate.isReached
  caller.hears(1, "book a taxi", false)
  expect((await first.closed).aborted).toBe(true)
  caller.hears(1, "book a taxi")
  await on.answers().ask("book a taxi")
  caller.commits(1, "book a taxi")
  expect((await caller.reply()).said).toBe("You said: book a taxi")
  expect(JSON.stringify(caller.line.frames)).not.toContain("how many")
  expect((await caller.history()).map(textOf)).toEqual(["book a taxi", "You said: book a taxi"])
  expect(on.answers().asked("book a taxi").length).toBe(1)
  expect((await usageOf(caller, 1)).speculative).toBeGreaterThan(0)
})

it("a turn that is cancelled, or another that starts, ends the draft, and the next words are answered", async () => {
  on.answers().on("first thought", [{ type: "stall", headers: true }])
  on.answers().on("second thought", [{ type: "stall", headers: true }])
  const caller = await on.call("cancelled")
  caller.hears(1, "first thought")
  const first = await on.answers().ask("first thought")
  caller.cancels(1)
  expect((await first.closed).aborted).toBe(true)
  caller.hears(2, "second thought")
  const second = await on.answers().ask("second thought")
  caller.commits(3, "third thought")
  expect((await second.closed).aborted).toBe(true)
  expect((await caller.reply()).said).toBe("You said: third thought")
  expect((await caller.history()).map(textOf)).toEqual(["third thought", "You said: third thought"])
})

it("words that turned out others are asked anew, and what the draft cost is counted on that turn, once", async () => {
  const caller = await on.call("other-words")
  on.answers().on("a large pizza", says("Large", " it", " is."))
  caller.hears(1, "a large pizza")
  expect((await (await on.answers().ask("a large pizza")).closed).aborted).toBe(false)
  await on.meanwhile()
  caller.commits(1, "two large pizzas")
  expect((await caller.reply()).said).toBe("You said: two large pizzas")
  expect((await caller.history()).map(textOf)).toEqual(["two large pizzas", "You said: two large pizzas"])
  expect(await usageOf(caller, 1)).toMatchObject({ inputTokens: 10, outputTokens: 1, speculative: 13 })
  caller.commits(2, "and a salad")
  await caller.reply()
  expect((await usageOf(caller, 2)).speculative).toBeUndefined()
})

it("L6: calls of a draft run when its turn has begun, and once", async () => {
  const caller = await on.call("tools")
  on.answers().on("opening hours", callsFor(["get_hours", {}]), says("Eight to six."))
  caller.hears(1, "opening hours")
  await (await on.answers().ask("opening hours")).closed
  await on.meanwhile()
  expect(caller.line.frames).toEqual([])
  caller.commits(1, "Opening hours?")
  const asked = await caller.line.hear(isToolCall)
  expect(asked).toMatchObject({ turn_id: 1, name: "get_hours" })
  on.answers().on("Opening hours?", says("Eight to six."))
  caller.result(asked.call_id, "8-18")
  expect((await caller.reply()).said).toBe("Eight to six.")
  expect(caller.line.frames.filter(isToolCall).length).toBe(1)
  expect(on.answers().asked("opening hours").length).toBe(1)
  expect(on.answers().asked("Opening hours?").length).toBe(1)
})

it("a draft that failed is run anew, whether it failed before it was wanted or after", async () => {
  const caller = await on.call("fails")
  on.answers().on("half an answer", [{ type: "text", text: "Half" }, { type: "cut" }], says("A whole one."))
  caller.hears(1, "half an answer")
  await (await on.answers().ask("half an answer")).closed
  await on.meanwhile()
  caller.commits(1, "half an answer")
  expect((await caller.reply()).said).toBe("A whole one.")
  on.answers().on("refused", fails(400, { message: "no" }), says("Let in."))
  caller.hears(2, "refused")
  await (await on.answers().ask("refused")).closed
  caller.commits(2, "refused")
  expect((await caller.reply()).said).toBe("Let in.")
  const gate = makeGate()
  on.answers().on("dies later", [{ type: "head" }, { type: "pause", gate }, { type: "reset" }], says("Lives on."))
  caller.hears(3, "dies later")
  await gate.isReached
  caller.commits(3, "dies later")
  while ((await caller.turn(3)).body.state !== "running") await on.meanwhile()
  gate.open()
  expect((await caller.reply()).said).toBe("Lives on.")
  expect((await caller.history()).map(textOf)).toEqual([
    "half an answer",
    "A whole one.",
    "refused",
    "Let in.",
    "dies later",
    "Lives on."
  ])
})

it("L12: what was heard meanwhile changes what the words are said to: the draft is made anew over it", async () => {
  const caller = await on.call("heard")
  on.answers().on("count", says("Apple pear plum fig."))
  caller.commits(1, "count")
  const { reply_id } = await caller.reply()
  on.answers().on("stop there", [{ type: "stall", headers: true }], says("Stopped at pear."))
  caller.speaks(2)
  caller.hears(2, "stop there")
  const first = await on.answers().ask("stop there")
  expect(first.text).toContain("plum")
  caller.event("user_interruption", { turn_id: 1, reply_id, spoken: "Apple pear", unspoken: " plum fig." })
  expect((await first.closed).aborted).toBe(true)
  const second = await on.answers().ask("stop there", 1)
  expect(second.text).toContain("Apple pear")
  expect(second.text).not.toContain("plum")
  caller.commits(2, "stop there")
  expect((await caller.reply()).said).toBe("Stopped at pear.")
  expect(on.answers().asked("stop there").length).toBe(2)
})

const changes = {
  "an entry": async (api: ReturnType<typeof wire>, session: string) => {
    const entry = { role: "custom", content: "The caller is a member.", custom: { type: "note", details: {} } }
    expect((await api.put(`${session}/conversation/e1`, entry)).status).toBeLessThan(300)
  },
  "a configuration": async (api: ReturnType<typeof wire>, session: string) => {
    const { body } = await api.get(`${session}/configuration`)
    const { revision, ...before } = body
    const after = { ...before, expectedRevision: revision, systemPrompt: "The caller is a member." }
    expect((await api.put(`${session}/configuration`, after)).status).toBeLessThan(300)
  },
  "an agent's file": async () => on.prompt("early", "The caller is a member.")
}

for (const [what, change] of Object.entries(changes)) {
  it(`${what} that came meanwhile is in the request: the draft is not adopted`, async () => {
    const words = `after ${what}`
    const caller = await on.call(`change-${what.at(-1)}`)
    on.answers().on(words, says("Who are you?"), says("Hello, member."))
    caller.hears(1, words)
    const first = await on.answers().ask(words)
    await first.closed
    expect(first.text).not.toContain("member")
    await change(on.api(), caller.session)
    caller.commits(1, words)
    expect((await caller.reply()).said).toBe("Hello, member.")
    expect((await on.answers().ask(words, 1)).text).toContain("The caller is a member.")
    on.prompt("early", "You answer calls.")
  })
}

it("another language than the draft's is answered anew", async () => {
  const caller = await on.call("language")
  on.answers().on("auf Wiedersehen", says("Goodbye."), says("Tschüs."))
  caller.hears(1, "auf Wiedersehen")
  await (await on.answers().ask("auf Wiedersehen")).closed
  caller.commits(1, "auf Wiedersehen", { language: "de-DE" })
  expect((await caller.reply()).said).toBe("Tschüs.")
})

it("a result that came while the caller spoke ends the draft, and is told", async () => {
  const caller = await on.call("result")
  on.answers().on("my balance", callsFor(["get_hours", {}]))
  caller.commits(1, "my balance")
  const { call_id } = await caller.line.hear(isToolCall)
  caller.cancels(1)
  caller.speaks(2)
  on.answers().on("hello there", [{ type: "stall", headers: true }], says("Hello."))
  caller.hears(2, "hello there")
  const draft = await on.answers().ask("hello there")
  caller.result(call_id, "seven pounds")
  expect((await draft.closed).aborted).toBe(true)
  caller.commits(2, "hello there")
  await caller.reply()
  for (let index = draft.index; ; index++) if ((await on.model().request(index)).text.includes("seven pounds")) break
})

it("a turn that is cancelled after it adopted its draft ends the draft's request", async () => {
  const gate = makeGate()
  on.answers().on("a long story", [
    { type: "text", text: "Once upon a time " },
    { type: "pause", gate }
  ])
  const caller = await on.call("adopted-cancelled")
  caller.hears(1, "a long story")
  const draft = await on.answers().ask("a long story")
  await gate.isReached
  caller.commits(1, "a long story")
  await caller.line.hear(isChunk)
  caller.cancels(1)
  expect((await draft.closed).aborted).toBe(true)
  caller.commits(2, "something else")
  expect((await caller.reply()).said).toBe("You said: something else")
})

it("a call that ends ends its draft", async () => {
  on.answers().on("and then", [{ type: "stall", headers: true }])
  const caller = await on.call("ends")
  caller.hears(1, "and then")
  const draft = await on.answers().ask("and then")
  caller.ends()
  expect((await draft.closed).aborted).toBe(true)
})
