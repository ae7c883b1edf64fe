import { byCallers, interleave, timed } from "../measure.ts"
import { startChild, startServer } from "../processes.ts"
import { type Bench, type Options, rowOf } from "../report.ts"
import { caller } from "../wire.ts"

/** Sessions made over HTTP, each on the disk when it is answered. */
const run = async (options: Options) => {
  const ours = await startServer({ folder: options.folder(), profile: options.profile })
  const plain = await startChild("plain", [`${options.folder()}/plain.db`])
  const our = caller(ours.url)
  const their = caller(plain.url)
  const rows = []
  for (const callers of [1, 32]) {
    const count = (callers === 1 ? 200 : 1600) / (options.quick ? 5 : 1)
    const rate = (make: (id: string) => Promise<unknown>) => async (round: number) =>
      (count / (await timed(() => byCallers(callers, count, (index) => make(`c${callers}-r${round}-${index}`))))) * 1000
    const found = await interleave(
      options.quick ? 2 : 7,
      rate((id) => our.send("PUT", `/v1/servers/default/sessions/${id}`, {})),
      rate((id) => their.send("PUT", `/sessions/${id}`, {}))
    )
    rows.push(rowOf({ bench: "sessions", what: `created over HTTP, ${callers} callers`, unit: "/s" }, found))
  }
  our.close()
  their.close()
  await Promise.all([ours.stop(), plain.stop()])
  return rows
}

export const sessions: Bench = { name: "sessions", run }
