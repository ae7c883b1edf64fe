import { expect, it } from "vitest"
import { wholeLog } from "../kit/follower.ts"
import { logProblems } from "../kit/logLaws.ts"
import { assertValidRequest, type Gate, makeGate, says } from "../kit/scriptedModel.ts"
import { messagesOf, pages, stage, textOf } from "../kit/stage.ts"
import { type Answer, readUntil } from "../kit/wire.ts"

const { act, api, ended, request, requests, session } = stage()

type Part = Answer["body"]

/** A session whose turn `a` is in the middle of its answer, until the gate opens. What follows is answered at once. */
const inTheMiddle = async (name: string): Promise<{ readonly home: string; readonly gate: Gate }> => {
  const home = await session(name)
  const gate = makeGate()
  act(name, (_, step) =>
    step === 0
      ? [{ type: "text", text: "so far" }, { type: "pause", gate }, ...says(", so good")]
      : says(`answer ${step}`)
  )
  await (await api()).put(`${home}/turns/a`, { content: `${name}: begin` })
  await gate.isReached
  return { home, gate }
}

const submit = async (home: string, turnId: string, whenBusy?: string) =>
  (await api()).put(`${home}/turns/${turnId}`, {
    content: `say ${turnId}`,
    ...(whenBusy === undefined ? {} : { whenBusy })
  })

const said = async (home: string): Promise<ReadonlyArray<string>> =>
  (await pages((await api()).get, `${home}/history`, "entries")).flatMap((entry: Part) =>
    entry.role === "user" ? [entry.content[0].text] : []
  )

it("queue: prompts wait in order of acceptance, each with its place and the log's position then", async () => {
  const { gate, home } = await inTheMiddle("queue")
  const receipts: Array<Part> = []
  for (const id of ["b", "c", "d"]) receipts.push((await submit(home, id)).body)
  expect(receipts).toMatchObject([
    { disposition: "queued", activeTurnId: "a", position: 1 },
    { disposition: "queued", activeTurnId: "a", position: 2 },
    { disposition: "queued", activeTurnId: "a", position: 3 }
  ])
  const { queue } = (await (await api()).get(`${home}/queue`)).body
  expect(queue.map(({ turnId, position, cursor }: Part) => ({ turnId, position, cursor }))).toEqual(
    receipts.map(({ turnId, position, cursor }) => ({ turnId, position, cursor }))
  )
  expect((await (await api()).get(`${home}/status`)).body).toMatchObject({
    state: "running",
    activeTurnId: "a",
    queued: 3
  })
  gate.open()
  await ended(home, "d")
  expect(await said(home)).toEqual(["queue: begin", "say b", "say c", "say d"])
  expect((await (await api()).get(`${home}/status`)).body).toMatchObject({ state: "idle", lastTurnId: "d", queued: 0 })
})

it("the queue is edited and withdrawn from until a turn starts", async () => {
  const { gate, home } = await inTheMiddle("edit")
  for (const id of ["b", "c", "d"]) await submit(home, id)
  const { send } = await api()
  const at = `/servers/default${home}/queue`
  const edited = await send("PATCH", `${at}/c`, { content: "say it better" })
  expect(edited).toMatchObject({
    status: 200,
    body: { turnId: "c", state: "queued", prompt: { content: [{ text: "say it better" }] } }
  })
  for (const _ of ["once", "again"]) expect((await send("DELETE", `${at}/b`)).status).toBe(200)
  expect(await ended(home, "b")).toMatchObject({ state: "cancelled", stopReason: "cancelled" })
  for (const verb of ["PATCH", "DELETE"]) {
    expect(await send(verb, `${at}/a`, verb === "PATCH" ? { content: "no" } : undefined)).toMatchObject({
      status: 409,
      body: { code: "turn.not_queued" }
    })
    expect((await send(verb, `${at}/nobody`, verb === "PATCH" ? { content: "no" } : undefined)).status).toBe(404)
  }
  gate.open()
  await ended(home, "d")
  expect(await said(home)).toEqual(["edit: begin", "say it better", "say d"])
  expect(logProblems(await wholeLog(await api(), "edit"))).toEqual([])
})

