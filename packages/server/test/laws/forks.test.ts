import { expect, it } from "vitest"
import { wholeLog } from "../kit/follower.ts"
import { historyProblems, logProblems } from "../kit/logLaws.ts"
import { assertValidRequest, callsFor, makeGate, says } from "../kit/scriptedModel.ts"
import { messagesOf, pages, stage, textOf } from "../kit/stage.ts"
import { type Answer, readUntil } from "../kit/wire.ts"

const { act, api, ended, request, requests, server, session } = stage()

type Part = Answer["body"]

/** Three turns with an appended entry between them: t1 (with a call), e1, t2, e2, t3. */
const origin = async (name: string): Promise<string> => {
  const home = await session(name, { title: "the original", systemPrompt: "be kind", metadata: { of: "the original" } })
  act(name, (_, step) => (step === 0 ? callsFor(["shell", { command: "echo hi" }]) : says(`answer ${step}`)))
  const { put } = await api()
  for (const n of [1, 2, 3]) {
    const { body } = await put(`${home}/turns/t${n}?waitMillis=20000`, { content: `${name}: prompt ${n}` })
    expect(body.state).toBe("completed")
    if (n < 3) await put(`${home}/conversation/e${n}`, { role: "user", content: `aside ${n}` })
  }
  return home
}

const entriesOf = async (id: string) => pages((await api()).get, `/sessions/${id}/history`, "entries")
const turnsOf = async (id: string) => pages((await api()).get, `/sessions/${id}/turns`, "turns")
const outline = async (id: string): Promise<ReadonlyArray<string>> =>
  (await entriesOf(id)).map(({ content, role }: Part) => content.at(0)?.text ?? `${role}:${content.at(0)?.type}`)
const turnIds = async (id: string) => (await turnsOf(id)).map(({ turnId }) => turnId)

const WHOLE = [
  "prompt 1",
  "assistant:call",
  "tool:result",
  "answer 1",
  "aside 1",
  "prompt 2",
  "answer 2",
  "aside 2",
  "prompt 3",
  "answer 3"
]
const upTo = (name: string, text: string) =>
  WHOLE.slice(0, WHOLE.indexOf(text) + 1).map((line) => (line.startsWith("prompt") ? `${name}: ${line}` : line))

it("a whole fork begins with everything settled, says where it comes from, and takes what it should", async () => {
  const home = await origin("whole")
  const { get, post } = await api()
  const forked = await post(`${home}/forks/whole-fork`)
  const original = (await get(home)).body
  expect(forked).toMatchObject({
    status: 201,
    body: { sessionId: "whole-fork", forkedFrom: { sessionId: "whole" }, state: "idle", cursor: 1 }
  })
  for (const field of ["workdir", "model", "agent", "title"]) expect(forked.body[field], field).toEqual(original[field])
  expect(forked.body.spawnedFrom).toBeUndefined()
  const [own, inherited] = [
    (await get(`${home}/configuration`)).body,
    (await get("/sessions/whole-fork/configuration")).body
  ]
  for (const field of ["systemPrompt", "permissions", "tools", "agent"])
    expect(inherited[field], field).toEqual(own[field])
  expect(await outline("whole-fork")).toEqual(upTo("whole", "answer 3"))
  expect(await entriesOf("whole-fork")).toEqual(await entriesOf("whole"))
  expect(await turnIds("whole-fork")).toEqual(["t1", "t2", "t3"])
  const copies = await turnsOf("whole-fork")
  const originals = await turnsOf("whole")
  expect(copies.map(({ sessionId: _, ...turn }) => turn)).toEqual(originals.map(({ sessionId: _, ...turn }) => turn))
  expect(copies.map(({ sessionId }) => sessionId)).toEqual(["whole-fork", "whole-fork", "whole-fork"])
  expect((await get("/sessions/whole-fork/status")).body).toMatchObject({
    state: "idle",
    lastTurnId: "t3",
    turnCount: 3
  })
  expect(await wholeLog(await api(), "whole-fork")).toMatchObject([
    {
      id: 1,
      type: "session.created",
      data: { sessionId: "whole-fork", session: { forkedFrom: { sessionId: "whole" } } }
    }
  ])
})

