import { expect, it } from "vitest"
import { callsOf, count, ends } from "../kit/asks.ts"
import { loopStage } from "../kit/loopStage.ts"
import { callsFor, says } from "../kit/scriptedModel.ts"
import { messagesOf, textOf } from "../kit/stage.ts"
import { readUntil, wire } from "../kit/wire.ts"

const {
  act,
  api,
  asksSession,
  ended,
  inOrder,
  open,
  prompt,
  ran,
  reply,
  request,
  requests,
  server,
  sound,
  told,
  waits
} = loopStage()

const shells = (...names: ReadonlyArray<string>) =>
  callsFor(...names.map((name, index) => ["shell", { command: count(name) }, `c${index}`] as const))

/** The model asks for these calls at once, and then is done. */
const asksFor = (name: string, ...calls: ReadonlyArray<string>) =>
  act(name, (_, step) => (step === 0 ? shells(...calls) : says("done")))

const resolved = (name: string) => told(name, "approval.resolved")

it("a client that knows nothing finds the request, and its yes runs the call, once and for this time", async () => {
  const home = await asksSession("once")
  act("once", (_, step) => (step < 2 ? shells("a") : says("done")))
  await prompt(home, "t", "once: count")
  const turn = await waits(home, "t")
  const [call] = callsOf(turn)
  const anybody = wire(await server().up())
  const { permissions, next } = (await anybody.get(`${home}/permissions`)).body
  expect(next).toBeNull()
  expect(permissions).toMatchObject([
    {
      sessionId: "once",
      turnId: "t",
      callId: call?.callId,
      permission: "shell",
      patterns: [count("a")],
      detail: count("a"),
      always: [count("a")]
    }
  ])
  const [{ requestId }] = permissions
  expect(requestId).toMatch(/^req_[0-9A-HJKMNP-TV-Z]{26}$/)
  expect((await anybody.get(`${home}/status`)).body).toMatchObject({
    state: "waiting",
    activeTurnId: "t",
    pendingCalls: [call?.callId],
    waitingOn: [{ kind: "permission", id: requestId }]
  })
  expect(ran("once")).toEqual([])
  const answered = await anybody.post(`${home}/permissions/${requestId}/reply`, { reply: "once" })
  expect(answered).toMatchObject({ status: 200, body: { requestId, reply: "once", alsoSettled: [] } })
  // The same call again is asked for again: a yes to one is no rule.
  await waits(home, "t")
  const [second] = await open(home)
  expect(second?.requestId).not.toBe(requestId)
  expect((await anybody.get(`${home}/grants`)).body).toEqual({ grants: [], next: null })
  await reply(home, second?.requestId ?? "", "once")
  expect(ends(await ended(home, "t"))).toEqual(["completed", "completed"])
  expect(ran("once")).toEqual(["a", "a"])
  expect((await resolved("once")).map(({ reply, requestId }) => [requestId, reply])).toEqual([
    [requestId, "once"],
    [second?.requestId, "once"]
  ])
  expect((await resolved("once"))[0]).toMatchObject({ actor: { actorId: expect.any(String) } })
  await sound("once")
})

it("always saves exactly what was shown: the same call runs unasked, another is asked for, and the grant can be taken back", async () => {
  const home = await asksSession("always")
  act("always", (_, step) => (step < 4 ? shells(["a", "a", "b", "a"][step] ?? "") : says("done")))
  await prompt(home, "t", "always: count")
  await waits(home, "t")
  const [first] = await open(home)
  const granted = await reply(home, first?.requestId ?? "", "always")
  expect(granted.body).toMatchObject({ reply: "always", alsoSettled: [], grantId: expect.stringMatching(/^grt_/) })
  await waits(home, "t")
  expect(ran("always")).toEqual(["a", "a"])
  const [other] = await open(home)
  expect(other?.patterns).toEqual([count("b")])
  const { grants } = (await (await api()).get(`${home}/grants`)).body
  expect(grants).toMatchObject([{ grantId: granted.body.grantId, permission: "shell", patterns: [count("a")] }])
  const gone = await (await api()).send("DELETE", `/servers/default${home}/grants/${granted.body.grantId}`)
  expect(gone).toMatchObject({ status: 200, body: { ...grants[0], removed: true } })
  const again_ = await (await api()).send("DELETE", `/servers/default${home}/grants/${granted.body.grantId}`)
  expect(again_).toMatchObject({ status: 200, body: { grantId: granted.body.grantId, removed: false } })
  expect((await (await api()).get(`${home}/grants`)).body.grants).toEqual([])
  await reply(home, other?.requestId ?? "", "once")
  await waits(home, "t")
  const [again] = await open(home)
  expect(again?.patterns).toEqual([count("a")])
  await reply(home, again?.requestId ?? "", "reject")
  expect(ends(await ended(home, "t"))).toEqual(["completed", "completed", "completed", "rejected permission.rejected"])
  expect(ran("always")).toEqual(["a", "a", "b"])
  await sound("always")
})

