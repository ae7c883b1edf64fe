import { setTimeout as sleep } from "node:timers/promises"
import { interleave, timed } from "../measure.ts"
import { type Running, residentMiB, startPlain, startServer } from "../processes.ts"
import { type Bench, type Options, rowOf, under } from "../report.ts"

/** From nothing to the first answer, and what an idle process holds. */
const run = async (options: Options) => {
  const rounds = options.quick ? 1 : 7
  const starting = (start: () => Promise<Running>) => async () => {
    let running: Running | undefined
    const millis = await timed(async () => {
      running = await start()
    })
    await running?.stop()
    return millis
  }
  const folder = options.folder()
  const ours = () => startServer({ folder, profile: options.profile })
  const cold = await interleave(rounds, starting(ours), starting(startPlain))

  // Long enough for the engine to have tidied up after the start.
  const idleMillis = options.quick ? 2_000 : 20_000
  const idle = (start: () => Promise<Running>) => async () => {
    const running = await start()
    await sleep(idleMillis)
    const resident = residentMiB(running.pid)
    await running.stop()
    return resident
  }
  const mine: Array<number> = []
  const plain: Array<number> = []
  for (let round = 0; round < (options.quick ? 1 : 3); round++) {
    const both = await Promise.all([idle(ours)(), idle(startPlain)()])
    mine.push(both[0])
    plain.push(both[1])
  }
  return [
    rowOf({ bench: "start", what: "spawn to first health", unit: "ms" }, cold, under(1500, "ms")),
    rowOf({ bench: "start", what: "idle memory", unit: "MiB" }, { ours: mine, plain }, under(120, "MiB"))
  ]
}

export const start: Bench = { name: "start", run }
