import { assert, describe, it } from "@effect/vitest"
import { CallId, type CallResult, SessionId } from "@harness/protocol"
import { Effect, Layer } from "effect"
import type { ToolContext } from "../../src/tools/Tool.ts"
import { Tools } from "../../src/tools/Tools.ts"
import { Jobs } from "../../src/workspace/Jobs.ts"
import { isRunning, untilGone } from "../workspace/processes.ts"
import { codeOf, named, textOf, use, within } from "./calls.ts"
import { freshContext } from "./context.ts"

const call = (n: number) => CallId.make(`call_01ARZ3NDEKTSV4RRFFQ69G5FA${n}`)
const background = (context: ToolContext, n: number, command: string, more = {}) =>
  use("shell", { command, background: true, ...more }, { ...context, callId: call(n) })

/** Asks until the answer is as wanted. */
const until = (
  ask: Effect.Effect<CallResult, unknown, Tools>,
  wanted: (result: CallResult) => boolean
): Effect.Effect<CallResult, unknown, Tools> =>
  Effect.repeat(Effect.zipLeft(ask, Effect.sleep("5 millis")), { until: wanted })

describe("shell in the background", () => {
  within("answers at once, and outlives its call", (context) =>
    Effect.gen(function* () {
      const started = yield* background(context, 1, "echo $$ $HARNESS_IDEMPOTENCY_KEY; sleep 300")
      const jobId = "job_01ARZ3NDEKTSV4RRFFQ69G5FA1"
      assert.deepStrictEqual(started.details, { jobId })
      assert.isFalse(started.isError)
      const listed = yield* until(use("shell_jobs", {}, context), (result) => textOf(result).includes("key-1"))
      assert.match(
        textOf(listed),
        new RegExp(`^${jobId}: running\\n  echo \\$\\$ .*; sleep 300\\n  \\[its output\\]\\n\\d+ key-1$`)
      )
      const pid = Number(/(\d+) key-1$/.exec(textOf(listed))?.[1])
      assert.isTrue(isRunning(pid))
      const ended = yield* use("shell_end", { jobId }, context)
      assert.isFalse(isRunning(pid))
      assert.deepInclude(ended.details, { jobId, state: "stopped", signal: "SIGTERM" })
      const again = yield* use("shell_end", { jobId }, context)
      assert.deepStrictEqual(again.details, ended.details)
    })
  )
  within("lists jobs in order with state, exit code and the end of their output", (context) =>
    Effect.gen(function* () {
      assert.strictEqual(textOf(yield* use("shell_jobs", {}, context)), "[no background jobs]")
      yield* background(context, 1, "seq 1 40000; exit 4")
      yield* background(context, 2, "true")
      const done = (result: CallResult) => !textOf(result).includes("running")
      const listed = yield* until(use("shell_jobs", {}, context), done)
      const text = textOf(listed)
      assert.match(text, /^job_\w+1: exited, exit code 4\n {2}seq 1 40000; exit 4\n/)
      assert.include(text, "the whole is in tool-output/call_01ARZ3NDEKTSV4RRFFQ69G5FA1.txt")
      assert.include(text, "\n40000\n\njob_01ARZ3NDEKTSV4RRFFQ69G5FA2: exited, exit code 0\n  true\n  [no output]")
      assert.isAtMost(text.length, 2_000)
      const one = yield* use("shell_jobs", { jobId: "job_01ARZ3NDEKTSV4RRFFQ69G5FA1" }, context)
      assert.isAbove(textOf(one).length, 10_000)
      assert.deepInclude(one.details, { state: "exited", exitCode: 4 })
      const whole = yield* use("read", { path: "tool-output/call_01ARZ3NDEKTSV4RRFFQ69G5FA1.txt", limit: 2 }, context)
      assert.include(textOf(whole), "1\n2\n")
    })
  )
  within("has a time limit only when one is given", (context) =>
    Effect.gen(function* () {
      yield* background(context, 1, "echo $$; sleep 300", { timeoutMillis: 150 })
      const late = yield* until(use("shell_jobs", {}, context), (result) => textOf(result).includes("ended"))
      assert.include(textOf(late), "ended by its time limit")
      const pid = Number(/^\d+$/m.exec(textOf(late))?.[0])
      yield* untilGone(pid)
    })
  )
  within("knows the jobs of its own session alone", (context) =>
    Effect.gen(function* () {
      yield* background(context, 1, "sleep 300")
      const other = { ...context, sessionId: SessionId.make("s2") }
      const jobId = "job_01ARZ3NDEKTSV4RRFFQ69G5FA1"
      assert.strictEqual(codeOf(yield* use("shell_end", { jobId }, other)), "job.not_found")
      assert.strictEqual(codeOf(yield* use("shell_jobs", { jobId }, other)), "job.not_found")
      assert.strictEqual(textOf(yield* use("shell_jobs", {}, other)), "[no background jobs]")
    })
  )
  within("runs one job a call, sixteen a session", (context) =>
    Effect.gen(function* () {
      yield* background(context, 1, "sleep 300")
      assert.strictEqual(codeOf(yield* background(context, 1, "sleep 300")), "jobs.started_before")
      const many = yield* Effect.forEach(Array.from({ length: 16 }), (_, index) =>
        use(
          "shell",
          { command: "sleep 300", background: true },
          {
            ...context,
            callId: CallId.make(`call_01ARZ3NDEKTSV4RRFFQ69G5F${String(index).padStart(2, "0")}`)
          }
        )
      )
      assert.deepStrictEqual(many.map(codeOf), [...Array.from({ length: 15 }), "jobs.too_many"])
    })
  )
  within("is judged as any command, and looking after it needs no permission", (context) =>
    Effect.gen(function* () {
      const { tool } = yield* named("shell")
      const claim = yield* tool.resource({ command: "make && serve", background: true }, context)
      assert.deepInclude(claim, { permission: "shell", patterns: ["make", "serve"] })
      const [list, end] = [yield* named("shell_jobs"), yield* named("shell_end")]
      assert.deepInclude(list.tool, { readOnly: true, needsPermission: false })
      assert.deepInclude(end.tool, { readOnly: false, needsPermission: false })
      assert.strictEqual(codeOf(yield* use("shell_end", {}, context)), "tool.arguments_invalid")
    })
  )
})

