import { afterAll, beforeAll, expect, it } from "vitest"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { readUntil, wire } from "../kit/wire.ts"

const place = folders()
let server: Harness
beforeAll(async () => {
  server = await startHarness(place)
})
afterAll(async () => {
  await server.stop()
  place.remove()
})

const anyCommand = { permissions: [{ permission: "shell", pattern: "*", action: "allow" }] }
const MIB = 1_048_576

/** A body of exactly 1 MiB. */
const brimful = (make: (text: string) => object) => make("x".repeat(MIB - Buffer.byteLength(JSON.stringify(make("")))))

const ids = (turns: ReadonlyArray<{ readonly turnId: string }>) => turns.map(({ turnId }) => turnId)

// First in this file: the server has not read a shell line yet.
it("a cancel while the first shell line is read leaves later ones alone", async () => {
  const { get, post, put } = wire(server)
  await put("/sessions/first", anyCommand)
  const content = 'use shell {"command":"echo hi"}'
  await put("/sessions/first/turns/a", { content })
  for (;;) {
    const { body } = await get("/sessions/first/turns/a")
    if (body.parts.length > 0) break
  }
  await post("/sessions/first/turns/a/cancel")
  const { body, status } = await put("/sessions/first/turns/b?waitMillis=10000", { content })
  expect(status).toBe(200)
  expect(body.parts[0]).toMatchObject({ type: "tool", state: "completed" })
})

it("every steered prompt is a part of the turn it joined, however close to its start it came", async () => {
  const { get, put } = wire(server)
  for (let round = 0; round < 20; round++) {
    const home = `/sessions/steers-${round}`
    await put(home)
    const prompt = put(`${home}/turns/t`, { content: "write 20 words every 2 ms" })
    const steers = ["a", "b", "c"].map((id) => put(`${home}/turns/${id}`, { content: id, whenBusy: "steer" }))
    const receipts = (await Promise.all([prompt, ...steers])).map(({ body }) => body)
    const joined = receipts.filter(({ disposition }) => disposition === "steered")
    for (const { activeTurnId, turnId } of joined) {
      const { body } = await get(`${home}/turns/${activeTurnId}`)
      expect(body.parts).toContainEqual(expect.objectContaining({ type: "steer", entryId: turnId }))
    }
  }
})

it("defaults that are spelled out make no other prompt", async () => {
  const { put } = wire(server)
  await put("/sessions/defaults")
  await put("/sessions/defaults/turns/t", { content: "x", session: {} })
  const spelled = { maxSteps: 100, mode: "agent", output: { type: "text" }, tools: {}, budget: {} }
  for (const options of [{}, spelled]) {
    const { body } = await put("/sessions/defaults/turns/t", { content: "x", options, session: { title: "" } })
    expect(body.disposition).toBe("deduplicated")
  }
  const { body } = await put("/sessions/defaults/turns/t", { content: "x", options: { mode: "ask" }, session: {} })
  expect(body.code).toBe("idempotency.mismatch")
})

it("a place in the queue outlives the turn that had it", async () => {
  const { get, put, send, home } = wire(server)
  await put("/sessions/queue")
  await put("/sessions/queue/turns/run", { content: "wait 60000 x" })
  for (const id of ["a", "b", "c"]) await put(`/sessions/queue/turns/${id}`, { content: id })
  expect((await send("DELETE", `${home}/sessions/queue/queue/b`)).status).toBe(200)
  expect(ids((await get("/sessions/queue/queue?after=b")).body.queue)).toEqual(["c"])
  expect((await get("/sessions/queue/queue?after=nobody")).body.code).toBe("cursor.invalid")
})

it("no durable event is over 1 MiB", async () => {
  const { put, post, events } = wire(server)
  const refused = { status: 413, body: { code: "request.too_large" } }
  expect(
    await put(
      "/sessions/full",
      brimful((m) => ({ metadata: { m } }))
    )
  ).toMatchObject(refused)
  expect((await put("/sessions/big")).status).toBe(201)
  const conversation = brimful((content) => ({ role: "user", content }))
  expect(await put("/sessions/big/conversation/e", conversation)).toMatchObject(refused)
  const tools = (description: string) => [{ name: "t", description, inputSchema: {} }]
  const configuration = brimful((text) => ({ expectedRevision: 1, externalTools: tools(text) }))
  expect(await put("/sessions/big/configuration", configuration)).toMatchObject(refused)
  const prompt = await put(
    "/sessions/big/turns/p?waitMillis=20000",
    brimful((content) => ({ content }))
  )
  expect(prompt.body.state).toBe("completed")
  await put("/sessions/big/turns/run", { content: "wait 60000 x" })
  expect(
    await post(
      "/sessions/big/turns/run/steer/s",
      brimful((content) => ({ content }))
    )
  ).toMatchObject(refused)
  await post("/sessions/big/turns/run/cancel")
  const all = await readUntil(events("/sessions/big/events?afterCursor=0"), ({ type }) => type === "session.cursor")
  const bytes = all.map(({ data }) => Buffer.byteLength(JSON.stringify(data)))
  expect(Math.max(...bytes)).toBeLessThanOrEqual(MIB)
})
