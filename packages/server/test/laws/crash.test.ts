import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { busyUser, endings } from "../kit/busyUser.ts"
import { Happenings, insist, type Mortal, mortal } from "../kit/crash.ts"
import { followSession, wholeLog } from "../kit/follower.ts"
import { folders } from "../kit/harness.ts"
import { crashProblems, historyProblems, logProblems } from "../kit/logLaws.ts"
import { plannedModel } from "../kit/plannedModel.ts"
import { chance } from "../kit/random.ts"
import { type ScriptedModel, startScriptedModel } from "../kit/scriptedModel.ts"
import { pages } from "../kit/stage.ts"
import { wire } from "../kit/wire.ts"

const DEATHS = 50
const SESSIONS = ["left", "right", "third"]
const seed = Number(process.env["CRASH_SEED"] ?? 20_260)

const place = folders()
const facts = new Happenings()
const { problems, script } = plannedModel(facts.happen)
let model: ScriptedModel
let server: Mortal
beforeAll(async () => {
  model = await startScriptedModel(script)
  server = await mortal({ ...place, openaiBaseUrl: model.url })
})
afterAll(async () => {
  await server.stop()
  await model.close()
  place.remove()
})

type User = ReturnType<typeof busyUser>

const ran = (session: string): ReadonlyArray<string> => {
  const path = join(place.root, session, "ran.txt")
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : []
}

/** Everything that must hold whenever the server is up. */
const check = async (user: User, seen: ReadonlyMap<number, string>) => {
  const { session, told } = user
  // What was known before this read: the server goes on meanwhile.
  const [known, promised] = [new Map(seen), told.cursor]
  const api = wire(await server.up())
  const rows = await wholeLog(api, session)
  expect(logProblems(rows)).toEqual([])
  expect(crashProblems(rows, server.deaths)).toEqual([])
  expect(rows.length).toBeGreaterThanOrEqual(promised)
  const again = rows.map(({ data }) => JSON.stringify(data))
  for (const [cursor, text] of known) expect(again[cursor - 1], `row ${cursor} of ${session}`).toBe(text)
  const keys = ran(session)
  expect(new Set(keys).size, "a call ran twice").toBe(keys.length)
}

/** Everything that must hold once all is quiet. */
const checkEnd = async ({ session, told }: User) => {
  const api = wire(await server.up())
  const list = await pages(api.get, `/sessions/${session}/turns`, "turns")
  const turns = new Map(list.map((turn) => [turn.turnId, turn]))
  const entries = await pages(api.get, `/sessions/${session}/history`, "entries")
  const said = entries.filter(({ role }) => role === "user").map(({ content }) => content[0].text)
  expect(historyProblems(entries)).toEqual([])
  const keys = ran(session)

  for (const [turnId, { plan, whenBusy }] of told.turns) {
    const own = turns.get(turnId)
    // A steered prompt is not listed: its id stands for the turn that took it.
    if (own === undefined) expect(whenBusy, `${turnId} is missing`).toBe("steer")
    const turn = own ?? (await api.get(`/sessions/${session}/turns/${turnId}`)).body
    const at = `${turnId}, ${turn.state} ${turn.stopReason}`
    expect(["completed", "failed", "cancelled"], at).toContain(turn.state)
    const times = said.filter((text) => text.includes(`"id":"${turnId}"`) || text === `STEER ${turnId}`).length
    expect(times, `${at}: how often its prompt is history`).toBe(turn.startedAt === undefined ? 0 : 1)
    if (own === undefined) continue
    if (turn.state === "cancelled") expect(told.asked.has(turnId) || turn.stopReason === "interrupted", at).toBe(true)
    if (turn.state === "failed") expect(turn.stopReason, JSON.stringify(turn.failure)).toBe("interrupted")
    if (turn.state === "completed") expect(endings(turnId, told), at).toContain(turn.finalText)
    const calls = turn.parts.filter(({ type }: { type: string }) => type === "tool")
    const steered = turn.parts.some(({ type }: { type: string }) => type === "steer")
    if (turn.state === "completed" && plan !== undefined && !steered) {
      expect(calls.length, at).toBe(plan.calls)
      expect(turn.steps.length, at).toBe(plan.calls + 1)
    }
    for (const call of calls) {
      const runs = keys.filter((key) => key === call.idempotencyKey).length
      if (call.state === "completed") expect(runs, `${at}: ${call.callId}`).toBe(1)
      else expect(["interrupted", "cancelled"], `${at}: ${JSON.stringify(call)}`).toContain(call.state)
    }
  }
  for (const turnId of told.cancelled) expect(turns.get(turnId)?.state, turnId).toBe("cancelled")
  for (const [entryId, turnId] of told.steers) {
    const part = turns.get(turnId)?.parts.find((held: { entryId?: string }) => held.entryId === entryId)
    const times = said.filter((text) => text === `STEER ${entryId}`).length
    expect(times, `${entryId} in ${turnId}`).toBe(part?.applied ? 1 : 0)
  }
  for (const entryId of told.entries) expect(entries.filter((entry) => entry.entryId === entryId)).toHaveLength(1)

  const started = list.filter(
    ({ startedAt, turnId }) => startedAt !== undefined && told.turns.get(turnId)?.whenBusy === "queue"
  )
  const accepted = [...told.turns.keys()].filter((id) => started.some(({ turnId }) => turnId === id))
  const order = entries.flatMap(({ turnId, role }) => (role === "user" && accepted.includes(turnId) ? [turnId] : []))
  expect([...new Set(order)], "queued prompts in order of acceptance").toEqual(accepted)
}

