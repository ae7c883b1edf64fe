import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { byCallers, interleave, timed } from "../measure.ts"
import { held } from "../memory.ts"
import { type Running, startChild, startServer } from "../processes.ts"
import { type Bench, type Options, rowAlone, rowFrom, rowOf, under } from "../report.ts"
import { type Caller, caller } from "../wire.ts"
import type { Wish } from "../wish.ts"

const CALLERS = 32
const sessions = "/v1/servers/default/sessions"

interface Listed {
  readonly sessions: ReadonlyArray<{ readonly sessionId: string }>
  readonly next: string | null
}

/** How many sessions are in a state. */
const count = async (ours: Caller, state: string): Promise<number> => {
  let found = 0
  let place = ""
  for (;;) {
    const page: Listed = JSON.parse((await ours.send("GET", `${sessions}?state=${state}&limit=500${place}`)).text)
    found += page.sessions.length
    if (page.next === null) return found
    place = `&after=${page.next}`
  }
}

const untilNone = async (ours: Caller, state: string): Promise<void> => {
  while ((await count(ours, state)) > 0) await sleep(50)
}

const wish = (name: string): Wish => ({
  deltas: 20,
  call: { name: "write", arguments: { path: `${name}.txt`, content: name } }
})
const bodyOf = (name: string) => ({ content: JSON.stringify(wish(name)), session: {} })

const park = async (ours: Caller, names: ReadonlyArray<string>): Promise<void> => {
  await byCallers(CALLERS, names.length, async (index) => {
    const name = names[index] ?? ""
    await ours.send("PUT", `${sessions}/${name}/turns/t`, bodyOf(name))
  })
  await untilNone(ours, "running")
}

interface Asked {
  readonly permissions: ReadonlyArray<{ readonly requestId: string }>
}

/** Says yes to what a session asks, and waits until its turn has ended. */
const answer = async (ours: Caller, name: string): Promise<void> => {
  const asked: Asked = JSON.parse((await ours.send("GET", `${sessions}/${name}/permissions`)).text)
  for (const { requestId } of asked.permissions) {
    await ours.send("POST", `${sessions}/${name}/permissions/${requestId}/reply`, { reply: "once" })
  }
  const { text } = await ours.send("PUT", `${sessions}/${name}/turns/t?waitMillis=60000`, bodyOf(name))
  const { state }: { state: string } = JSON.parse(text)
  if (state !== "completed") throw new Error(`${name}: ${state}`)
}

const named = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}-${index}`)

/** A thousand turns that wait for a person: what each costs while it waits, a restart with them, and the answers to all. */
const run = async (options: Options) => {
  const turns = options.quick ? 100 : 1000
  const model = await startChild("model")
  const folder = options.folder()
  const measureFile = join(options.folder(), "memory.json")
  const start = () => startServer({ folder, modelUrl: model.url, profile: options.profile, measureFile })

  let server = await start()
  let ours = caller(server.url)
  // What the first turns of a process bring in stays in memory, and is no turn's.
  const first = named("first", 200)
  await park(ours, first)
  await byCallers(CALLERS, first.length, (index) => answer(ours, first[index] ?? ""))
  const before = await held(server, measureFile)
  const names = named("parked", turns)
  await park(ours, names)
  const parked = await held(server, measureFile)
  const perTurn = (bigger: number, smaller: number) => (bigger - smaller) / turns

  ours.close()
  await server.stop()
  const empty = options.folder()
  const startEmpty = () => startServer({ folder: empty, modelUrl: model.url })
  const starting = (begin: () => Promise<Running>) => async () => {
    let running: Running | undefined
    const millis = await timed(async () => {
      running = await begin()
    })
    await running?.stop()
    return millis
  }
  const restarts = await interleave(options.quick ? 1 : 5, starting(start), starting(startEmpty))

  server = await start()
  ours = caller(server.url)
  const waiting = await count(ours, "waiting")
  if (waiting !== turns) throw new Error(`${waiting} of ${turns} still wait`)
  const plain = await startChild("plain", [`${options.folder()}/plain.db`, model.url])
  const their = caller(plain.url)
  for (const name of names) await their.send("PUT", `/sessions/${name}`, {})
  // In parts, one after the other's: what else the machine does hits both alike.
  const part = Math.ceil(turns / 10)
  const times = { ours: [] as Array<number>, plain: [] as Array<number> }
  for (let from = 0; from < turns; from += part) {
    const some = names.slice(from, from + part)
    const each = (job: (name: string) => Promise<unknown>) =>
      timed(() => byCallers(CALLERS, some.length, (index) => job(some[index] ?? "")))
    times.ours.push(await each((name) => answer(ours, name)))
    times.plain.push(
      await each((name) => their.send("PUT", `/run/${name}/t`, { content: JSON.stringify({ deltas: 20 }) }))
    )
  }
  ours.close()
  their.close()
  await Promise.all([server.stop(), plain.stop(), model.stop()])

  const about = (what: string, unit: "ms" | "KiB") => ({ bench: "parked", what, unit }) as const
  const total = (millis: ReadonlyArray<number>) => millis.reduce((sum, each) => sum + each, 0)
  return [
    rowAlone(about("heap per parked turn", "KiB"), perTurn(parked.heap, before.heap), under(20, "KiB")),
    rowAlone(about("resident memory per parked turn", "KiB"), perTurn(parked.resident, before.resident)),
    rowOf(about(`restart with ${turns} parked`, "ms"), restarts, under(2000, "ms")),
    rowFrom(about(`${turns} answered, to their ends`, "ms"), total(times.ours), total(times.plain))
  ]
}

export const parked: Bench = { name: "parked", run }