it("reject: a busy session refuses, keeps nothing, and takes the same id later", async () => {
  const { gate, home } = await inTheMiddle("reject")
  expect(await submit(home, "b", "reject")).toMatchObject({ status: 409, body: { code: "turn.busy", retryable: true } })
  expect((await (await api()).get(`${home}/turns/b`)).status).toBe(404)
  gate.open()
  await ended(home, "a")
  expect((await submit(home, "b", "reject")).body.disposition).toBe("started")
  expect(await ended(home, "b")).toMatchObject({ state: "completed" })
})

it("interrupt: the running turn ends interrupted, then the prompt runs, before those that waited", async () => {
  const { home } = await inTheMiddle("interrupt")
  await submit(home, "waits")
  expect((await submit(home, "b", "interrupt")).body).toMatchObject({
    disposition: "queued",
    activeTurnId: "a",
    position: 1
  })
  expect(await ended(home, "a")).toMatchObject({
    state: "cancelled",
    stopReason: "interrupted",
    parts: [{ text: "so far" }]
  })
  await ended(home, "waits")
  expect(await said(home)).toEqual(["interrupt: begin", "say b", "say waits"])
  const rows = await wholeLog(await api(), "interrupt")
  const end = rows.findIndex(({ data }) => data.turnId === "a" && data.turn?.state === "cancelled")
  const start = rows.findIndex(({ data, type }) => data.turnId === "b" && type === "session.turn.started")
  expect(end).toBeGreaterThan(0)
  expect(start).toBeGreaterThan(end)
  // What was said before the cut stays in the history, once, and the next request is valid.
  const next = await request("interrupt", 1)
  assertValidRequest(next.body)
  expect(messagesOf(next).map(textOf)).toEqual(["interrupt: begin", "so far", "say b"])
})

it("steer: with nothing running it starts a turn; a running turn takes it before its next step", async () => {
  const { gate, home } = await inTheMiddle("steer")
  const receipt = await submit(home, "b", "steer")
  expect(receipt).toMatchObject({ status: 202, body: { disposition: "steered", activeTurnId: "a", turnId: "b" } })
  const waiting = (await api()).put(`${home}/turns/b?waitMillis=20000`, { content: "say b", whenBusy: "steer" })
  const stream = readUntil((await api()).events(`${home}/turns/b/events`), ({ type }) => type === "turn.terminal")
  gate.open()
  const turn = await ended(home, "a")
  expect(turn.parts).toMatchObject([
    { type: "text", text: "so far, so good" },
    { type: "steer", applied: true, content: [{ type: "text", text: "say b" }] },
    { type: "text", text: "answer 1" }
  ])
  // The steered id stands for the turn it joined.
  expect((await (await api()).get(`${home}/turns/b`)).body).toEqual(turn)
  expect((await waiting).body).toEqual(turn)
  expect((await stream).at(-1)?.data).toMatchObject({ turnId: "a", turn: { state: "completed" } })
  expect(requests("steer")).toHaveLength(2)
  expect(messagesOf(await request("steer", 1)).map(textOf)).toEqual(["steer: begin", "so far, so good", "say b"])
  const late = await (await api()).post(`${home}/turns/b/cancel`)
  expect(late).toMatchObject({ status: 409, body: { code: "turn.not_queued" } })
  expect((await submit(home, "c", "steer")).body.disposition).toBe("started")
  expect(await ended(home, "c")).toMatchObject({ turnId: "c", state: "completed" })
  const { turns } = (await (await api()).get(`${home}/turns`)).body
  expect(turns.map(({ turnId }: Part) => turnId)).toEqual(["a", "c"])
})

it("steer: taken back before it is taken, it ends as a turn that never ran", async () => {
  const { gate, home } = await inTheMiddle("back")
  await submit(home, "b", "steer")
  for (const _ of ["once", "again"]) expect((await (await api()).post(`${home}/turns/b/cancel`)).status).toBe(202)
  gate.open()
  expect((await ended(home, "a")).finalText).toBe("so far, so good")
  expect((await (await api()).get(`${home}/turns/b`)).body).toMatchObject({
    turnId: "b",
    state: "cancelled",
    parts: []
  })
  expect(await said(home)).toEqual(["back: begin"])
})

