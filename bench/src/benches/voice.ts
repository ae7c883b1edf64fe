import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { CallersAnswer, CallersAsk } from "../children/voiceCallers.ts"
import { interleave, median, percentile } from "../measure.ts"
import { held } from "../memory.ts"
import { type Child, cpuMillis, startChild, startServer } from "../processes.ts"
import { type Bench, type Options, type Row, rowAlone, rowFrom, rowOf, under } from "../report.ts"
import type { Wish } from "../wish.ts"

/** A model of today speaks thirty tokens a second. */
const GAP_MILLIS = 33
/** From the request to the model's first token. */
const FIRST_MILLIS = 200

/** How callers speak: each once, one after the other, within `spreadMillis`. */
interface Scene {
  readonly what: string
  readonly deltas: number
  readonly spreadMillis: number
  readonly rounds: number
}

/** Everybody is answered at the same time, for four seconds; not all begin in the same millisecond. */
const atOnce: Scene = { what: "all at once", deltas: 120, spreadMillis: 1_000, rounds: 3 }
/** Everybody is answered once in twenty seconds, for two: people listen, think and speak, too. */
const conversation: Scene = { what: "in conversation", deltas: 60, spreadMillis: 20_000, rounds: 1 }

type Callers = Child<CallersAsk, CallersAnswer>

interface Round {
  readonly heard: CallersAnswer
  readonly cpu: number
}

/** How late a scene's deltas were. */
const rowsOf = (
  what: string,
  found: { readonly ours: ReadonlyArray<Round>; readonly plain: ReadonlyArray<Round> },
  deltas: number
): ReadonlyArray<Row> => {
  const heard = (rounds: ReadonlyArray<Round>) => rounds.flatMap((round) => round.heard)
  const firsts = (rounds: ReadonlyArray<Round>) => heard(rounds).map(({ late }) => late[0] ?? Number.NaN)
  const later = (rounds: ReadonlyArray<Round>) => heard(rounds).flatMap(({ late }) => late.slice(1))
  const waited = (rounds: ReadonlyArray<Round>) => heard(rounds).map((one) => one.waited - FIRST_MILLIS)
  const about = (of: string, unit: "ms" | "us") => ({ bench: "voice", what: of, unit }) as const
  const added = median(firsts(found.ours)) - median(firsts(found.plain))
  const cpus = (rounds: ReadonlyArray<Round>) => rounds.map(({ cpu }) => (cpu * 1_000) / deltas)
  const late = (share: number) => [percentile(later(found.ours), share), percentile(later(found.plain), share)] as const
  return [
    rowFrom(
      about(`${what}: first chunk, p50 (${added.toFixed(1)} ms added)`, "ms"),
      median(firsts(found.ours)),
      median(firsts(found.plain)),
      (mine, theirs) => under(5, "ms added")(mine - theirs)
    ),
    rowFrom(
      about("from the caller's words to the first chunk, without the model's time, p50", "ms"),
      median(waited(found.ours)),
      median(waited(found.plain))
    ),
    rowFrom(about("later frames, p50", "ms"), ...late(0.5)),
    rowFrom(about("later frames, p99", "ms"), ...late(0.99), under(50, "ms")),
    rowOf(about("server CPU per delta", "us"), { ours: cpus(found.ours), plain: cpus(found.plain) })
  ]
}

/** Phone calls at once, each with a reply under way: how late each delta of the model is in the caller's socket. */
const run = async (options: Options) => {
  const count = options.calls ?? (options.quick ? 20 : 200)
  const loud: Scene = {
    ...atOnce,
    ...(options.quick ? { deltas: 30 } : {}),
    ...(options.spreadMillis === undefined ? {} : { spreadMillis: options.spreadMillis })
  }
  const model = await startChild("model")
  const measureFile = join(options.folder(), "memory.json")
  const server = await startServer({
    folder: options.folder(),
    modelUrl: model.url,
    profile: options.profile,
    measureFile
  })
  const plain = await startChild("plainVoice", [model.url])
  const callers = async (url: string, number: number): Promise<Callers> => {
    const child = await startChild<CallersAsk, CallersAnswer>("voiceCallers")
    await child.ask({ type: "connect", url, count: number })
    return child
  }
  const talking =
    (child: Callers, pid: number, { deltas, spreadMillis }: Scene) =>
    async (): Promise<Round> => {
      const cpu = cpuMillis(pid)
      const wish: Wish = { deltas, firstMillis: FIRST_MILLIS, gapMillis: GAP_MILLIS, stamp: true }
      const heard = await child.ask({ type: "talk", wish, spreadMillis })
      const short = heard.filter(({ late }) => late.length < deltas).length
      if (short > 0) throw new Error(`${short} of ${heard.length} calls did not hear all of their reply`)
      return { heard, cpu: cpuMillis(pid) - cpu }
    }
  const url = `${server.url.replace("http", "ws")}/v1/servers/default/jambonz`

  // What the first calls of a process bring in stays in memory, and is no call's.
  const first = await callers(url, Math.min(count, 50))
  await talking(first, server.pid, { ...loud, deltas: 30 })()
  await first.ask({ type: "leave" })
  await sleep(1_000)
  const before = await held(server, measureFile)
  const our = await callers(url, count)
  const their = await callers(plain.url, count)
  const speaking = talking(our, server.pid, loud)()
  await sleep(loud.spreadMillis + (GAP_MILLIS * loud.deltas) / 2)
  const during = await held(server, measureFile)
  await speaking

  const rows: Array<Row> = []
  for (const scene of options.quick ? [loud] : [loud, conversation]) {
    const rounds = options.quick ? 1 : scene.rounds
    const found = await interleave(rounds, talking(our, server.pid, scene), talking(their, plain.pid, scene))
    rows.push(...rowsOf(`${count} calls ${scene.what}`, found, count * scene.deltas))
  }
  await Promise.all([first.stop(), our.stop(), their.stop()])
  await Promise.all([server.stop(), plain.stop(), model.stop()])

  const perCall = (what: string, bigger: number, smaller: number) =>
    rowAlone({ bench: "voice", what, unit: "MiB" }, (bigger - smaller) / count / 1024, under(2, "MiB"))
  return [
    ...rows,
    perCall("heap per call, speaking", during.heap, before.heap),
    perCall("resident memory per call, speaking", during.resident, before.resident)
  ]
}

export const voice: Bench = { name: "voice", run }
