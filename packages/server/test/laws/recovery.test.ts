import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { expect, it } from "vitest"
import { CONTINUE_NUDGE } from "../../src/providers/Model.ts"
import { stored } from "../kit/database.ts"
import { wholeLog } from "../kit/follower.ts"
import { historyProblems, logProblems } from "../kit/logLaws.ts"
import { assertValidRequest, callsFor, makeGate, type Step, says } from "../kit/scriptedModel.ts"
import { messagesOf, pages, stage, textOf } from "../kit/stage.ts"
import { readUntil } from "../kit/wire.ts"

const { act, api, ended, place, request, requests, server, session } = stage()

/** Writes a line, and stays until the folder is taken away: a death of the server leaves it alone. */
const HANGS = "echo ran >> ran.txt; while [ -e ran.txt ]; do sleep 0.1; done"

const ran = (name: string): ReadonlyArray<string> => {
  const file = join(place.root, name, "ran.txt")
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []
}

/** Settles once a call has run this often. */
const hasRun = async (name: string, times: number) => {
  while (ran(name).length < times) await delay(10)
}

const soundHistory = async (name: string) => {
  const { get } = await api()
  expect(historyProblems(await pages(get, `/sessions/${name}/history`, "entries"))).toEqual([])
  expect(logProblems(await wholeLog(await api(), name))).toEqual([])
}

it("L6: a call that ran when the process died is interrupted, told to the model, and not run again", async () => {
  const home = await session("tool")
  act("tool", (_, step) => (step === 0 ? callsFor(["shell", { command: HANGS }]) : says("I see")))
  await (await api()).put(`${home}/turns/t`, { content: "tool: run it" })
  await hasRun("tool", 1)
  await server().crash()
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "completed", attempt: 2, finalText: "I see" })
  const [call] = turn.parts
  expect(call).toMatchObject({ state: "interrupted", result: { isError: true, details: { code: "call.interrupted" } } })
  // The answer that asked for it was committed: the model is asked once more, not twice.
  expect(requests("tool")).toHaveLength(2)
  const again = await request("tool", 1)
  assertValidRequest(again.body)
  expect(textOf(messagesOf(again).at(-1) ?? { role: "", content: "" })).toContain("Interrupted")
  expect(ran("tool")).toEqual(["ran"])
  await soundHistory("tool")
})

it("L5, L6: a turn whose cancel was acknowledged ends cancelled after the death, its call interrupted", async () => {
  const home = await session("cancel")
  // Deaf to TERM, so that the cancel is still under way when the process dies.
  const deaf = `trap '' TERM; ${HANGS}`
  act("cancel", () => callsFor(["shell", { command: deaf }]))
  await (await api()).put(`${home}/turns/t`, { content: "cancel: run it" })
  await hasRun("cancel", 1)
  const asked = await (await api()).post(`${home}/turns/t/cancel`)
  expect(asked).toMatchObject({ status: 202, body: { stopping: true, turnId: "t" } })
  await server().crash()
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "cancelled", stopReason: "cancelled", parts: [{ state: "interrupted" }] })
  expect(requests("cancel")).toHaveLength(1)
  await soundHistory("cancel")
})

it("L5, L6: after three deaths the turn has failed, interrupted, and the next prompt is answered", async () => {
  const home = await session("thrice")
  act("thrice", (_, step) => (step < 3 ? callsFor(["shell", { command: HANGS }]) : says("ok")))
  await (await api()).put(`${home}/turns/t`, { content: "thrice: run it" })
  for (const attempt of [1, 2, 3]) {
    await hasRun("thrice", attempt)
    expect((await (await api()).get(`${home}/turns/t`)).body.attempt).toBe(attempt)
    await server().crash()
  }
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "failed", stopReason: "interrupted", attempt: 3 })
  expect(turn.parts.map(({ state }: { state: string }) => state)).toEqual(["interrupted", "interrupted", "interrupted"])
  expect(ran("thrice")).toEqual(["ran", "ran", "ran"])
  const next = await (await api()).put(`${home}/turns/next?waitMillis=20000`, { content: "thrice: hello" })
  expect(next.body).toMatchObject({ state: "completed", finalText: "ok", attempt: 1 })
  await soundHistory("thrice")
})

it("L1: prompts that waited when the process died run afterwards, in order, each once", async () => {
  const home = await session("queue")
  const gate = makeGate()
  act("queue", (_, step) => (step === 0 ? [{ type: "pause", gate }] : says("done")))
  const ids = ["t0", "t1", "t2", "t3"]
  for (const id of ids) {
    const { body } = await (await api()).put(`${home}/turns/${id}`, { content: `queue: ${id}` })
    expect(body.disposition).toBe(id === "t0" ? "started" : "queued")
  }
  await gate.isReached
  await server().crash()
  for (const id of ids)
    expect(await ended(home, id)).toMatchObject({ state: "completed", attempt: id === "t0" ? 2 : 1 })
  const { body } = await (await api()).get(`${home}/history`)
  const said = body.entries.flatMap((entry: { role: string; turnId: string }) =>
    entry.role === "user" ? [entry.turnId] : []
  )
  expect(said).toEqual(ids)
  await soundHistory("queue")
})

it("L1: text said before the death stays, the model goes on from it, and who resumes by cursor is told", async () => {
  const home = await session("text")
  const gate = makeGate()
  const first: ReadonlyArray<Step> = [
    { type: "text", text: "日本語 🌍 and" },
    { type: "pause", gate }
  ]
  act("text", (_, step) => (step === 0 ? first : says(" so", " on")))
  await (await api()).put(`${home}/turns/t`, { content: "text: speak" })
  const before = await readUntil((await api()).events(`${home}/events?afterCursor=0`), ({ type }) =>
    type.endsWith("delta")
  )
  const last = before.findLast(({ id }) => id !== undefined)?.id
  // A checkpoint makes no event.
  await stored(place.data, "SELECT 1 FROM growth WHERE session_id = 'text'")
  await server().crash()
  const after = await readUntil(
    (await api()).events(`${home}/events?afterCursor=${last}`),
    ({ data }) => data.turn?.state === "completed"
  )
  expect(after.find(({ id }) => id !== undefined)?.data.turn).toMatchObject({ state: "running", attempt: 2 })
  expect(after.at(-1)?.data.turn).toMatchObject({ finalText: "日本語 🌍 and so on", attempt: 2 })
  const again = messagesOf(await request("text", 1)).map(textOf)
  expect(again[1]).toBe("日本語 🌍 and")
  expect(again[2]?.startsWith(CONTINUE_NUDGE)).toBe(true)
  await soundHistory("text")
})

it("L5: a turn that had heard no word yet is asked for again, whole", async () => {
  const home = await session("silent")
  act("silent", (_, step) => (step === 0 ? [{ type: "stall", headers: true }] : says("here I am")))
  await (await api()).put(`${home}/turns/t`, { content: "silent: speak" })
  await request("silent", 0)
  await server().crash()
  expect(await ended(home, "t")).toMatchObject({ state: "completed", attempt: 2, finalText: "here I am" })
  expect(messagesOf(await request("silent", 1)).map(textOf)).toEqual(["silent: speak"])
})
