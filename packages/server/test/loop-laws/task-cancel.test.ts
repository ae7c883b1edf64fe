import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { expect, it } from "vitest"
import { ends } from "../kit/asks.ts"
import { loopStage } from "../kit/loopStage.ts"
import { chance } from "../kit/random.ts"
import { callsFor, makeGate, says } from "../kit/scriptedModel.ts"
import { readUntil, type WireEvent } from "../kit/wire.ts"
import { isRunning } from "../workspace/processes.ts"

const ROUNDS = 100
const SIDE_BY_SIDE = 4

const { act, api, ended, place, prompt, request, requests, session, soon, sound, waits } = loopStage()

const ALLOW_ALL = { permissions: [{ permission: "*", pattern: "*", action: "allow" }] }
/** Says who it is, and stays. */
const STAYS = "echo $$ >> pids.txt; exec sleep 300"

const childrenOf = async (home: string) => (await (await api()).get(`${home}/children`)).body.children
const turnsOf = async (home: string) => (await (await api()).get(`${home}/turns?limit=500`)).body.turns
const running = (name: string): ReadonlyArray<number> => {
  const file = join(place.root, name, "pids.txt")
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1).map(Number).filter(isRunning) : []
}

it(`L5, L7: ${ROUNDS} cancels around the moment two sub-agents start: all settled, each call with a result, nothing goes on`, {
  timeout: 240_000
}, async () => {
  const dice = chance(7)
  let started = 0
  const line = async (name: string) => {
    const home = await session(name, ALLOW_ALL)
    act(name, () =>
      callsFor(["task", { prompt: `${name}-kid: work` }, "c0"], ["task", { prompt: `${name}-kid: more` }, "c1"])
    )
    act(`${name}-kid`, () =>
      dice.next() < 0.5
        ? callsFor(["shell", { command: STAYS }])
        : [
            { type: "text", text: "so" },
            { type: "stall", headers: true }
          ]
    )
    for (let round = 0; round < ROUNDS / SIDE_BY_SIDE; round++) {
      const id = `t${round}`
      await prompt(home, id, `${name}: go`)
      // Just now the answer that asks for them was committed, or the first of them was started.
      const first = round % 2 === 0 ? "requested" : "waiting"
      const parts = ({ data }: WireEvent): ReadonlyArray<{ state: string }> => data.turn?.parts ?? []
      await readUntil((await api()).events(`${home}/turns/${id}/events`), (event) =>
        parts(event).some(({ state }) => state === first || state === "waiting")
      )
      await delay(dice.whole(0, 50))
      expect((await (await api()).post(`${home}/turns/${id}/cancel`)).status).toBe(202)
      const turn = await ended(home, id)
      expect(turn).toMatchObject({ state: "cancelled", stopReason: "cancelled" })
      for (const end of ends(turn)) expect(end).toMatch(/^cancelled call\./)
      started += turn.steps.length
    }
    const children = await childrenOf(home)
    for (const { sessionId } of children) {
      for (const { turnId } of await turnsOf(`/sessions/${sessionId}`)) {
        expect(await ended(`/sessions/${sessionId}`, turnId)).toMatchObject({ state: "cancelled" })
      }
      expect((await (await api()).get(`/sessions/${sessionId}/status`)).body).toMatchObject({
        state: "idle",
        queued: 0
      })
      await sound(sessionId)
    }
    expect((await (await api()).get(`${home}/status`)).body).toMatchObject({
      state: "idle",
      queued: 0,
      pendingCalls: []
    })
    await sound(name)
    expect(running(name)).toEqual([])
    return children.length
  }
  const counts = await Promise.all(Array.from({ length: SIDE_BY_SIDE }, (_, n) => line(`line-${n}`)))
  // The moments were around the start.
  expect(started).toBeGreaterThan(ROUNDS / 10)
  expect(counts.reduce((sum, n) => sum + n, 0)).toBeGreaterThan(ROUNDS / 10)
  for (let n = 0; n < SIDE_BY_SIDE; n++) for (const asked of requests(`line-${n}-kid`)) await asked.closed
})

