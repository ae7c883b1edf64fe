import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { wholeLog } from "../kit/follower.ts"
import { historyProblems, logProblems } from "../kit/logLaws.ts"
import { until } from "../kit/process.ts"
import { chance } from "../kit/random.ts"
import { assertValidRequest, callsFor, makeGate, type Step, says } from "../kit/scriptedModel.ts"
import { messagesOf, pages, stage, textOf } from "../kit/stage.ts"
import { type Answer, readUntil, wire } from "../kit/wire.ts"

const { act, api, ended, place, request, requests, server, session } = stage()

type Part = Answer["body"]

const sound = async (name: string) => {
  expect(historyProblems(await pages((await api()).get, `/sessions/${name}/history`, "entries"))).toEqual([])
  expect(logProblems(await wholeLog(await api(), name))).toEqual([])
}

const alive = (pid: number): boolean => {
  const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, "utf8") : ""
  return stat !== "" && !/\) [ZX] /.test(stat)
}

/** The process a call wrote its id of. */
const pidOf = async (name: string): Promise<number> => {
  const file = join(place.root, name, "pid")
  await until(() => existsSync(file) && readFileSync(file, "utf8").endsWith("\n"))
  return Number(readFileSync(file, "utf8"))
}

it("cancelled from another client, a turn whose tool is deaf to TERM ends, its process is gone, the next prompt runs", async () => {
  const home = await session("deaf")
  const command = "trap '' TERM INT; echo $$ > pid; while :; do sleep 0.1; done"
  act("deaf", (_, step) => (step === 0 ? callsFor(["shell", { command }]) : says("next")))
  const waiting = (await api()).put(`${home}/turns/t?waitMillis=30000`, { content: "deaf: run" })
  const pid = await pidOf("deaf")
  expect(alive(pid)).toBe(true)
  const other = wire(await server().up())
  const stream = readUntil(other.events(`${home}/events?afterCursor=0`), ({ data }) => data.turn?.state === "cancelled")
  const began = performance.now()
  const asked = await other.post(`${home}/turns/t/cancel`, { reason: "enough" })
  const answered = performance.now() - began
  expect(asked).toMatchObject({ status: 202, body: { stopping: true, turnId: "t" } })
  expect(await other.post(`${home}/turns/t/cancel`)).toMatchObject({ status: 202, body: { turnId: "t" } })
  expect(await waiting).toMatchObject({ status: 200, body: { state: "cancelled", stopReason: "cancelled" } })
  console.log(
    `cancel answered after ${Math.round(answered)} ms, and was done after ${Math.round(performance.now() - began)}`
  )
  expect(alive(pid)).toBe(false)
  expect((await stream).at(-1)?.data.turn.parts).toMatchObject([{ state: "cancelled", result: { isError: true } }])
  expect(await other.post(`${home}/turns/t/cancel`)).toMatchObject({
    status: 202,
    body: { stopping: false, turnId: "t" }
  })
  const next = await other.put(`${home}/turns/u?waitMillis=20000`, { content: "deaf: again" })
  expect(next.body).toMatchObject({ state: "completed", finalText: "next" })
  assertValidRequest((await request("deaf", 1)).body)
  await sound("deaf")
})

it("cancelled while the model speaks, the request is let go, what was said stays, and no event comes after", async () => {
  const home = await session("speaking")
  const gate = makeGate()
  act("speaking", (_, step) =>
    step === 0
      ? [
          { type: "text", text: "so far" },
          { type: "pause", gate }
        ]
      : says("next")
  )
  const { events, post, put } = await api()
  await put(`${home}/turns/t`, { content: "speaking: go" })
  await readUntil(events(`${home}/events?afterCursor=0`), ({ type }) => type.endsWith("text.delta"))
  expect((await post(`${home}/cancel`)).body).toEqual({ stopping: true, turnId: "t" })
  const { closed } = await request("speaking", 0)
  expect((await closed).aborted).toBe(true)
  expect(await ended(home, "t")).toMatchObject({ state: "cancelled", parts: [{ text: "so far", done: true }] })
  expect((await post(`${home}/cancel`)).body).toEqual({ stopping: false })
  await put(`${home}/turns/u?waitMillis=20000`, { content: "speaking: again" })
  expect(messagesOf(await request("speaking", 1)).map(textOf)).toEqual(["speaking: go", "so far", "speaking: again"])
  await sound("speaking")
})

