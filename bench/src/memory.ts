import { existsSync, readFileSync, rmSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import type { Running } from "./processes.ts"

/** What a process holds once its garbage is collected, in KiB: objects, with the buffers beside them, and pages. */
export interface Held {
  readonly heap: number
  readonly resident: number
}

/** Asks a server that was started with this `measureFile`. */
export const held = async ({ pid }: Running, measureFile: string): Promise<Held> => {
  rmSync(measureFile, { force: true })
  process.kill(pid, "SIGUSR2")
  while (!existsSync(measureFile)) await sleep(20)
  const { external, heapUsed, rss }: NodeJS.MemoryUsage = JSON.parse(readFileSync(measureFile, "utf8"))
  return { heap: (heapUsed + external) / 1024, resident: rss / 1024 }
}
