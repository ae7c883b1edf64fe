import type { SubmissionsAsk } from "../children/submissions.ts"
import { byCallers, interleave, timed } from "../measure.ts"
import { startChild, startServer } from "../processes.ts"
import { atLeastTimes, type Bench, type Options, rowOf } from "../report.ts"
import { caller } from "../wire.ts"
import type { Wish } from "../wish.ts"

const CALLERS = 32

/** Submissions through the services alone, against the same rows with better-sqlite3, one transaction each. */
const inProcess = async (options: Options) => {
  const child = await startChild<SubmissionsAsk, number>("submissions", [options.folder()], options.profile)
  const count = options.quick ? 320 : 3200
  const rows = []
  for (const callers of [1, CALLERS]) {
    const rate = (side: SubmissionsAsk["side"]) => async (round: number) =>
      (count / (await child.ask({ side, round: callers * 100 + round, count, callers }))) * 1000
    const found = await interleave(options.quick ? 2 : 4, rate("ours"), rate("plain"))
    const about = { bench: "submissions", what: `committed, ${callers} callers`, unit: "/s" } as const
    rows.push(rowOf(about, found, callers === CALLERS ? atLeastTimes(2) : undefined))
  }
  await child.stop()
  return rows
}

/** The same over HTTP. Each session runs a turn that does not end, so that what is submitted is kept and not run. */
const overHttp = async (options: Options) => {
  const model = await startChild("model")
  const ours = await startServer({ folder: options.folder(), modelUrl: model.url, profile: options.profile })
  const plain = await startChild("plain", [`${options.folder()}/plain.db`])
  const our = caller(ours.url)
  const their = caller(plain.url)
  const hold: Wish = { deltas: 0, hold: true }
  for (let session = 0; session < CALLERS; session++) {
    await their.send("PUT", `/sessions/s${session}`, {})
    await our.send("PUT", `/v1/servers/default/sessions/s${session}/turns/hold`, {
      content: JSON.stringify(hold),
      session: {}
    })
  }
  const count = options.quick ? 320 : 1600
  const content = "Please look at the failing test in packages/server and say what is wrong with it, in two sentences."
  const rate = (send: (session: string, turn: string) => Promise<unknown>) => async (round: number) =>
    (count /
      (await timed(() => byCallers(CALLERS, count, (index) => send(`s${index % CALLERS}`, `r${round}-${index}`))))) *
    1000
  const found = await interleave(
    options.quick ? 2 : 7,
    rate((session, turn) => our.send("PUT", `/v1/servers/default/sessions/${session}/turns/${turn}`, { content })),
    rate((session, turn) => their.send("PUT", `/submit/${session}/${turn}`, { content }))
  )
  our.close()
  their.close()
  await Promise.all([ours.stop(), plain.stop(), model.stop()])
  return [rowOf({ bench: "submissions", what: `over HTTP, ${CALLERS} callers`, unit: "/s" }, found)]
}

export const submissions: Bench = {
  name: "submissions",
  run: async (options) => [...(await inProcess(options)), ...(await overHttp(options))]
}
