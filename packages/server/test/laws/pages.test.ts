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

it("a page names the next one only when there is one", async () => {
  const { put, get } = wire(server, "pages")
  for (const id of ["a", "b"]) await put(`/sessions/${id}`)
  for (const id of ["t1", "t2"]) await put(`/sessions/a/turns/${id}?waitMillis=10000`, { content: "hi" })
  expect((await get("/sessions?limit=2")).body.next).toBeNull()
  expect((await get("/sessions?limit=1")).body).toMatchObject({ next: "a", sessions: [{ sessionId: "a" }] })
  expect((await get("/sessions?limit=1&after=a")).body).toMatchObject({ next: null, sessions: [{ sessionId: "b" }] })
  expect((await get("/sessions/a/turns?limit=2")).body.next).toBeNull()
  expect((await get("/sessions/a/turns?limit=1&before=t2")).body).toMatchObject({
    next: null,
    turns: [{ turnId: "t1" }]
  })
  expect((await get("/sessions/a/history?limit=4")).body.next).toBeNull()
  expect((await get("/sessions/a/history?limit=3")).body.entries).toHaveLength(3)
  expect((await get("/sessions/a/history?limit=3")).body.next).not.toBeNull()
})

it("a copied turn's stream ends with its terminal, named where the reader was behind it", async () => {
  const { put, post, get, events } = wire(server, "copies")
  await put("/sessions/a")
  await put("/sessions/a/turns/t1?waitMillis=10000", { content: "hi" })
  await post("/sessions/a/forks/f")
  const { revision } = (await get("/sessions/f/turns/t1")).body
  const ends = async (query: string) =>
    (await readUntil(events(`/sessions/f/turns/t1/events${query}`), ({ type }) => type === "turn.terminal")).at(-1)
  expect((await ends("?afterRevision=0"))?.id).toBe(revision)
  expect((await ends(`?afterRevision=${revision}`))?.id).toBeUndefined()
  expect((await ends(""))?.id).toBeUndefined()
})
