import { MAX_WIRE_BYTES } from "@harness/protocol"
import { expect, it } from "vitest"
import { callsOf, ends } from "../kit/asks.ts"
import { wholeLog } from "../kit/follower.ts"
import { loopStage } from "../kit/loopStage.ts"
import { callsFor, says } from "../kit/scriptedModel.ts"

const { act, answer, api, deliver, ended, open, prompt, questions, reply, request, session, sound, waits } = loopStage()

/** No row of the session's log is longer than a body may be. */
const fits = async (name: string) => {
  await sound(name)
  for (const { data, type } of await wholeLog(await api(), name)) {
    expect(Buffer.byteLength(JSON.stringify(data)), type).toBeLessThanOrEqual(MAX_WIRE_BYTES)
  }
}

it("arguments that no event could carry are not run, and the model is told to make less of it", async () => {
  const home = await session("args", { permissions: [{ permission: "*", pattern: "*", action: "allow" }] })
  const write = (length: number, id: string) =>
    ["write", { path: `${id}.txt`, content: "é".repeat(length) }, id] as const
  act("args", (_, step) =>
    step === 0 ? callsFor(write(1_000_000, "c0"), write(100_000, "c1"), write(180_000, "c2")) : says("ok")
  )
  await prompt(home, "t", "args: write")
  expect(ends(await ended(home, "t"))).toEqual(["failed tool.arguments_too_long", "completed", "completed"])
  await fits("args")
})

it("what a client delivers is cut for the model as any output is, and kept whole", async () => {
  const look = { name: "look", description: "looks", inputSchema: { type: "object" } }
  const home = await session("deliver", { externalTools: [look] })
  act("deliver", (_, step) => (step === 0 ? callsFor(["look", { pad: "p".repeat(300_000) }]) : says("ok")))
  await prompt(home, "t", "deliver: look")
  const [call] = callsOf(await waits(home, "t"))
  const details = { rows: "r".repeat(200_000) }
  const delivered = await deliver(home, "t", call?.callId ?? "", { content: "é".repeat(400_000), details })
  expect(delivered.body).toEqual({ resolved: true, turnResumed: true })
  const turn = await ended(home, "t")
  expect(ends(turn)).toEqual(["completed"])
  expect(JSON.stringify(callsOf(turn)[0]?.result)).toContain("left out")
  expect((await request("deliver", 1)).text.length).toBeLessThan(420_000)
  await fits("deliver")
})

it("answers and messages of people are bounded, and what is too long changes nothing", async () => {
  const ask = { questions: [{ question: "Why?", header: "Why", options: [], custom: true }] }
  const home = await session("people", { permissions: [] })
  act("people", (_, step) =>
    step === 0 ? callsFor(["question", ask, "c0"], ["shell", { command: "echo hi" }, "c1"]) : says("ok")
  )
  await prompt(home, "t", "people: ask")
  await waits(home, "t")
  const [question] = await questions(home)
  const [request] = await open(home)
  const long = "é".repeat(500_000)
  expect((await answer(home, question?.questionId ?? "", [[long]])).status).toBe(400)
  expect((await reply(home, request?.requestId ?? "", "reject", long)).status).toBe(400)
  expect((await waits(home, "t")).state).toBe("waiting")
  expect((await answer(home, question?.questionId ?? "", [["é".repeat(30_000)]])).status).toBe(200)
  expect((await reply(home, request?.requestId ?? "", "reject", "é".repeat(30_000))).status).toBe(200)
  expect(ends(await ended(home, "t"))).toEqual(["completed", "rejected permission.rejected"])
  await fits("people")
})
