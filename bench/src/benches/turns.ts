import type { IncomingMessage } from "node:http"
import { interleave, median, now, percentile, timed } from "../measure.ts"
import { startChild, startServer } from "../processes.ts"
import { type Bench, type Options, rowFrom, rowOf, under } from "../report.ts"
import { type Caller, caller } from "../wire.ts"
import { completion, stampIn, type Wish } from "../wish.ts"

/** How late each delta of one turn was, the first one first. */
type Lateness = ReadonlyArray<number>

/** Collects how late the stamped deltas of a stream are, up to a number of them. */
const lateness = (stream: IncomingMessage) => {
  let found: Array<number> = []
  let rest = ""
  let wanted = 0
  let enough = () => {}
  stream.setEncoding("utf8").on("data", (text: string) => {
    const at = now()
    const whole = rest + text
    const end = whole.lastIndexOf("\n\n") + 2
    rest = whole.slice(end)
    for (const [, stamp] of whole.slice(0, end).matchAll(stampIn)) found.push(at - Number(stamp))
    if (wanted > 0 && found.length >= wanted) enough()
  })
  return (count: number): Promise<Lateness> =>
    new Promise((resolve) => {
      found = []
      wanted = count
      enough = () => {
        wanted = 0
        resolve(found)
      }
    })
}

interface Turn {
  readonly millis: number
  readonly late: Lateness
}

const direct = async (model: Caller, wish: Wish): Promise<Turn> => {
  let late: Lateness = []
  const millis = await timed(async () => {
    const response = await model.open("POST", "/v1/chat/completions", completion(wish))
    const collected = lateness(response)(wish.deltas)
    await new Promise((resolve) => response.once("end", resolve))
    late = await collected
  })
  return { millis, late }
}

/** One prompt and its answer, as a client sees it: until the turn has ended, and each delta on the session's stream. */
const run = async (options: Options) => {
  const model = await startChild("model")
  const server = await startServer({ folder: options.folder(), modelUrl: model.url, profile: options.profile })
  const ours = caller(server.url)
  const theirs = caller(model.url)
  const session = "/v1/servers/default/sessions/one"
  await ours.send("PUT", session, {})
  const stream = await ours.open("GET", `${session}/events`)
  const collect = lateness(stream)
  const wish: Wish = { deltas: 40, firstMillis: 50, gapMillis: 5, stamp: true }
  const own = async (round: number): Promise<Turn> => {
    const late = collect(wish.deltas)
    // A session each would hide what a history costs; one for all would make it grow. Five turns a session is like use.
    const millis = await timed(() =>
      ours.send("PUT", `${session}/turns/t${round}?waitMillis=60000`, { content: JSON.stringify(wish) })
    )
    return { millis, late: await late }
  }
  const found = await interleave(options.quick ? 3 : 30, own, () => direct(theirs, wish))
  stream.destroy()
  ours.close()
  theirs.close()
  await Promise.all([server.stop(), model.stop()])

  const first = (turns: ReadonlyArray<Turn>) => turns.map(({ late }) => late[0] ?? Number.NaN)
  const later = (turns: ReadonlyArray<Turn>) => turns.flatMap(({ late }) => late.slice(1))
  const millis = { ours: found.ours.map((turn) => turn.millis), plain: found.plain.map((turn) => turn.millis) }
  const added = median(millis.ours) - median(millis.plain)
  const about = (what: string) => ({ bench: "turn", what, unit: "ms" }) as const
  const late = (what: string, share: number, of: typeof first) =>
    rowFrom(
      about(what),
      percentile(of(found.ours), share),
      percentile(of(found.plain), share),
      of === first && share === 0.5 ? (mine, plain) => under(5, "ms added")(mine - plain) : undefined
    )
  return [
    rowOf(about(`submit to terminal (${added.toFixed(1)} ms added)`), millis),
    late("first delta, p50", 0.5, first),
    late("first delta, p95", 0.95, first),
    late("later deltas, p50", 0.5, later),
    late("later deltas, p95", 0.95, later)
  ]
}

export const turn: Bench = { name: "turn", run }
