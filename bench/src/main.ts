import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { fanout } from "./benches/fanout.ts"
import { parked } from "./benches/parked.ts"
import { replay } from "./benches/replay.ts"
import { requests } from "./benches/requests.ts"
import { sessions } from "./benches/sessions.ts"
import { start } from "./benches/start.ts"
import { submissions } from "./benches/submissions.ts"
import { throughput } from "./benches/throughput.ts"
import { turn } from "./benches/turns.ts"
import { voice } from "./benches/voice.ts"
import { machine, type Options, type Row, table } from "./report.ts"

const benches = [start, requests, sessions, submissions, turn, throughput, fanout, replay, parked, voice]
const names = benches.map(({ name }) => name).join(" ")

const usage = `pnpm bench [names…] [--json FILE] [--quick] [--data FOLDER] [--profile FOLDER] [--calls N] [--spread MILLIS]

  names      ${names}; all of them when none is named
  --json     writes every number, round by round, to a file
  --quick    few and short rounds: shows that it runs, not how fast
  --data     where databases go; default: a folder under ${tmpdir()}. Take a real disk, not a memory file system
  --profile  writes CPU profiles of our server here
  --calls    voice: so many calls at once; 200
  --spread   voice: replies of "all at once" begin within so many milliseconds; 1000
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "string" },
    quick: { type: "boolean", default: false },
    data: { type: "string", default: tmpdir() },
    profile: { type: "string" },
    calls: { type: "string" },
    spread: { type: "string" },
    help: { type: "boolean", default: false }
  }
})
const chosen = positionals.length === 0 ? benches : benches.filter(({ name }) => positionals.includes(name))
const unknown = positionals.filter((name) => !benches.some((bench) => bench.name === name))
if (values.help || unknown.length > 0) {
  process.stderr.write(unknown.length > 0 ? `no such benchmark: ${unknown.join(", ")}\n\n${usage}` : usage)
  process.exit(values.help ? 0 : 2)
}

/** A whole number from 1 on; undefined when it was not given. */
const wholeOf = (name: "calls" | "spread"): number | undefined => {
  const given = values[name]
  if (given === undefined) return undefined
  const number = Number(given)
  if (Number.isSafeInteger(number) && number > 0) return number
  process.stderr.write(`--${name} takes a whole number from 1 on\n`)
  return process.exit(2)
}

const folders: Array<string> = []
const options: Options = {
  quick: values.quick,
  profile: values.profile,
  calls: wholeOf("calls"),
  spreadMillis: wholeOf("spread"),
  folder: () => {
    const folder = mkdtempSync(join(values.data, "harness-bench-"))
    folders.push(folder)
    return folder
  }
}

const on = machine()
const rows: Array<Row> = []
try {
  for (const bench of chosen) {
    process.stderr.write(`${bench.name} …\n`)
    rows.push(...(await bench.run(options)))
  }
} finally {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}
const { node, platform, cpus, load } = on
process.stdout.write(
  `node ${node}, ${platform}, ${cpus} CPUs, load ${load.toFixed(1)} at the start\n\n${table(rows)}\n`
)
if (values.json !== undefined)
  writeFileSync(values.json, `${JSON.stringify({ ...on, quick: values.quick, rows }, null, 2)}\n`)
process.exit(0)
