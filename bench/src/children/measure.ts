import { renameSync, writeFileSync } from "node:fs"
import { setImmediate as breath } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

setFlagsFromString("--expose-gc")
const gc: () => void = runInNewContext("gc")
const file = process.env["MEASURE_FILE"] ?? ""

const measure = async () => {
  // What a round of finalizers lets go of is collected in the next.
  for (let round = 0; round < 4; round++) {
    gc()
    await breath()
  }
  writeFileSync(`${file}.part`, JSON.stringify(process.memoryUsage()))
  renameSync(`${file}.part`, file)
}

/** Loaded into a server before its program: at SIGUSR2 it collects its garbage and writes down what is then still held. */
process.on("SIGUSR2", () => void measure())
