import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { CallersAnswer, CallersAsk } from "../children/voiceCallers.ts"
import { interleave, median, percentile } from "../measure.ts"
import { held } from "../memory.ts"
import { type Child, cpuMillis, startChild, startServer } from "../processes.ts"
import { type Bench, type Options, rowAlone, rowFrom, rowOf, under } from "../report.ts"
import type { Wish } from "../wish.ts"

/** A model of today speaks thirty tokens a second. */
const GAP_MILLIS = 33
/** Callers do not all begin to speak in the same millisecond. */
const SPREAD_MILLIS = 1_000

type Callers = Child<CallersAsk, CallersAnswer>

interface Round {
  readonly late: CallersAnswer["late"]
  readonly cpu: number
}

/** Phone calls at once, each with a reply under way: how late each delta of the model is in the caller's socket. */
const run = async (options: Options) => {
  const count = options.calls ?? (options.quick ? 20 : 200)
  const spreadMillis = options.spreadMillis ?? SPREAD_MILLIS
  const deltas = options.quick ? 30 : 120
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
  const talking = (child: Callers, pid: number, wish: Wish, spreadMillis: number) => async (): Promise<Round> => {
    const cpu = cpuMillis(pid)
    const { late } = await child.ask({ type: "talk", wish, spreadMillis })
    const short = late.filter(({ length }) => length < wish.deltas).length
    if (short > 0) throw new Error(`${short} of ${late.length} calls did not hear all of their reply`)
    return { late, cpu: cpuMillis(pid) - cpu }
  }
  const url = `${server.url.replace("http", "ws")}/v1/servers/default/jambonz`
  const wish: Wish = { deltas, firstMillis: 200, gapMillis: GAP_MILLIS, stamp: true }

  // What the first calls of a process bring in stays in memory, and is no call's.
  const first = await callers(url, Math.min(count, 50))
  await talking(first, server.pid, { ...wish, deltas: 30 }, spreadMillis)()
  await first.ask({ type: "leave" })
  await sleep(1_000)
  const before = await held(server, measureFile)
  const our = await callers(url, count)
  const their = await callers(plain.url, count)
  const own = talking(our, server.pid, wish, spreadMillis)
  const speaking = own()
  await sleep(spreadMillis + (GAP_MILLIS * deltas) / 2)
  const during = await held(server, measureFile)
  await speaking

  const found = await interleave(options.quick ? 1 : 3, own, talking(their, plain.pid, wish, spreadMillis))
  await Promise.all([first.stop(), our.stop(), their.stop()])
  await Promise.all([server.stop(), plain.stop(), model.stop()])

  const firsts = (rounds: ReadonlyArray<Round>) =>
    rounds.flatMap((round) => round.late).map(([late]) => late ?? Number.NaN)
  const later = (rounds: ReadonlyArray<Round>) => rounds.flatMap((round) => round.late).flatMap((late) => late.slice(1))
  const about = (what: string, unit: "ms" | "us" | "MiB") => ({ bench: "voice", what, unit }) as const
  const perCall = (bigger: number, smaller: number) => (bigger - smaller) / count / 1024
  const added = median(firsts(found.ours)) - median(firsts(found.plain))
  const cpus = (rounds: ReadonlyArray<Round>) => rounds.map(({ cpu }) => (cpu * 1_000) / (count * deltas))
  const late = (share: number) => [percentile(later(found.ours), share), percentile(later(found.plain), share)] as const
  return [
    rowFrom(
      about(`${count} calls: first chunk, p50 (${added.toFixed(1)} ms added)`, "ms"),
      median(firsts(found.ours)),
      median(firsts(found.plain)),
      (mine, theirs) => under(5, "ms added")(mine - theirs)
    ),
    rowFrom(about("later frames, p50", "ms"), ...late(0.5)),
    rowFrom(about("later frames, p99", "ms"), ...late(0.99), under(50, "ms")),
    rowOf(about("server CPU per delta", "us"), { ours: cpus(found.ours), plain: cpus(found.plain) }),
    rowAlone(about("heap per call, speaking", "MiB"), perCall(during.heap, before.heap), under(2, "MiB")),
    rowAlone(
      about("resident memory per call, speaking", "MiB"),
      perCall(during.resident, before.resident),
      under(2, "MiB")
    )
  ]
}

export const voice: Bench = { name: "voice", run }
