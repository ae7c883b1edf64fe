import { expect, it } from "vitest"
import { callsOf } from "../kit/asks.ts"
import { loopStage } from "../kit/loopStage.ts"
import { callsFor, says } from "../kit/scriptedModel.ts"
import { readUntil } from "../kit/wire.ts"

const { act, api, ended, prompt, request, requests, server, session, sound } = loopStage()

it("L1: a background result reaches a parent that was idle, also when its sub-agent ended because the server stopped three times", async () => {
  const home = await session("idle")
  act("idle", (_, step) => (step === 0 ? callsFor(["task", { prompt: "idle-kid: go", background: true }]) : says("ok")))
  act("idle-kid", () => [{ type: "stall", headers: true }])
  await prompt(home, "t", "idle: go")
  const turn = await ended(home, "t")
  const child = callsOf(turn)[0]?.result?.details?.["sessionId"]
  for (let attempt = 0; attempt < 3; attempt++) {
    await request("idle-kid", attempt)
    await server().crash()
  }
  const heard = await readUntil(
    (await api()).events(`${home}/events?afterCursor=0`),
    ({ data }) => data.turnId !== "t" && data.turn?.state === "completed"
  )
  const result = (await (await api()).get(`${home}/turns/${heard.at(-1)?.data.turnId}`)).body
  expect(result.prompt.custom.details).toMatchObject({ sessionId: child, state: "failed", stopReason: "interrupted" })
  expect(requests("idle-kid")).toHaveLength(3)
  expect((await (await api()).get(`${home}/turns`)).body.turns).toHaveLength(2)
  await sound("idle")
  await sound(String(child))
})
