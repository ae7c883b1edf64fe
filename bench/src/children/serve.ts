import { loadSettings, startServer } from "@harness/server"
import { Effect } from "effect"

/** Our server and nothing else, for as long as there is no command line that starts it. */
const program = Effect.gen(function* () {
  const settings = yield* loadSettings({ env: process.env, cwd: process.cwd(), home: process.cwd() })
  yield* startServer(settings, { format: "json", write: (line) => process.stderr.write(`${line}\n`) })
  yield* Effect.never
}).pipe(Effect.scoped)

Effect.runFork(program)
process.on("SIGTERM", () => process.exit(0))
