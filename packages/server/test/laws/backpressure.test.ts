import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { expect, it } from "vitest"
import { Fold } from "../kit/fold.ts"
import { heldKib, measurable, residentKib, socketsOf, until } from "../kit/process.ts"
import { openStream } from "../kit/reader.ts"
import { says } from "../kit/scriptedModel.ts"
import { stage } from "../kit/stage.ts"
import type { WireEvent } from "../kit/wire.ts"

const DELTAS = 500
const READERS = 1_000
const STALLED = 100
const LATE = 5
const TURNS = Array.from({ length: 10 }, (_, n) => `d${n}`)
const CYCLES = 1_000
/** Connections that our own requests keep for reuse come and go. */
const SPARE = 3

const { act, api, server, session } = stage(measurable)

const words = Array.from({ length: DELTAS }, (_, n) => `${n}é `)
act("short", () => says(...words))
const long = Array.from({ length: DELTAS }, (_, n) => `${n} ${"é".repeat(500)} `)
act("long", () => says(...long))

const runTurn = async (home: string, turnId: string, content: string) => {
  const began = performance.now()
  const { body } = await (await api()).put(`${home}/turns/${turnId}?waitMillis=120000`, { content })
  expect(body).toMatchObject({ state: "completed" })
  return performance.now() - began
}

it(`L3, L11: ${READERS} readers who idled get every one of ${DELTAS} deltas, and every row, in order`, {
  timeout: 600_000
}, async () => {
  const home = await session("many")
  const up = await server().up()
  const readers = await Promise.all(
    Array.from({ length: READERS }, async () => {
      const frames: Array<WireEvent> = []
      let over = () => {}
      const ended = new Promise<void>((resolve) => {
        over = resolve
      })
      const take = (event: WireEvent) => {
        frames.push(event)
        if (event.data.turn?.state === "completed") over()
      }
      const { response } = await openStream(up, `${home}/events`, take)
      return { frames, response, ended }
    })
  )
  const alone = await runTurn("/sessions/many", "t", "short: speak")
  await Promise.all(readers.map(({ ended }) => ended))
  for (const { frames, response } of readers) {
    response.destroy()
    const rows = frames.flatMap(({ id }) => (id === undefined ? [] : [id]))
    expect(rows).toEqual(rows.map((_, index) => index + 2))
    const said = frames.filter(({ type }) => type === "session.turn.text.delta").map(({ data }) => data.delta)
    expect(said.join("")).toBe(words.join(""))
  }
  console.log(`a turn of ${DELTAS} deltas before ${READERS} readers took ${Math.round(alone)} ms`)
})

/** Opens a stream and does not read on until `resume`; then reads to a row, or to where the server gave up. */
const lateReader = async (path: string) => {
  const rows: Array<number> = []
  const fold = new Fold()
  let wanted = Number.POSITIVE_INFINITY
  let arrived = () => {}
  const { closed, response } = await openStream(await server().up(), path, (event) => {
    fold.take(event)
    if (event.id !== undefined) rows.push(event.id)
    if (rows.at(-1) === wanted) arrived()
  })
  response.pause()
  return {
    rows,
    fold,
    resume: async (head: number) => {
      wanted = head
      const there = new Promise<void>((resolve) => {
        arrived = resolve
      })
      response.resume()
      await Promise.race([there, closed])
      response.destroy()
    }
  }
}

/** Asks for a stream, and never reads a byte of it. */
const deafReader = async (path: string): Promise<Socket> => {
  const { token, url } = await server().up()
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true }).pause()
  socket.on("error", () => {})
  await once(socket, "connect")
  const lines = [`GET /v1/servers/default${path} HTTP/1.1`, `host: ${hostname}`, `authorization: Bearer ${token}`]
  socket.write(`${lines.join("\r\n")}\r\n\r\n`)
  return socket
}

