import { parseArgs } from "node:util"
import { runConformance } from "./index.ts"

const usage = `usage: conformance [URL] [--token TOKEN] [--server NAME] [--only TEXT] [--json]

URL and TOKEN may come from HARNESS_URL and HARNESS_TOKEN.`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    token: { type: "string" },
    server: { type: "string" },
    only: { type: "string" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false }
  }
})
const baseUrl = positionals[0] ?? process.env["HARNESS_URL"]
const token = values.token ?? process.env["HARNESS_TOKEN"]

if (values.help) {
  console.log(usage)
} else if (baseUrl === undefined || token === undefined) {
  console.error(usage)
  process.exitCode = 2
} else {
  const report = await runConformance({
    baseUrl,
    token,
    ...(values.server === undefined ? {} : { server: values.server }),
    ...(values.only === undefined ? {} : { only: values.only }),
    onResult: (result) => {
      if (values.json) return
      console.log(`${result.ok ? "ok  " : "FAIL"} ${result.section}: ${result.name}`)
      if (result.reason !== undefined) console.log(`     ${result.reason}`)
    }
  })
  if (values.json) console.log(JSON.stringify(report, null, 2))
  else console.log(`${report.passed} kept, ${report.failed} broken`)
  if (report.failed > 0) process.exitCode = 1
}