it("cancelled in the queue, a turn ends without ever having run, and the others keep their order", async () => {
  const home = await session("queued")
  const gate = makeGate()
  act("queued", (_, step) => (step === 0 ? [{ type: "pause", gate }, ...says("a")] : says("b")))
  const { get, post, put } = await api()
  for (const id of ["a", "b", "c"]) await put(`${home}/turns/${id}`, { content: `queued: ${id}` })
  expect((await post(`${home}/turns/b/cancel`)).body).toEqual({ stopping: false, turnId: "b" })
  const turn = await ended(home, "b")
  expect(turn).toMatchObject({ state: "cancelled", stopReason: "cancelled", parts: [], steps: [] })
  expect(turn.startedAt).toBeUndefined()
  gate.open()
  expect(await ended(home, "c")).toMatchObject({ state: "completed" })
  expect(requests("queued")).toHaveLength(2)
  expect((await get(`${home}/status`)).body).toMatchObject({ state: "idle", queued: 0, turnCount: 3 })
})

it("L5, L13: cancelled at any moment of its last words, a turn ends once and its text is history once", async () => {
  const dice = chance(7)
  const home = await session("moments")
  let round = 0
  act("moments", () => says(`${round} one `, "two ", "three"))
  const states = new Set<string>()
  for (; round < 40; round++) {
    const id = `t${round}`
    const { events, post, put } = await api()
    const after = dice.whole(0, 3)
    let deltas = 0
    await put(`${home}/turns/${id}`, { content: `moments: ${round}` })
    await readUntil(events(`${home}/turns/${id}/events`), ({ data, type }) => {
      if (type.endsWith("delta")) deltas++
      return deltas >= after || type === "turn.terminal" || data.turn?.parts.length > 0
    })
    await post(`${home}/turns/${id}/cancel`)
    states.add((await ended(home, id)).state)
  }
  await sound("moments")
  const entries = await pages((await api()).get, `${home}/history`, "entries")
  const said = entries.filter(({ role }) => role === "assistant").map(({ turnId }) => turnId)
  expect(new Set(said).size).toBe(said.length)
  expect(states).toContain("cancelled")
})

it("L5: deleted while it runs, a session ends its streams with a last word, its tool is gone, and so is it", async () => {
  const home = await session("deleted")
  const more: ReadonlyArray<Step> = callsFor(["shell", { command: "echo $$ > pid; sleep 300" }])
  act("deleted", () => more)
  const { events, get, put, send } = await api()
  await put(`${home}/turns/t`, { content: "deleted: run" })
  await put(`${home}/turns/waits`, { content: "deleted: later" })
  const whole = (path: string) => readUntil(events(path), () => false)
  const streams = [
    whole(`${home}/events?afterCursor=0`),
    whole(`${home}/turns/t/events`),
    whole(`${home}/turns/waits/events`)
  ]
  const onServer = readUntil(events("/events?afterServerCursor=0"), ({ type }) => type === "session.deleted")
  const waiting = put(`${home}/turns/t?waitMillis=20000`, { content: "deleted: run" })
  const pid = await pidOf("deleted")
  const gone = await send("DELETE", `/servers/default${home}`)
  expect(gone).toMatchObject({ status: 200, body: { sessionId: "deleted" } })
  const [bySession, byTurn, byQueued] = await Promise.all(streams)
  expect(bySession?.at(-1)).toMatchObject({ type: "session.deleted", data: { sessionId: "deleted" } })
  expect(bySession?.filter(({ data }) => data.turn?.state === "cancelled").map(({ data }) => data.turnId)).toEqual([
    "t",
    "waits"
  ])
  for (const [stream, id] of [
    [byTurn, "t"],
    [byQueued, "waits"]
  ] as const) {
    expect(stream?.at(-1)).toMatchObject({ type: "turn.terminal", data: { turn: { turnId: id, state: "cancelled" } } })
  }
  const last = (await onServer).at(-1)
  expect(last?.data).toMatchObject({ sessionId: "deleted" })
  expect([200, 404]).toContain((await waiting).status)
  await until(() => !alive(pid))
  for (const path of ["", "/events", "/turns", "/turns/t", "/turns/t/events", "/history", "/status", "/queue"]) {
    expect(await get(`${home}${path}`), path).toMatchObject({ status: 404, body: { code: "session.not_found" } })
  }
  expect(await send("DELETE", `/servers/default${home}`)).toMatchObject({ status: 200, body: gone.body })
  const again = await readUntil(events("/events?afterServerCursor=0"), ({ id }) => id === last?.id)
  const rest = again.filter(({ data }) => data.sessionId === "deleted" && data.replayed !== true)
  expect(rest.map(({ type }) => type)).toEqual(["session.deleted"])
  const { sessions } = (await get("/sessions")).body
  expect(sessions.map((one: Part) => one.sessionId)).not.toContain("deleted")
})
