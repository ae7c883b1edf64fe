import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { type ScriptedModel, says, startScriptedModel } from "../kit/scriptedModel.ts"
import { wire } from "../kit/wire.ts"

const place = folders()
let model: ScriptedModel
let server: Harness
beforeAll(async () => {
  model = await startScriptedModel(() => says("hello from afar"))
  server = await startHarness(place)
})
afterAll(async () => {
  await server.stop()
  await model.close()
  place.remove()
})

const write = (content: string) => writeFileSync(join(place.data, "harness.json"), content)

it("a provider that comes while the process runs answers the next turn; a bad file changes nothing", async () => {
  const { put, send } = wire(server)
  const session = { model: "mine/some-model" }
  const before = await put("/sessions/s", session)
  expect([before.status, before.body.code]).toEqual([400, "model.unknown"])
  write(JSON.stringify({ providers: [{ id: "mine", baseUrl: model.url }] }))
  const reloaded = await send("POST", "/runtime/reload")
  expect(reloaded.status).toBe(200)
  // The file may have been seen before it was asked for.
  expect(reloaded.body).toMatchObject({ revision: 1, failures: [] })
  expect((await put("/sessions/s", session)).status).toBe(201)
  write('{"providers": [')
  const refused = await send("POST", "/runtime/reload", { reason: "a try" })
  expect(refused.body).toMatchObject({ revision: 1, changed: [] })
  expect(refused.body.failures).toMatchObject([{ name: "harness.json", failure: { code: "settings.invalid" } }])
  expect(JSON.stringify(refused.body)).not.toContain(place.data)
  const turn = await put("/sessions/s/turns/t?waitMillis=10000", { content: "hello" })
  expect(turn.body).toMatchObject({ state: "completed", finalText: "hello from afar" })
  expect((await send("POST", "/runtime/reload", { why: "x" })).status).toBe(400)
})
