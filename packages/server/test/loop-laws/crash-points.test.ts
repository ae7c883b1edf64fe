import { readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { json, receiverForFile } from "../hooks/receiver.ts"
import { callsOf, countedLines } from "../kit/asks.ts"
import { crashRows, type Row, scenarios } from "../kit/crashRows.ts"
import type { Scenario } from "../kit/crashScenario.ts"
import { Fold } from "../kit/fold.ts"
import { wholeLog } from "../kit/follower.ts"
import { crashProblems, historyProblems, logProblems, type Rows } from "../kit/logLaws.ts"
import { makeGate } from "../kit/scriptedModel.ts"
import { messagesOf, pages, stage, textOf } from "../kit/stage.ts"
import { type Asks, idsOf, tenacious } from "../kit/tenacious.ts"
import type { wire } from "../kit/wire.ts"

const points = join(tmpdir(), `harness-points-${process.pid}-${Date.now()}`)
const on = stage({ HARNESS_POINTS: points, HARNESS_ALLOW_PRIVATE_URLS: "1" })
const there = receiverForFile()

const nameOf = ({ at, scenario }: Row): string => `${scenario}-${at.join("-").replaceAll(":", "")}`
/** Where the servers of a row die, one after another. */
const pointsOf = (row: Row): ReadonlyArray<string> =>
  row.at.map((point) => {
    const [name, nth = "1"] = point.split(":")
    return `${name}:${nameOf(row)}:${nth}`
  })

/** The points a session passed, in all its lives. */
const passed = (): ReadonlyArray<readonly [session: string, point: string]> =>
  readFileSync(points, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => [line.split(" ")[0] ?? "", line.split(" ")[1] ?? ""] as const)

/** Nothing was committed between the moments a row stands for and the one it died at. */
const checkSame = (row: Row) => {
  const own = passed().flatMap(([session, point]) => (session === nameOf(row) ? [point] : []))
  const [name = "", nth = "1"] = (row.at[0] ?? "").split(":")
  const places = own.flatMap((point, place) => (point === name ? [place] : []))
  const before = own.slice(0, places[Number(nth) - 1])
  const last = before.findLastIndex((point) => point.startsWith("after-"))
  const first = before.slice(0, last + 1).findLastIndex((point) => point.startsWith("before-"))
  expect(before.slice(first + 1, last + 1)).toEqual(expect.arrayContaining([...(row.same ?? [])]))
}

const none: Asks = { permissions: [], questions: [] }

/** What somebody who listens from before the turn is shown of its session, until the connection breaks. */
const overhear = async (api: ReturnType<typeof wire>, session: string, seen: Map<number, string>): Promise<void> => {
  try {
    for await (const { data, id } of api.events(`/sessions/${session}/events?afterCursor=0`)) {
      if (id !== undefined) seen.set(id, JSON.stringify(data))
    }
  } catch {
    // The server died.
  }
}

const of = (rows: Rows, type: string) =>
  rows.filter((row) => row.type === `session.turn.${type}`).map(({ data }) => data)

/** The laws that hold of any session, whatever happened to it. */
const checkSession = async (session: string, seen: ReadonlyMap<number, string>) => {
  const api = await on.api()
  const rows = await wholeLog(api, session)
  expect(logProblems(rows)).toEqual([])
  expect(crashProblems(rows, on.server().deaths)).toEqual([])
  expect(historyProblems(await pages(api.get, `/sessions/${session}/history`, "entries"))).toEqual([])
  for (const [cursor, text] of seen) expect(JSON.stringify(rows[cursor - 1]?.data), `row ${cursor}`).toBe(text)
  const fold = new Fold()
  for (const row of rows) fold.take(row)
  for (const turn of await pages(api.get, `/sessions/${session}/turns`, "turns")) {
    expect(fold.turns.get(turn.turnId)).toEqual(turn)
    expect(rows.filter(({ data }) => data.turnId === turn.turnId && data.turn?.settledAt !== undefined)).toHaveLength(1)
  }
  // A call is put to a person once: what was open before the death is what is open after it.
  const asked = [
    ...of(rows, "approval.requested").map(({ request }) => request.callId),
    ...of(rows, "question.asked").map(({ question }) => question.callId)
  ]
  expect(new Set(asked).size, "an ask that was put twice").toBe(asked.length)
  return rows
}

afterAll(() => rmSync(points, { force: true }))
beforeAll(async () => {
  there.on("/gate", (response, asked) =>
    json(asked.json.sessionId.startsWith("hold") ? { decision: "hold", reason: "wait" } : {})(response, asked)
  )
  const hook = { point: "pre-tool", url: there.url("/gate"), functions: ["shell"] }
  expect((await (await on.api()).put("/hooks/gate", hook)).status).toBe(200)
})

it.each(crashRows.map((row, index) => [row.at.join(", "), row.scenario, row.stands, row, index] as const))(
  "%s (%s): %s",
  { timeout: 120_000 },
  async (_at, _scenario, _stands, row, index) => {
    const name = nameOf(row)
    const [first = "", ...later] = pointsOf(row)
    const next = crashRows[index + 1]
    const server = on.server()
    await server.arm(first)
    const fallen = server.fall(...later, next === undefined ? "" : (pointsOf(next)[0] ?? ""))
    fallen.catch(() => {})
    const scenario: Scenario = scenarios[row.scenario]
    const gate = makeGate()
    on.act(name, scenario.act(gate))
    if (scenario.child !== undefined) on.act(`${name}-kid`, scenario.child(gate))
    const user = tenacious(server, fallen, name, on.place.root)
    const before = server.deaths.length
    await user.begin(scenario.config)
    const seen = new Map<number, string>()
    const heard = overhear(await on.api(), name, seen)
    const turn = await scenario.play(user, gate)
    expect(server.deaths.length - before, "the point was never passed").toBe(row.at.length)
    await fallen
    await heard

    expect(turn).toMatchObject({ state: "completed", stopReason: "end", ...row.turn })
    await checkSession(name, seen)
    const children = await pages((await on.api()).get, `/sessions/${name}/children`, "children")
    expect(children).toHaveLength(scenario.child === undefined ? 0 : 1)
    for (const { sessionId } of children) await checkSession(sessionId, new Map())

    const lines = countedLines(join(on.place.root, name))
    expect(new Set(lines).size, "a call ran twice").toBe(lines.length)
    expect(lines).toHaveLength(row.interrupted ?? scenario.runs)
    const cut = callsOf(turn).filter(({ state }) => state === "interrupted")
    expect(cut).toHaveLength(row.interrupted === undefined ? 0 : 1)
    const requests = on.requests(name)
    if (turn.state === "completed" && cut.length > 0) {
      const results = requests
        .slice(-1)
        .flatMap(messagesOf)
        .filter(({ role }) => role === "tool")
      expect(results.map(textOf).join()).toContain("Interrupted")
    }
    const times = row.again === "perhaps" ? [0, 1] : [row.again ?? 0]
    expect(times, "how often the model was asked again").toContain(requests.length - scenario.requests)
    if (row.open !== undefined) {
      const { after = none, before: held = none } = user.told.open ?? {}
      expect(idsOf(held)).toEqual(expect.arrayContaining([...idsOf(after)]))
      expect(idsOf(after)).toHaveLength(row.open)
    }
    checkSame(row)
    await row.also?.(turn, await on.api(), requests)
    const hooked = there.came("/gate").filter(({ json: { sessionId } }) => sessionId === name)
    expect(new Set(hooked.map(({ json: { idempotencyKey } }) => idempotencyKey)).size).toBeLessThanOrEqual(1)
  }
)

it("every commit that these turns passed has a row for the moment before and one for the moment after", () => {
  const bare = (point: string): string => point.replace(/^(before|after)-/, "")
  const commits = [...new Set(passed().map(([, point]) => bare(point)))]
  const rows = new Set(
    crashRows.flatMap(({ at, same = [] }) => [...at, ...same].map((point) => point.split(":")[0] ?? ""))
  )
  const moments = commits.flatMap((name) => [`before-${name}`, `after-${name}`])
  expect(moments.filter((point) => !rows.has(point))).toEqual([])
  expect(
    [...rows].filter((point) => !commits.includes(bare(point))),
    "rows for commits that are none"
  ).toEqual([])
})
