import { expect, it } from "vitest"
import { asking } from "../kit/asks.ts"
import { callsFor, says } from "../kit/scriptedSteps.ts"
import { messagesOf, stage, textOf } from "../kit/stage.ts"
import { readUntil, type WireEvent } from "../kit/wire.ts"

const { act, api, ended, request, session } = stage()
const { deliver, prompt, waits } = asking(api)

const lookUp = {
  name: "look_up",
  description: "Looks something up.",
  inputSchema: { type: "object", properties: {} }
}

it("a compaction leaves a waiting turn alone: it begins when that has ended, and no result is lost to it", async () => {
  const home = await session("waits", { externalTools: [lookUp] })
  act("outside", (_, step) => (step === 0 ? callsFor(["look_up", {}]) : says("found")))
  await prompt(home, "t1", "outside: look it up")
  const { callId } = (await waits(home, "t1")).parts.find((part) => part.type === "tool") ?? { callId: "none" }

  const { body: asked } = await (await api()).put(`${home}/compactions/c1`)
  expect(asked.disposition).toBe("accepted")
  expect((await (await api()).get(`${home}/compactions/c1`)).body.state).toBe("queued")

  const stream = (await api()).events(`${home}/events?afterCursor=${asked.cursor}`)
  await deliver(home, "t1", callId, { content: "forty-two" })
  expect(await ended(home, "t1")).toMatchObject({ state: "completed", finalText: "found" })
  expect(messagesOf(await request("outside", 1)).map((message) => `${message.role} ${textOf(message)}`)).toEqual([
    "user outside: look it up",
    "assistant ",
    "tool forty-two"
  ])

  const seen = await readUntil(
    stream,
    ({ data, type }) => type === "session.compaction" && data.compaction.state === "completed"
  )
  const at = (found: (data: WireEvent["data"]) => boolean) => seen.findIndex(({ data }) => found(data))
  const over = at(({ turn }) => turn?.state === "completed")
  expect(over).toBeGreaterThanOrEqual(0)
  expect(at(({ compaction }) => compaction?.state === "running")).toBeGreaterThan(over)
  const { body: history } = await (await api()).get(`${home}/history`)
  expect(history.entries.map(({ role }: { role: string }) => role)).toEqual(["system"])
})
