import { applyChange, type TurnSnapshot } from "@harness/protocol"
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

it("L4: whoever reads rows alone sees a steer where it came, behind the text that was growing", async () => {
  const { put, post, get, events } = wire(server)
  await put("/sessions/s")
  const live = readUntil(events("/sessions/s/events"), ({ type }) => type === "session.turn.text.delta")
  await put("/sessions/s/turns/t", { content: "write 40 words every 20 ms" })
  await live
  expect((await post("/sessions/s/turns/t/steer/e1", { content: "echo this" })).status).toBe(202)
  const rows = await readUntil(
    events("/sessions/s/turns/t/events?afterRevision=0"),
    ({ type }) => type === "turn.terminal"
  )
  const folded = rows
    .filter(({ id, type }) => id !== undefined && type === "turn.snapshot")
    .reduce<TurnSnapshot | undefined>(
      (turn, { data }) => (turn === undefined ? data.turn : applyChange(turn, data.turn)),
      undefined
    )
  const whole = (await get("/sessions/s/turns/t")).body
  expect(whole.parts.map(({ type }: { type: string }) => type)).toEqual(["text", "steer", "text"])
  expect(folded?.parts).toEqual(whole.parts)
})
