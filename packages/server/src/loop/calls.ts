import { createHash } from "node:crypto"
import type { CallResult, JsonObject } from "@harness/protocol"
import { Clock, Effect, Fiber, Option, Scheduler } from "effect"
import { Hooks } from "../hooks/Hooks.ts"
import { errorResult } from "../tools/results.ts"
import { Tools } from "../tools/Tools.ts"
import { GONE, type Held, Progress } from "../turns/Progress.ts"
import { cancelOf, TurnsRepo } from "../turns/TurnsRepo.ts"
import { Detached } from "./Detached.ts"
import { type Deliverable, SUBMIT_RESULT, submitTool } from "./deliverable.ts"
import { hookCallOf, judgeCall, subjectOf, type Verdict } from "./judge.ts"
import { answerOwn } from "./own.ts"
import type { Planned } from "./plan.ts"
import { mayCall, rulebooks } from "./rulebooks.ts"
import { type Callable, Toolbox } from "./Toolbox.ts"
import { externalToolsOf } from "./voice.ts"

/** Calls of one step that run side by side. */
const SIDE_BY_SIDE = 4
/** The same call with the same failure this often is answered without being run. */
const REPEATED_FAILURES_MAX = 2

/** The tools a turn may be offered, and the one its result is handed in with. */
export const toolboxOf = (held: Held, deliverable: Deliverable | undefined) =>
  Effect.gen(function* () {
    const tools = yield* Tools
    const books = yield* rulebooks(held)
    const { mode } = held.turn
    const ours = tools.list
      .filter((tool) => mayCall(books, mode, tool))
      .map((tool): Callable => ({ _tag: "Tool", name: tool.name, tool }))
    const theirs = (yield* externalToolsOf(held))
      .filter(({ name }) => mayCall(books, mode, { name, readOnly: false }))
      .map((tool): Callable => ({ _tag: "External", name: tool.name, tool }))
    const submit: ReadonlyArray<Callable> =
      deliverable === undefined || deliverable.native
        ? []
        : [{ _tag: "Tool", name: SUBMIT_RESULT, tool: submitTool(deliverable) }]
    return new Toolbox([...ours, ...theirs, ...submit])
  })

const fingerprint = (name: string, value: unknown): string =>
  createHash("sha256")
    .update(`${name}\n${JSON.stringify(value)}`)
    .digest("base64url")

/** Counts failures of identical calls within one turn, while it runs here. */
export class Failures {
  private readonly counts = new Map<string, number>()

  seen({ call }: Planned): number {
    return this.counts.get(fingerprint(call.name, call.arguments)) ?? 0
  }

  note({ call }: Planned, result: CallResult): void {
    const key = fingerprint(call.name, call.arguments)
    if (result.isError) this.counts.set(key, (this.counts.get(key) ?? 0) + 1)
    else this.counts.delete(key)
  }
}

/** What the calls of a turn share. */
export interface Crew {
  readonly failures: Failures
  readonly deliverable: Deliverable | undefined
  /** Whether a call of this tool goes on when its turn is cut off by who it speaks to. */
  readonly detaches: (name: string) => boolean
}

const repeated = errorResult(
  "tool.repeated_failure",
  "This call failed twice with these very arguments, and was not run again. Try something else."
)

const settle = (
  held: Held,
  planned: Planned,
  failures: Failures,
  state: "completed" | "failed" | "rejected",
  result: CallResult
) =>
  Effect.gen(function* () {
    const progress = yield* Progress
    failures.note(planned, result)
    yield* progress.callSettled(held.turn, planned.row, planned.call, state, result)
  })

/**
 * Runs a call; on a phone call in a fiber of its own, which goes on when the turn is cut off by who it spoke to. One that
 * goes on from before is not run a second time.
 */
const running = (held: Held, planned: Planned, crew: Crew, args: JsonObject, run: Effect.Effect<CallResult>) => {
  if (!crew.detaches(planned.call.name)) return run
  const { sessionId, turnId } = held.turn
  const { callId, name } = planned.call
  const call = { sessionId, callId, name, args }
  return Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const detached = yield* Detached
      const turns = yield* TurnsRepo
      const before = detached.claim(call)
      const fiber = Option.isSome(before) ? before.value : yield* Effect.forkDaemon(Effect.interruptible(run))
      const leave = Effect.gen(function* () {
        const turn = yield* turns.find(sessionId, turnId)
        if (turn !== undefined && cancelOf(turn)?.detach === true) yield* detached.adopt(call, fiber)
        else yield* Fiber.interrupt(fiber)
      })
      return yield* Effect.onInterrupt(restore(Fiber.join(fiber)), () => leave)
    })
  )
}

const run = (held: Held, planned: Planned, crew: Crew, verdict: Extract<Verdict, { _tag: "Run" }>) =>
  Effect.gen(function* () {
    const { failures } = crew
    const tools = yield* Tools
    const hooks = yield* Hooks
    const progress = yield* Progress
    const started = yield* progress.callStarted(held.turn, planned.row, planned.call)
    if (started === GONE) return
    const raw = yield* running(
      held,
      planned,
      crew,
      verdict.args,
      Effect.withScheduler(tools.run(verdict.tool, verdict.args, verdict.context), Scheduler.defaultScheduler)
    )
    const result = yield* hooks.postTool(subjectOf(held), hookCallOf(planned, verdict.args), raw)
    const state = result.isError ? "failed" : "completed"
    yield* settle(held, { ...planned, row: started.row, call: started.call }, failures, state, result)
  })

const stop = (held: Held, planned: Planned, verdict: Extract<Verdict, { _tag: "Stop" }>) =>
  Effect.gen(function* () {
    const progress = yield* Progress
    const now = yield* Clock.currentTimeMillis
    yield* progress.stopped(held.turn, {
      row: planned.row,
      call: planned.call,
      waiting: verdict.waiting,
      arguments: verdict.args,
      passed: verdict.passed,
      deadline: verdict.timeoutMillis === undefined ? null : now + verdict.timeoutMillis
    })
  })

const runOne = (held: Held, toolbox: Toolbox, crew: Crew, planned: Planned) =>
  Effect.gen(function* () {
    const { deliverable, failures } = crew
    // A result that was handed in has a count of its own.
    if (planned.call.name !== SUBMIT_RESULT && failures.seen(planned) >= REPEATED_FAILURES_MAX)
      return yield* settle(held, planned, failures, "failed", repeated)
    const verdict = yield* judgeCall(held, toolbox, planned)
    switch (verdict._tag) {
      case "Answer":
        return yield* settle(held, planned, failures, verdict.state, verdict.result)
      case "Stop":
        return yield* stop(held, planned, verdict)
      case "Own": {
        const result = yield* answerOwn(held, planned, deliverable, verdict.name, verdict.args)
        if (result === undefined) return
        return yield* settle(held, planned, failures, result.isError ? "failed" : "completed", result)
      }
      case "Run":
        return yield* run(held, planned, crew, verdict)
    }
  }).pipe(Effect.withSpan("loop.call", { attributes: { tool: planned.call.name } }))

/** Judges and runs the calls of one step, in the model's order, some side by side; each result is its own call's. */
export const runCalls = (held: Held, toolbox: Toolbox, crew: Crew, calls: ReadonlyArray<Planned>) =>
  Effect.forEach(calls, (call) => runOne(held, toolbox, crew, call), {
    concurrency: SIDE_BY_SIDE,
    discard: true
  })