it("a cancel answers at once and does not wait for a deaf process below; the parent is free for the next prompt", async () => {
  const home = await session("deaf", ALLOW_ALL)
  act("deaf", () => callsFor(["task", { prompt: "deaf-kid: run" }]))
  act("deaf-kid", () =>
    callsFor(["shell", { command: `trap '' TERM; echo $$ >> pids.txt; while :; do sleep 0.1; done` }])
  )
  await prompt(home, "t", "deaf: go")
  await waits(home, "t")
  while (running("deaf").length === 0) await delay(10)
  const [kid] = await childrenOf(home)
  const second = await soon()
  const began = performance.now()
  await (await api()).post(`${home}/cancel`)
  await prompt(home, "next", "deaf-next: hi")
  expect((await request("deaf-next", 0)).at - began).toBeLessThan(second)
  expect(await ended(home, "t")).toMatchObject({ state: "cancelled" })
  const [{ turnId }] = await turnsOf(`/sessions/${kid.sessionId}`)
  expect(await ended(`/sessions/${kid.sessionId}`, turnId)).toMatchObject({ state: "cancelled" })
  expect(performance.now() - began).toBeLessThan(10 * second)
  expect(running("deaf")).toEqual([])
})

it("a sub-agent in the background goes on when its parent's turn is cancelled, and ends by its own cancel", async () => {
  const home = await session("apart", ALLOW_ALL)
  const gate = makeGate()
  act("apart", (_, step) => {
    if (step === 0) return callsFor(["task", { prompt: "apart-kid: work", background: true }])
    return step === 1 ? [{ type: "stall", headers: true }] : says("heard")
  })
  act("apart-kid", () => [{ type: "pause", gate }, ...says("found")])
  await prompt(home, "t", "apart: go")
  await gate.isReached
  await request("apart", 1)
  await (await api()).post(`${home}/turns/t/cancel`)
  expect(await ended(home, "t")).toMatchObject({ state: "cancelled" })
  const [kid] = await childrenOf(home)
  expect(kid.state).toBe("running")
  await (await api()).post(`/sessions/${kid.sessionId}/cancel`)
  const heard = await readUntil(
    (await api()).events(`${home}/events?afterCursor=0`),
    ({ data }) => data.turnId !== "t" && data.turn?.state === "completed"
  )
  const result = await (await api()).get(`${home}/turns/${heard.at(-1)?.data.turnId}`)
  expect(result.body.prompt.custom.details).toMatchObject({
    sessionId: kid.sessionId,
    state: "cancelled",
    code: "task.cancelled"
  })
  await sound("apart")
})

it("deleting a parent ends and deletes all below, in the middle of whatever they do; its forks stay", async () => {
  const home = await session("gone", ALLOW_ALL)
  act("gone", () =>
    callsFor(["task", { prompt: "gone-kid: work" }, "c0"], ["task", { prompt: "gone-talk: work" }, "c1"])
  )
  act("gone-kid", () => callsFor(["shell", { command: STAYS }, "c0"], ["task", { prompt: "gone-talk: work" }, "c1"]))
  act("gone-talk", () => [
    { type: "text", text: "so" },
    { type: "stall", headers: true }
  ])
  await (await api()).put(`${home}/turns/first?waitMillis=20000`, { content: "first: hello" })
  const fork = await (await api()).post(`${home}/forks/gone-fork`)
  expect(fork.status).toBe(201)
  await prompt(home, "t", "gone: go")
  await waits(home, "t")
  while (running("gone").length === 0) await delay(10)
  await request("gone-talk", 1)
  const below = await childrenOf(home)
  const streams = ["gone", ...below.map(({ sessionId }: { sessionId: string }) => sessionId)].map(async (id) =>
    readUntil((await api()).events(`/sessions/${id}/events?afterCursor=0`), () => false)
  )
  const gone = await (await api()).send("DELETE", `/servers/default${home}`)
  expect(gone.status).toBe(200)
  for (const stream of streams) expect((await stream).at(-1)?.type).toBe("session.deleted")
  for (const { sessionId } of below) expect((await (await api()).get(`/sessions/${sessionId}`)).status).toBe(404)
  expect((await (await api()).send("DELETE", `/servers/default${home}`)).body).toEqual(gone.body)
  for (const asked of requests("gone-talk")) expect((await asked.closed).aborted).toBe(true)
  while (running("gone").length > 0) await delay(10)
  expect((await (await api()).get("/sessions/gone-fork/turns")).body.turns).toHaveLength(1)
  const after = await (await api()).put("/sessions/gone-fork/turns/u?waitMillis=20000", { content: "after: hi" })
  expect(after.body).toMatchObject({ state: "completed" })
  expect((await (await api()).get("/sessions/gone-fork/children")).body.children).toEqual([])
})
