import { afterAll, beforeAll, expect, it } from "vitest"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { type ScriptedModel, startScriptedModel } from "../kit/scriptedModel.ts"
import { readUntil, wire } from "../kit/wire.ts"

const place = folders()
let model: ScriptedModel
let server: Harness
beforeAll(async () => {
  model = await startScriptedModel()
  server = await startHarness({ ...place, openaiBaseUrl: model.url })
})
afterAll(async () => {
  await server.stop()
  await model.close()
  place.remove()
})

it("a prompt goes through HTTP to the model, and its answer streams back in order", async () => {
  const { put, events } = wire(server)
  expect((await put("/sessions/first")).status).toBe(201)
  const stream = readUntil(events("/sessions/first/events"), ({ data }) => data.turn?.state === "completed")
  const answer = await put("/sessions/first/turns/t1?waitMillis=10000", { content: "hello" })
  expect(answer.status).toBe(200)
  expect(answer.body).toMatchObject({ state: "completed", stopReason: "end" })
  const seen = await stream
  const ids = seen.flatMap(({ id }) => (id === undefined ? [] : [id]))
  expect(ids).toEqual(ids.map((_, index) => (ids[0] ?? 0) + index))
})