it.scopedLive("the jobs of tools are those of the service built beside them", () =>
  Effect.gen(function* () {
    const context = yield* freshContext
    yield* background(context, 1, "echo $$; sleep 300")
    const jobs = yield* Jobs
    const owner = { server: context.server, sessionId: context.sessionId }
    assert.lengthOf(yield* jobs.list(owner), 1)
    yield* jobs.endSession(owner)
    assert.strictEqual(textOf(yield* use("shell_jobs", {}, context)), "[no background jobs]")
  }).pipe(Effect.provide(Layer.mergeAll(Tools.layer, Jobs.layer)))
)

describe("todo", () => {
  within("gives back the list as it is kept", (context) =>
    Effect.gen(function* () {
      const items = [
        { text: "  read\n the code ", state: "done" },
        { text: "write", state: "in_progress" },
        { text: "test", state: "pending" },
        { text: "  ", state: "pending" }
      ]
      const result = yield* use("todo", { items }, context)
      assert.deepStrictEqual(result.details, {
        items: [
          { text: "read the code", state: "done" },
          { text: "write", state: "in_progress" },
          { text: "test", state: "pending" }
        ]
      })
      assert.strictEqual(textOf(result), "1 of 3 done\n[x] read the code\n[~] write\n[ ] test")
      assert.strictEqual(textOf(yield* use("todo", { items: [] }, context)), "[the list is empty]")
      assert.deepInclude((yield* named("todo")).tool, { readOnly: true, needsPermission: false })
    })
  )
  within("is bounded, and always kept whole", (context) =>
    Effect.gen(function* () {
      const full = Array.from({ length: 50 }, () => ({ text: "🌍".repeat(250), state: "pending" }))
      const result = yield* use("todo", { items: full }, context)
      assert.deepStrictEqual(result.details, { items: full })
      const wrong = [
        { items: [...full, full[0]] },
        { items: [{ text: "x", state: "maybe" }] },
        { items: [{ text: "", state: "done" }] },
        {}
      ]
      for (const args of wrong) {
        assert.strictEqual(
          codeOf(yield* use("todo", JSON.parse(JSON.stringify(args)), context)),
          "tool.arguments_invalid"
        )
      }
    })
  )
})