it("steer: not taken by the end of its turn, a prompt runs as a turn of its own, a steer stays unapplied", async () => {
  const { home } = await inTheMiddle("untaken")
  await submit(home, "b", "steer")
  await submit(home, "c")
  const steered = await (await api()).post(`${home}/turns/a/steer/s`, { content: "to the left" })
  expect(steered).toMatchObject({ status: 202, body: { turnId: "a", entryId: "s", disposition: "accepted" } })
  await (await api()).post(`${home}/turns/a/cancel`)
  const turn = await ended(home, "a")
  expect(turn.parts.filter(({ type }: Part) => type === "steer")).toMatchObject([
    { applied: false },
    { applied: false }
  ])
  expect(await ended(home, "b")).toMatchObject({ turnId: "b", state: "completed" })
  await ended(home, "c")
  expect(await said(home)).toEqual(["untaken: begin", "say b", "say c"])
  expect(logProblems(await wholeLog(await api(), "untaken"))).toEqual([])
})

it("a steer goes to exactly its turn: an entry used before, a turn that ended or is ending refuse it", async () => {
  const { gate, home } = await inTheMiddle("exact")
  const { post, put } = await api()
  const steer = (turnId: string, entryId: string, content: string) =>
    post(`${home}/turns/${turnId}/steer/${entryId}`, { content })
  await put(`${home}/conversation/e`, { role: "user", content: "aside" })
  await submit(home, "b")
  expect((await steer("a", "s", "left")).status).toBe(202)
  expect(await steer("a", "s", "right")).toMatchObject({ status: 409, body: { _tag: "SteerConflictError" } })
  expect(await steer("a", "e", "aside")).toMatchObject({ status: 409, body: { _tag: "SteerConflictError" } })
  expect(await steer("b", "s", "left")).toMatchObject({ status: 409, body: { _tag: "SteerConflictError" } })
  expect(await steer("b", "x", "left")).toMatchObject({ status: 409, body: { _tag: "TurnNotActiveError" } })
  expect((await steer("nobody", "x", "left")).status).toBe(404)
  gate.open()
  await ended(home, "a")
  expect(await steer("a", "y", "late")).toMatchObject({ status: 409, body: { _tag: "TurnNotActiveError" } })
  expect(await steer("a", "s", "left")).toMatchObject({ status: 202, body: { disposition: "deduplicated" } })
})

it("L4: a steer that comes with the last word reopens nothing, and is taken or runs on its own", async () => {
  const home = await session("last")
  let gate = makeGate()
  act("last", (request) =>
    textOf(messagesOf(request).at(-1) ?? { role: "", content: "" }).startsWith("and")
      ? says("late")
      : [{ type: "text", text: "one " }, { type: "pause", gate }, ...says("two")]
  )
  const words: Array<string> = []
  for (let round = 0; round < 20; round++) {
    const id = `t${round}`
    gate = makeGate()
    await (await api()).put(`${home}/turns/${id}`, { content: `last: ${id}` })
    await gate.isReached
    // The last word and the steer race each other.
    gate.open()
    const { body } = await (await api()).put(`${home}/turns/s${round}`, { content: `and ${round}`, whenBusy: "steer" })
    words.push(body.disposition)
    expect((await ended(home, id)).parts.every((part: Part) => part.done !== false)).toBe(true)
    await ended(home, `s${round}`)
  }
  expect(logProblems(await wholeLog(await api(), "last"))).toEqual([])
  expect(await said(home)).toEqual(words.flatMap((_, round) => [`last: t${round}`, `and ${round}`]))
})

it("ids of turns, steers and entries may be the same word; each is found under its own kind", async () => {
  const { gate, home } = await inTheMiddle("word")
  const { post, put } = await api()
  expect((await put(`${home}/conversation/w`, { role: "user", content: "an entry" })).status).toBe(202)
  expect(await submit(home, "w", "steer")).toMatchObject({ status: 202, body: { disposition: "steered" } })
  expect((await post(`${home}/turns/a/steer/v`, { content: "a steer" })).status).toBe(202)
  expect(await submit(home, "v", "steer")).toMatchObject({ status: 202, body: { disposition: "steered" } })
  gate.open()
  expect(await ended(home, "a")).toMatchObject({ state: "completed", stopReason: "end" })
  expect(await said(home)).toEqual(["word: begin", "say w", "a steer", "say v", "an entry"])
})
