import { interleave, timed } from "../measure.ts"
import { startChild, startServer } from "../processes.ts"
import { type Bench, type Options, rowOf } from "../report.ts"
import { caller } from "../wire.ts"
import type { Wish } from "../wish.ts"

const SESSIONS = 16

/** Sixteen sessions, each with one turn after another. The plain way: one transaction, the model's answer, one transaction. */
const run = async (options: Options) => {
  const model = await startChild("model")
  const ours = await startServer({ folder: options.folder(), modelUrl: model.url, profile: options.profile })
  const plain = await startChild("plain", [`${options.folder()}/plain.db`, model.url])
  const our = caller(ours.url)
  const their = caller(plain.url)
  const wish: Wish = { deltas: 20 }
  const body = { content: JSON.stringify(wish) }
  const turns = options.quick ? 4 : 20
  // New sessions in every round: a history that grows would make each round slower than the one before.
  const rate = (
    make: (session: string) => Promise<unknown>,
    turn: (session: string, turn: string) => Promise<unknown>
  ) => {
    const loop = async (session: string) => {
      for (let index = 0; index < turns; index++) await turn(session, `t${index}`)
    }
    return async (round: number) => {
      const names = Array.from({ length: SESSIONS }, (_, index) => `r${round}-${index}`)
      for (const name of names) await make(name)
      return ((SESSIONS * turns) / (await timed(() => Promise.all(names.map(loop))))) * 1000
    }
  }
  const found = await interleave(
    options.quick ? 2 : 5,
    rate(
      (session) => our.send("PUT", `/v1/servers/default/sessions/${session}`, {}),
      (session, id) => our.send("PUT", `/v1/servers/default/sessions/${session}/turns/${id}?waitMillis=60000`, body)
    ),
    rate(
      (session) => their.send("PUT", `/sessions/${session}`, {}),
      (session, id) => their.send("PUT", `/run/${session}/${id}`, body)
    )
  )
  our.close()
  their.close()
  await Promise.all([ours.stop(), plain.stop(), model.stop()])
  return [rowOf({ bench: "throughput", what: `turns at ${SESSIONS} sessions`, unit: "/s" }, found)]
}

export const throughput: Bench = { name: "throughput", run }