it("a no keeps the call from running, and the model is told why", async () => {
  const home = await asksSession("no")
  asksFor("no", "a")
  await prompt(home, "t", "no: count")
  await waits(home, "t")
  const [asked] = await open(home)
  const answer = await reply(home, asked?.requestId ?? "", "reject", "Not on a Friday 🌍.")
  expect(answer).toMatchObject({ status: 200, body: { reply: "reject" } })
  expect(ends(await ended(home, "t"))).toEqual(["rejected permission.rejected"])
  const told = messagesOf(await request("no", 1)).at(-1)
  expect(told?.role).toBe("tool")
  expect(textOf(told ?? { role: "", content: "" })).toContain("Not on a Friday 🌍.")
  expect(await resolved("no")).toMatchObject([{ reply: "reject", message: "Not on a Friday 🌍." }])
  expect(ran("no")).toEqual([])
  await sound("no")
})

it("of three requests at once, a no to one leaves the others open, and each ends by its own answer", async () => {
  const home = await asksSession("three")
  asksFor("three", "a", "a", "b")
  await prompt(home, "t", "three: count")
  const [one, two, three] = await inOrder(home, await waits(home, "t"))
  expect(three?.patterns).toEqual([count("b")])
  await reply(home, two?.requestId ?? "", "reject")
  expect((await open(home)).map(({ requestId }) => requestId).sort()).toEqual([one?.requestId, three?.requestId].sort())
  expect((await waits(home, "t")).state).toBe("waiting")
  await reply(home, three?.requestId ?? "", "once")
  await reply(home, one?.requestId ?? "", "once")
  const turn = await ended(home, "t")
  expect(ends(turn)).toEqual(["completed", "rejected permission.rejected", "completed"])
  expect([...ran("three")].sort()).toEqual(["a", "b"])
  expect(await resolved("three")).toHaveLength(3)
  expect(requests("three")).toHaveLength(2)
  await sound("three")
})

it("of three requests at once, an always to one settles what it covers, and nothing else", async () => {
  const home = await asksSession("cover")
  asksFor("cover", "a", "a", "b")
  await prompt(home, "t", "cover: count")
  const [one, two, three] = await inOrder(home, await waits(home, "t"))
  const answer = await reply(home, one?.requestId ?? "", "always")
  expect(answer.body).toMatchObject({ reply: "always", alsoSettled: [two?.requestId] })
  expect((await open(home)).map(({ requestId }) => requestId)).toEqual([three?.requestId])
  // The second was answered with the first: the same answer is fine, another comes too late.
  expect((await reply(home, two?.requestId ?? "", "always")).status).toBe(200)
  expect((await reply(home, two?.requestId ?? "", "reject")).status).toBe(409)
  await reply(home, three?.requestId ?? "", "reject")
  expect(ends(await ended(home, "t"))).toEqual(["completed", "completed", "rejected permission.rejected"])
  expect(ran("cover")).toEqual(["a", "a"])
  const events = await resolved("cover")
  expect(events.map(({ requestId }) => requestId).sort()).toEqual([one, two, three].map((it) => it?.requestId).sort())
  await sound("cover")
})

it("L2: of many answers at once one stands, the same one again is fine, another is told which", async () => {
  const home = await asksSession("race")
  asksFor("race", "a")
  await prompt(home, "t", "race: count")
  const watched = readUntil((await api()).events(`${home}/events?afterCursor=0`), ({ data }) =>
    ["completed", "failed"].includes(data.turn?.state)
  )
  await waits(home, "t")
  const [asked] = await open(home)
  const id = asked?.requestId ?? ""
  const said = ["once", "reject", "always", "once", "reject", "always"]
  const answers = await Promise.all(said.map((word) => reply(home, id, word)))
  const standing = answers.find(({ status }) => status === 200)?.body
  expect(said).toContain(standing.reply)
  for (const [index, { body, status }] of answers.entries()) {
    if (said[index] === standing.reply) {
      expect(status).toBe(200)
      expect(body).toEqual(standing)
    } else {
      expect(status).toBe(409)
      expect(body).toMatchObject({ code: "permission.settled", details: { requestId: id, reply: standing.reply } })
    }
  }
  const turn = await ended(home, "t")
  expect(ran("race")).toEqual(standing.reply === "reject" ? [] : ["a"])
  expect(turn.state).toBe("completed")
  expect((await watched).filter(({ type }) => type === "session.turn.approval.resolved")).toHaveLength(1)
  // Long after the turn as well.
  expect((await reply(home, id, standing.reply)).body).toEqual(standing)
  await sound("race")
})

it("a request is answered where it was made, and nowhere else", async () => {
  const home = await asksSession("here")
  const other = await asksSession("elsewhere")
  asksFor("here", "a")
  await prompt(home, "t", "here: count")
  await waits(home, "t")
  const [asked] = await open(home)
  const missing = await reply(other, asked?.requestId ?? "", "once")
  expect(missing).toMatchObject({ status: 404, body: { code: "permission.not_found" } })
  expect((await reply(home, asked?.requestId ?? "", "perhaps")).status).toBe(400)
  expect((await open(home)).length).toBe(1)
  await reply(home, asked?.requestId ?? "", "reject")
  await ended(home, "t")
})