it("a copied turn's stream has no rows, and ends with the turn, from the start and from its head", async () => {
  await origin("copied")
  const { events, get, post, put } = await api()
  await post("/sessions/copied/forks/copied-fork")
  const home = "/sessions/copied-fork"
  const turn = (await get(`${home}/turns/t1`)).body
  // Only who stands before its end gets it under its position.
  const queries = [
    ["", undefined],
    ["?afterRevision=0", turn.revision],
    [`?afterRevision=${turn.revision}`, undefined]
  ] as const
  for (const [query, id] of queries) {
    const frames = await readUntil(events(`${home}/turns/t1/events${query}`), () => false)
    expect(frames.at(-1), query).toMatchObject({ id, type: "turn.terminal", data: { turn } })
    expect(frames.filter((frame) => frame.id !== undefined).length).toBe(id === undefined ? 0 : 1)
  }
  // It has ended: the same prompt again is the same turn, another is refused.
  expect((await put(`${home}/turns/t1`, { content: "copied: prompt 1" })).body).toMatchObject({
    disposition: "deduplicated"
  })
  expect(await put(`${home}/turns/t1`, { content: "something else" })).toMatchObject({ status: 409 })
})

it("a fork goes to before a turn, through a turn, or through an entry, and no further", async () => {
  const home = await origin("cut")
  const { get, post } = await api()
  const cuts = [
    ["before-2", { turnId: "t2" }, "aside 1", ["t1"], { turnId: "t2" }],
    ["through-2", { through: { turnId: "t2" } }, "answer 2", ["t1", "t2"], { through: { turnId: "t2" } }],
    ["through-e1", { through: { entryId: "e1" } }, "aside 1", ["t1"], { through: { entryId: "e1" } }],
    ["through-e2", { through: { entryId: "e2" } }, "aside 2", ["t1", "t2"], { through: { entryId: "e2" } }]
  ] as const
  for (const [id, body, last, turns, boundary] of cuts) {
    const { body: forked, status } = await post(`${home}/forks/${id}`, body)
    expect(status, id).toBe(201)
    expect(forked.forkedFrom).toEqual({ sessionId: "cut", boundary })
    expect(await outline(id), id).toEqual(upTo("cut", last))
    expect(await turnIds(id), id).toEqual(turns)
  }
  // Before the first turn there is nothing.
  await post(`${home}/forks/before-1`, { turnId: "t1" })
  expect(await outline("before-1")).toEqual([])
  // The entry of a turn stands for its whole turn.
  const answer = (await entriesOf("cut")).find(({ content }: Part) => content.at(0)?.text === "answer 2")
  await post(`${home}/forks/through-answer`, { through: { entryId: answer.entryId } })
  expect(await outline("through-answer")).toEqual(upTo("cut", "answer 2"))
  for (const [body, status, code] of [
    [{ turnId: "t1", through: { turnId: "t2" } }, 400, "request.invalid"],
    [{ turnId: "nobody" }, 404, "turn.not_found"],
    [{ through: { turnId: "nobody" } }, 404, "turn.not_found"],
    [{ through: { entryId: "nobody" } }, 404, "entry.not_found"]
  ] as const) {
    expect(await post(`${home}/forks/never`, body)).toMatchObject({ status, body: { code } })
  }
  expect((await get("/sessions/never")).status).toBe(404)
  expect(await post(`${home}/forks/before-2`, { turnId: "t3" })).toMatchObject({
    status: 409,
    body: { code: "idempotency.mismatch" }
  })
})

it("a fork goes on by itself: valid requests, events under its own id, the original untouched", async () => {
  const home = await origin("own")
  const { get, post, put } = await api()
  await post(`${home}/forks/own-fork`, { through: { turnId: "t2" } })
  const before = await wholeLog(await api(), "own")
  const asked = requests("own").length
  act("own", (_, step) =>
    step === asked ? callsFor(["shell", { command: "echo $HARNESS_SESSION_ID" }]) : says("in the fork")
  )
  const { body: turn } = await put("/sessions/own-fork/turns/t3?waitMillis=20000", { content: "own: another third" })
  expect(turn).toMatchObject({ sessionId: "own-fork", state: "completed", finalText: "in the fork", attempt: 1 })
  // The call, too, ran under the fork's name.
  expect(turn.parts[0].result.content[0].text).toContain("own-fork")
  const sent = await request("own", asked)
  assertValidRequest(sent.body)
  expect(
    messagesOf(sent)
      .map(textOf)
      .filter((text) => text.startsWith("own:"))
  ).toEqual(["own: prompt 1", "own: prompt 2", "own: another third"])
  const rows = await wholeLog(await api(), "own-fork")
  expect(logProblems(rows)).toEqual([])
  expect(new Set(rows.map(({ data }) => data.sessionId))).toEqual(new Set(["own-fork"]))
  expect(historyProblems(await entriesOf("own-fork"))).toEqual([])
  expect(await wholeLog(await api(), "own")).toEqual(before)
  expect((await get(`${home}/turns/t3`)).body.prompt.content[0].text).toBe("own: prompt 3")
})

