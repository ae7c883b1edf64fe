import { byCallers, interleave, timed } from "../measure.ts"
import { startChild, startServer } from "../processes.ts"
import { type Bench, type Options, rowOf } from "../report.ts"
import { caller } from "../wire.ts"

/** What one request costs before it does anything. */
const run = async (options: Options) => {
  const ours = await startServer({ folder: options.folder(), profile: options.profile })
  const plain = await startChild("plain", [`${options.folder()}/plain.db`])
  const our = caller(ours.url)
  const their = caller(plain.url)
  const rounds = options.quick ? 2 : 7
  const rate = (callers: number, count: number, job: () => Promise<unknown>) => async () =>
    (count / (await timed(() => byCallers(callers, count, job)))) * 1000
  const rows = []
  for (const callers of [1, 32]) {
    const count = (callers === 1 ? 500 : 3000) / (options.quick ? 5 : 1)
    const found = await interleave(
      rounds,
      rate(callers, count, () => our.send("GET", "/v1/health")),
      rate(callers, count, () => their.send("GET", "/health"))
    )
    rows.push(rowOf({ bench: "requests", what: `GET health, ${callers} callers`, unit: "/s" }, found))
  }
  our.close()
  their.close()
  await Promise.all([ours.stop(), plain.stop()])
  return rows
}

export const requests: Bench = { name: "requests", run }
