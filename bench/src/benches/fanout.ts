import type { ReadersAnswer, ReadersAsk } from "../children/readers.ts"
import { interleave, now } from "../measure.ts"
import { cpuMillis, startChild, startServer } from "../processes.ts"
import { atMostTimes, type Bench, type Options, rowOf } from "../report.ts"
import { caller } from "../wire.ts"
import { markOf, type Wish } from "../wish.ts"

const EVENTS = 500
/** A frame of one delta is at least this long: tells whether every reader got everything. */
const FRAME_BYTES = 150

interface Fan {
  readonly wall: number
  readonly cpu: number
}

/** One turn of 500 deltas, as fast as the model writes them, to many readers of its session. */
const run = async (options: Options) => {
  const model = await startChild("model")
  const ours = await startServer({ folder: options.folder(), modelUrl: model.url, profile: options.profile })
  const plain = await startChild("plainFanout", [model.url])
  const our = caller(ours.url)
  const their = caller(plain.url)
  const session = "/v1/servers/default/sessions/fan"
  await our.send("PUT", session, {})
  let mark = 0
  const rows = []
  for (const count of options.quick ? [1, 100] : [1, 100, 1000]) {
    const readers = async (url: string, path: string) => {
      const child = await startChild<ReadersAsk, ReadersAnswer>("readers")
      await child.ask({ type: "connect", url, path, count })
      return child
    }
    const ourReaders = await readers(ours.url, `${session}/events`)
    const theirReaders = await readers(plain.url, "/events")
    const fan =
      (child: typeof ourReaders, pid: number, start: (wish: Wish) => Promise<unknown>) => async (): Promise<Fan> => {
        const wish: Wish = { deltas: EVENTS, mark: ++mark }
        await child.ask({ type: "expect", mark: markOf(mark) })
        const cpu = cpuMillis(pid)
        const begun = now()
        const [{ at, least }] = await Promise.all([child.ask({ type: "collect" }), start(wish)])
        if (least < EVENTS * FRAME_BYTES) throw new Error(`a reader got ${least} bytes for ${EVENTS} events`)
        return { wall: at - begun, cpu: cpuMillis(pid) - cpu }
      }
    const found = await interleave(
      options.quick ? 2 : 5,
      fan(ourReaders, ours.pid, (wish) =>
        our.send("PUT", `${session}/turns/t${wish.mark}?waitMillis=60000`, { content: JSON.stringify(wish) })
      ),
      fan(theirReaders, plain.pid, (wish) => their.send("POST", "/", { content: JSON.stringify(wish) }))
    )
    const of = (field: keyof Fan) => ({
      ours: found.ours.map((fan) => fan[field]),
      plain: found.plain.map((fan) => fan[field])
    })
    const about = (what: string) => ({ bench: "fanout", what: `${count} × ${EVENTS}, ${what}`, unit: "ms" }) as const
    rows.push(rowOf(about("wall"), of("wall"), count === 1000 ? atMostTimes(0.6) : undefined))
    rows.push(rowOf(about("server CPU"), of("cpu")))
    await Promise.all([ourReaders.stop(), theirReaders.stop()])
  }
  our.close()
  their.close()
  await Promise.all([ours.stop(), plain.stop(), model.stop()])
  return rows
}

export const fanout: Bench = { name: "fanout", run }
