import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { asking } from "../kit/asks.ts"
import { heldKib, measurable } from "../kit/process.ts"
import { callsFor, says } from "../kit/scriptedModel.ts"
import { messagesOf, stage, textOf } from "../kit/stage.ts"
import { readUntil } from "../kit/wire.ts"

/** Turns that wait at once. */
const COUNT = 1_000
/** Requests under way at once. */
const CALLERS = 25
/** What a turn that waits may hold in memory, in KiB: generous, so that only a fiber or a snapshot each goes beyond. */
const HELD_KIB = 20

/** How many of them are answered, and run to their ends; a thousand would cost a minute. The others are cancelled. */
const ANSWERED = 250

const { act, api, place, requests, server } = stage(measurable)
const { open, reply } = asking(api)

const names = Array.from({ length: COUNT }, (_, index) => `s${index}`)

const forAll = async (some: ReadonlyArray<string>, job: (name: string) => Promise<unknown>): Promise<void> => {
  const left = some.values()
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      for (const name of left) await job(name)
    })
  )
}

/** Reads the server's stream until this many sessions' turns have come to a state; answers what they asked on the way. */
const turnsIn = async (state: string, count: number, after = 0) => {
  const there = new Set<string>()
  const asked = new Map<string, string>()
  const seen = await readUntil((await api()).events(`/events?afterServerCursor=${after}`), ({ data }) => {
    if (data.request !== undefined) asked.set(data.sessionId, data.request.requestId)
    if (data.turn?.state === state) there.add(data.sessionId)
    return there.size === count
  })
  return { asked, cursor: seen.at(-1)?.data.serverCursor }
}

/** Sessions with a fiber, as the server counts them. */
const runners = async (): Promise<number> => {
  const { token, url } = await server().up()
  const text = await (await fetch(`${url}/v1/metrics`, { headers: { authorization: `Bearer ${token}` } })).text()
  return Number(/^harness_runners (\d+)$/m.exec(text)?.[1] ?? Number.NaN)
}

const held = async (): Promise<number> => heldKib((await server().up()).pid)

const submit = async (name: string): Promise<void> => {
  const body = { content: `park: ${name}`, session: { workdir: "." } }
  expect((await (await api()).put(`/sessions/${name}/turns/t`, body)).status).toBe(202)
}

it("a thousand turns that wait hold no fiber and little memory, outlive a kill under the same ids, and end when they are answered", async () => {
  act("park", (request) => {
    const said = messagesOf(request)
    if (said.at(-1)?.role === "tool") return says("written")
    const name = /^park: (\w+)/.exec(textOf(said.at(-1) ?? { role: "", content: "" }))?.[1] ?? "nobody"
    return callsFor(["write", { path: `${name}.txt`, content: name }])
  })
  // What the first turn of a process brings in stays in memory, and is no turn's.
  await submit("first")
  const first = await turnsIn("waiting", 1)
  await reply("/sessions/first", first.asked.get("first") ?? "", "once")
  const { cursor } = await turnsIn("completed", 1)
  const before = await held()

  await forAll(names, submit)
  const { asked } = await turnsIn("waiting", COUNT, cursor)
  expect(asked.size).toBe(COUNT)
  await expect.poll(runners, { timeout: 30_000 }).toBe(0)
  const each = (now: number) => (now - before) / COUNT
  const parked = each(await held())
  expect(parked, "KiB of each turn that waits").toBeLessThan(HELD_KIB)

  await server().crash()
  // Nobody was woken for them.
  expect(await runners()).toBe(0)
  const again = each(await held())
  expect(again, "KiB of each turn that waits, after a restart").toBeLessThan(HELD_KIB)
  process.stdout.write(`${COUNT} parked: ${parked.toFixed(1)} KiB each, ${again.toFixed(1)} after a restart\n`)
  const found = new Map<string, string>()
  await forAll(names, async (name) => {
    for (const { requestId } of await open(`/sessions/${name}`)) found.set(name, requestId)
  })
  expect(found).toEqual(asked)
  expect(readdirSync(place.root)).toEqual(["first.txt"])

  const answered = names.slice(0, ANSWERED)
  await forAll(answered, (name) => reply(`/sessions/${name}`, asked.get(name) ?? "", "once"))
  await turnsIn("completed", ANSWERED, cursor)
  await forAll(names.slice(ANSWERED), async (name) => {
    const { body } = await (await api()).post(`/sessions/${name}/turns/t/cancel`)
    expect(body).toEqual({ stopping: false, turnId: "t" })
  })
  await expect.poll(runners, { timeout: 30_000 }).toBe(0)
  expect((await (await api()).get("/sessions?state=waiting")).body.sessions).toEqual([])
  for (const name of answered) expect(readFileSync(join(place.root, `${name}.txt`), "utf8")).toBe(name)
  expect(readdirSync(place.root)).toHaveLength(ANSWERED + 1)
  // Two steps of each that was answered, one of each other: nothing was asked for again because of the kill.
  expect(requests("park")).toHaveLength(COUNT + ANSWERED + 2)
}, 240_000)