it("a fork of a fork, and the original's end: each stays readable without it, and goes on", async () => {
  const home = await origin("gone")
  const { get, post, put, send } = await api()
  await post(`${home}/forks/gone-1`, { through: { turnId: "t2" } })
  await put("/sessions/gone-1/turns/mine?waitMillis=20000", { content: "gone: mine" })
  const second = await post("/sessions/gone-1/forks/gone-2")
  expect(second.body.forkedFrom).toEqual({ sessionId: "gone-1" })
  expect(await turnIds("gone-2")).toEqual(["t1", "t2", "mine"])
  const [first, other] = [await entriesOf("gone-1"), await entriesOf("gone-2")]
  expect(other).toEqual(first)
  for (const id of ["gone", "gone-1"])
    expect((await send("DELETE", `/servers/default/sessions/${id}`)).status).toBe(200)
  expect(await entriesOf("gone-2")).toEqual(other)
  expect((await get("/sessions/gone-2/turns/t1")).body).toMatchObject({ turnId: "t1", state: "completed" })
  // Sent again, the fork is named as before; a new one has nothing to come from.
  expect((await post("/sessions/gone-1/forks/gone-2")).status).toBe(200)
  expect((await post(`${home}/forks/gone-3`)).status).toBe(404)
  await server().crash()
  const { body } = await (await api()).put("/sessions/gone-2/turns/on?waitMillis=20000", { content: "gone: on" })
  expect(body.state).toBe("completed")
  expect(logProblems(await wholeLog(await api(), "gone-2"))).toEqual([])
  expect(historyProblems(await entriesOf("gone-2"))).toEqual([])
})

it("a running turn, the queue and what waits behind them stay out; naming one that has not ended is refused", async () => {
  const home = await session("busy")
  const gate = makeGate()
  act("busy", (_, step) =>
    step === 1 ? [{ type: "text", text: "half" }, { type: "pause", gate }, ...says(" done")] : says(`answer ${step}`)
  )
  const { post, put } = await api()
  await put(`${home}/turns/t1?waitMillis=20000`, { content: "busy: one" })
  await put(`${home}/turns/t2`, { content: "busy: two" })
  await gate.isReached
  await put(`${home}/turns/t3`, { content: "busy: three" })
  await put(`${home}/turns/s`, { content: "busy: steer", whenBusy: "steer" })
  await put(`${home}/conversation/e`, { role: "user", content: "behind" })
  expect((await post(`${home}/forks/busy-fork`)).status).toBe(201)
  expect(await outline("busy-fork")).toEqual(["busy: one", "answer 0"])
  expect(await turnIds("busy-fork")).toEqual(["t1"])
  expect((await (await api()).get("/sessions/busy-fork/status")).body).toMatchObject({
    state: "idle",
    queued: 0,
    turnCount: 1
  })
  for (const body of [
    { turnId: "t2" },
    { through: { turnId: "t2" } },
    { through: { turnId: "t3" } },
    { through: { entryId: "e" } }
  ]) {
    expect(await post(`${home}/forks/never`, body), JSON.stringify(body)).toMatchObject({
      status: 409,
      body: { code: "turn.busy" }
    })
  }
  gate.open()
  await ended(home, "t3")
  const after = await put("/sessions/busy-fork/turns/t2?waitMillis=20000", { content: "busy: two, otherwise" })
  expect(after.body).toMatchObject({ state: "completed", sessionId: "busy-fork" })
})

it("visibility actor: a fork holds what its actor may see", async () => {
  const home = await session("seen")
  const { post, put } = await api()
  await put(`${home}/conversation/all`, { role: "user", content: "for all" })
  const actor = (await wholeLog(await api(), "seen"))[0]?.data.actor.actorId
  await put(`${home}/conversation/mine`, { role: "user", content: "for me", audience: [actor, "somebody"] })
  await put(`${home}/conversation/others`, { role: "user", content: "for others", audience: ["somebody"] })
  await post(`${home}/forks/seen-all`, { visibility: "all" })
  await post(`${home}/forks/seen-mine`, { visibility: "actor" })
  expect(await outline("seen-all")).toEqual(["for all", "for me", "for others"])
  expect(await outline("seen-mine")).toEqual(["for all", "for me"])
})