it("L11: a reader that never reads costs under 1 MiB, slows no turn, is closed after 30 s, and resumes by cursor", {
  timeout: 900_000
}, async () => {
  const { pid } = await server().up()
  const home = await session("deaf")
  // The same work without them first: what it takes, and what it leaves behind in the process.
  const warm = await session("warm")
  const alone: Array<number> = []
  for (const turn of TURNS) alone.push(await runTurn(warm, turn, "long: speak"))
  const sockets = socketsOf(pid)
  const { body } = await (await api()).get(home)
  const before = { held: await heldKib(pid), resident: residentKib(pid) }

  const deaf = await Promise.all(Array.from({ length: STALLED }, () => deafReader(`${home}/events`)))
  await until(() => socketsOf(pid) >= sockets + STALLED - SPARE)
  const late = await Promise.all(Array.from({ length: LATE }, () => lateReader(`${home}/events`)))
  const times: Array<number> = []
  // Enough for every buffer between here and there to be full.
  for (const turn of TURNS) times.push(await runTurn(home, turn, "long: speak"))
  const resident = (residentKib(pid) - before.resident) / STALLED
  const held = ((await heldKib(pid)) - before.held) / STALLED
  console.log(`a deaf reader holds ${Math.round(held)} KiB; the process grew by ${Math.round(resident)} KiB for each`)
  const [without, beside] = [alone, times].map((all) => all.map(Math.round).join(", "))
  console.log(`turns took ${without} ms; beside deaf readers ${beside} ms`)
  expect(held).toBeLessThan(1_024)

  // Who reads again, overtaken by all of it, finds every row in its place.
  const head = (await (await api()).get(home)).body.cursor
  await Promise.all(late.map(({ resume }) => resume(head)))
  for (const { fold, rows } of late) {
    expect(rows).toEqual(rows.map((_, index) => body.cursor + 1 + index))
    expect(fold.problems).toEqual([])
  }
  console.log(
    `readers who came back had ${late.map(({ rows }) => rows.length).join(", ")} of ${head - body.cursor} rows`
  )

  const began = performance.now()
  await until(() => socketsOf(pid) <= sockets + SPARE)
  console.log(`${STALLED} deaf readers were gone ${Math.round(performance.now() - began)} ms after the last turn`)
  for (const socket of deaf) socket.destroy()

  const fold = new Fold()
  const rows: Array<number> = []
  const stream = (await api()).events(`${home}/events?afterCursor=${body.cursor}`)
  for await (const event of stream) {
    fold.take(event)
    if (event.id !== undefined) rows.push(event.id)
    if (event.type === "session.cursor") break
  }
  expect(rows).toEqual(rows.map((_, index) => body.cursor + 1 + index))
  for (const turn of TURNS) {
    expect(fold.turns.get(turn)).toEqual((await (await api()).get(`${home}/turns/${turn}`)).body)
  }
})

it(`L11: ${CYCLES} streams opened and left behind leave no socket, and no memory, behind`, {
  timeout: 600_000
}, async () => {
  const up = await server().up()
  const home = await session("cycles")
  await runTurn(home, "t", "short: speak")
  const paths = [`${home}/events`, `${home}/events?afterCursor=0`, `${home}/turns/t/events`, "/events"]
  const cycle = async (index: number) => {
    const { closed, response } = await openStream(up, paths[index % paths.length] ?? home, () => {})
    response.destroy()
    await closed
  }
  const cycles = async (count: number) => {
    for (let done = 0; done < count; done += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, index) => cycle(done + index)))
    }
  }
  const sockets = socketsOf(up.pid)
  await cycles(CYCLES / 2)
  await until(() => socketsOf(up.pid) <= sockets + SPARE)
  const before = await heldKib(up.pid)
  await cycles(CYCLES)
  await until(() => socketsOf(up.pid) <= sockets + SPARE)
  const kept = ((await heldKib(up.pid)) - before) / CYCLES
  console.log(`a stream left behind keeps ${kept.toFixed(2)} KiB`)
  // Less than the smallest of a stream's parts: what is left are the counters and names of the process.
  expect(kept).toBeLessThan(2)
})
