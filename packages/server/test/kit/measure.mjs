// Loaded into a server by NODE_OPTIONS: at SIGUSR2 it collects its garbage and writes down what is then still held.
import { renameSync, writeFileSync } from "node:fs"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

setFlagsFromString("--expose-gc")
const gc = runInNewContext("gc")
const file = process.env.MEASURE_FILE

process.on("SIGUSR2", async () => {
  // What a round of finalizers lets go of is collected in the next.
  for (let round = 0; round < 4; round++) {
    gc()
    await new Promise((resolve) => setImmediate(resolve))
  }
  writeFileSync(`${file}.part`, JSON.stringify(process.memoryUsage()))
  renameSync(`${file}.part`, file)
})
