import { expect, it } from "vitest"
import { busyUser } from "../kit/busyUser.ts"
import { wholeLog } from "../kit/follower.ts"
import { plannedModel } from "../kit/plannedModel.ts"
import { chance } from "../kit/random.ts"
import { type Reader, readServer, readSession, readTurn } from "../kit/readers.ts"
import { stage } from "../kit/stage.ts"
import { readUntil, type WireEvent } from "../kit/wire.ts"

const seed = Number(process.env["REPLAY_SEED"] ?? 311)
const SESSIONS = ["a", "b"]
const ACTS = 60
const LATECOMERS = 5

const { problems, script } = plannedModel()
const { api, server, session } = stage({}, script)

const ids = (events: ReadonlyArray<WireEvent>) => events.map(({ id }) => id)
const texts = (events: ReadonlyArray<WireEvent>) => events.map(({ data }) => JSON.stringify(data))

/** Every row the server's stream shows, from the first to where it stands. Rows it does not show move its cursor, too. */
const wholeServerLog = async () => {
  const { events } = await api()
  const [now] = await readUntil(events("/events"), () => true)
  const head = now?.data.serverCursor
  const frames = await readUntil(events("/events?afterServerCursor=0"), ({ data }) => data.serverCursor >= head)
  return frames.filter(({ data, id }) => id !== undefined && data.replayed !== true)
}

it("L3, L4: readers cut, slowed and resumed at random see each row once, in order, and fold what a fresh read shows", {
  timeout: 600_000
}, async () => {
  const dice = chance(seed)
  const up = await server().up()
  const heads = new Map<string, number>()
  const enough = (id: string) => (at: number) => at > (heads.get(id) ?? Number.POSITIVE_INFINITY)
  const common = () => ({ server: up, chance: dice.fork() })
  const readers: Array<Reader> = []
  const turnReaders: Array<Reader> = []
  const servers = [readServer({ ...common(), enough: enough("server"), from: 0 })]

  const watch = async (id: string) => {
    readers.push(readSession(id, { ...common(), enough: enough(id), from: 0 }))
    const stream = (await api()).events(`/sessions/${id}/events?afterCursor=0`)
    for await (const { data, id: cursor } of stream) {
      if (enough(id)(cursor ?? 0)) return
      if (data.turn === undefined || data.revision !== 1) continue
      const from = dice.pick([undefined, 0])
      turnReaders.push(readTurn(id, data.turnId, { ...common(), ...(from === undefined ? {} : { from }) }))
    }
  }
  const work = async (id: string) => {
    await session(id)
    const watching = watch(id)
    const user = busyUser({ session: id, chance: dice.fork(), ask: async (ask) => ask(await api()) })
    for (let act = 0; act < ACTS; act++) {
      await user.act()
      if (act % (ACTS / LATECOMERS) === 0) {
        readers.push(readSession(id, { ...common(), enough: enough(id) }))
        servers.push(readServer({ ...common(), enough: enough("server") }))
      }
    }
    const last = { content: 'PLAN {"id":"last","calls":0,"words":3,"pace":0,"command":""}' }
    await (await api()).put(`/sessions/${id}/turns/last?waitMillis=60000`, last)
    const { body } = await (await api()).send("PATCH", `/servers/default/sessions/${id}`, { title: "quiet" })
    heads.set(id, body.cursor)
    // Rings at every reader, who then sees that this was all.
    await (await api()).send("PATCH", `/servers/default/sessions/${id}`, { title: "over" })
    await watching
  }
  await Promise.all(SESSIONS.map(work))
  heads.set("server", (await wholeServerLog()).at(-1)?.id ?? 0)
  await (await api()).send("PATCH", "/servers/default/sessions/a", { title: "the last word" })
  const connections = await Promise.all([...readers, ...turnReaders, ...servers].map(({ done }) => done))

  // The property means something: lines were cut.
  expect(Math.max(...connections)).toBeGreaterThan(3)
  for (const id of SESSIONS) {
    const rows = await wholeLog(await api(), id)
    const { body } = await (await api()).get(`/sessions/${id}/turns?limit=500`)
    const fresh = new Map<string, unknown>(body.turns.map((turn: { turnId: string }) => [turn.turnId, turn]))
    for (const reader of readers.filter((one) => one.id === id)) {
      expect(reader.problems).toEqual([])
      expect(reader.fold.problems).toEqual([])
      const first = reader.rows[0]?.id ?? 1
      const same = rows.slice(first - 1, first - 1 + reader.rows.length)
      expect(ids(reader.rows)).toEqual(ids(same))
      expect(texts(reader.rows)).toEqual(texts(same))
      expect(reader.rows.at(-1)?.id).toBeGreaterThan(heads.get(id) ?? 0)
      for (const [turnId, turn] of reader.fold.turns) expect(turn).toEqual(fresh.get(turnId))
      if (reader.from === 0) expect(reader.fold.turns.size).toBe(fresh.size)
    }
    for (const reader of turnReaders.filter(
      (one) => fresh.has(one.id) && one.fold.turns.get(one.id)?.sessionId === id
    )) {
      expect(reader.fold.turns.get(reader.id)).toEqual(fresh.get(reader.id))
    }
  }
  for (const reader of turnReaders) {
    expect(reader.problems, reader.id).toEqual([])
    expect(reader.fold.problems, reader.id).toEqual([])
    expect(reader.fold.turns.size).toBe(1)
    if (reader.from === 0) expect(reader.rows.map(({ id }) => id)).toEqual(reader.rows.map((_, index) => index + 1))
  }
  const whole = await wholeServerLog()
  for (const reader of servers) {
    expect(reader.problems).toEqual([])
    const first = whole.findIndex(({ id }) => id === reader.rows[0]?.id)
    const same = whole.slice(first, first + reader.rows.length)
    expect(ids(reader.rows)).toEqual(ids(same))
    expect(texts(reader.rows)).toEqual(texts(same))
    expect(reader.rows.at(-1)?.id).toBeGreaterThan(heads.get("server") ?? 0)
  }
  expect(problems).toEqual([])
})
