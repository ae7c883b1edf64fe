import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"

/** What a process holds in memory, in KiB, as the system says. */
export const residentKib = (pid: number): number => {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))
  return Number(line?.[1] ?? Number.NaN)
}

/** Sockets a process has open, listening ones too. */
export const socketsOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith("socket:")
    } catch {
      // Closed since it was listed.
      return false
    }
  }).length

/** Settles once a fact of a process is so. */
export const until = async (fact: () => boolean): Promise<void> => {
  while (!fact()) await delay(20)
}

const measureFile = join(tmpdir(), `harness-measure-${process.pid}-${Date.now()}.json`)

/** Lets a server that is started with it be measured. */
export const measurable: Readonly<Record<string, string>> = {
  NODE_OPTIONS: `--import=${fileURLToPath(new URL("./measure.mjs", import.meta.url))}`,
  MEASURE_FILE: measureFile
}

/** What a measurable server holds once its garbage is collected, in KiB: objects, and buffers beside them. */
export const heldKib = async (pid: number): Promise<number> => {
  process.kill(pid, "SIGUSR2")
  await until(() => existsSync(measureFile))
  const { external, heapUsed } = JSON.parse(readFileSync(measureFile, "utf8"))
  rmSync(measureFile)
  return (heapUsed + external) / 1_024
}
