// A server as a process of its own, for tests that kill it. Settings come from the environment, as for a user's.
import { appendFileSync } from "node:fs"
import { Context, Effect, Fiber } from "effect"
import { CallsMax } from "../../dist/jambonz/Calls.js"
import { Patience } from "../../dist/jambonz/Patience.js"
import { CrashPoints } from "../../dist/log/CrashPoints.js"
import { loadSettings, startServer } from "../../dist/main.js"

// `HARNESS_POINTS` is a file that keeps who passed which point, in order.
// `point:session:n` ends the process at the n-th time that session passes the point; `*` is any session.
const [point, session, nth = "1"] = (process.env.HARNESS_CRASH_AT ?? "").split(":")
let left = Number(nth)
const pass = (name, sessionId) => {
  if (process.env.HARNESS_POINTS !== undefined) appendFileSync(process.env.HARNESS_POINTS, `${sessionId} ${name}\n`)
  if (name !== point || (session !== "*" && sessionId !== session)) return
  left -= 1
  if (left === 0) process.kill(process.pid, "SIGKILL")
}

// JSON: some waits of calls, shorter than everybody's.
const patience = { ...Context.get(Context.empty(), Patience), ...JSON.parse(process.env.HARNESS_PATIENCE ?? "{}") }

const callsMax = Number(process.env.HARNESS_CALLS_MAX ?? 1_000)

const program = Effect.gen(function* () {
  const cwd = process.cwd()
  const reread = loadSettings({ env: process.env, cwd, home: cwd })
  const output = { format: "json", write: (line) => process.stderr.write(`${line}\n`) }
  const server = yield* startServer(yield* reread, output, { cwd, reread })
  process.stdout.write(`${JSON.stringify(server)}\n`)
  yield* Effect.never
}).pipe(
  Effect.scoped,
  Effect.provideService(CrashPoints, { pass }),
  Effect.provideService(Patience, patience),
  Effect.provideService(CallsMax, callsMax)
)

const fiber = Effect.runFork(program)
fiber.addObserver((exit) => {
  if (exit._tag === "Failure" && exit.cause._tag === "Fail") process.stderr.write(`${exit.cause.error.message}\n`)
  process.exit(exit._tag === "Failure" && exit.cause._tag === "Fail" ? 1 : 0)
})
process.on("SIGTERM", () => Effect.runFork(Fiber.interrupt(fiber)))