it(`L1, L2, L3, L5, L6, L7: ${DEATHS} deaths at random lose nothing, double nothing, and every turn ends as promised`, {
  timeout: 1_800_000
}, async () => {
  const dice = chance(seed)
  const users: Array<User> = []
  const followers: Array<ReturnType<typeof followSession>> = []
  for (const session of SESSIONS) {
    mkdirSync(join(place.root, session))
    const rule = { permission: "shell", pattern: "*", action: "allow" }
    const body = { workdir: session, permissions: [rule] }
    expect((await wire(await server.up()).put(`/sessions/${session}`, body)).status).toBe(201)
    users.push(busyUser({ session, chance: dice.fork(), ask: (ask) => insist(server, ask) }))
    followers.push(followSession(server, session, facts.happen))
  }

  let busy = true
  const work = Promise.all(
    users.map(async (user) => {
      while (busy) {
        await user.act()
        facts.happen()
        // A user's pace: what they do next comes after something else has happened.
        await Promise.race([facts.after(dice.whole(1, 12)), new Promise((resolve) => setTimeout(resolve, 50))])
      }
    })
  )
  const dying = async () => {
    for (let death = 0; death < DEATHS; death++) {
      await facts.after(dice.whole(1, 120))
      // Some die again while they recover.
      await server.crash(dice.next() < 0.15 ? dice.whole(300, 1_500) : undefined)
      // One session at each death; all of them, with all that anybody ever saw, at the end.
      const index = death % users.length
      const user = users[index]
      if (user !== undefined) await check(user, followers[index]?.seen ?? new Map())
    }
  }
  try {
    await Promise.race([dying(), work.then(() => Promise.reject(new Error("the users went home")))])
  } finally {
    busy = false
    await work
  }

  for (const [index, user] of users.entries()) {
    const last = await insist(server, (api) =>
      api.put(`/sessions/${user.session}/turns/last?waitMillis=60000`, {
        content: 'PLAN {"id":"last","calls":0,"words":3,"pace":0,"command":""}'
      })
    )
    expect(last.body).toMatchObject({ state: "completed" })
    await followers[index]?.leave()
    await check(user, followers[index]?.seen ?? new Map())
    await checkEnd(user)
  }
  expect(followers.flatMap((follower) => follower.problems)).toEqual([])
  expect(problems).toEqual([])
})
