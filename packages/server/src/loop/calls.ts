import { createHash } from "node:crypto"
import { join } from "node:path"
import {
  CallId,
  type CallResult,
  type JsonObject,
  type Part,
  type PermissionRule,
  type PolicyLayer,
  type ToolTurnPart
} from "@harness/protocol"
import { Clock, Effect, Either, Option } from "effect"
import { Hub } from "../log/Hub.ts"
import { generalLayer, modeAllows, policyAllows } from "../permissions/policy.ts"
import { GENERAL_RULES, judge } from "../permissions/rules.ts"
import { configurationOf, SessionsRepo } from "../sessions/SessionsRepo.ts"
import { Home } from "../storage/Home.ts"
import { mint } from "../storage/mint.ts"
import { errorResult, notFound } from "../tools/results.ts"
import type { Tool, ToolContext } from "../tools/Tool.ts"
import { Tools } from "../tools/Tools.ts"
import { GONE, type Held, type PlannedCall, Progress } from "../turns/Progress.ts"
import { optionsOf, type PartRow } from "../turns/TurnsRepo.ts"
import type { RawCall } from "./generate.ts"

/** Calls of one step that run side by side. */
const SIDE_BY_SIDE = 4

/** What may not be run, and what the model is told instead. */
const cutOff = errorResult(
  "tool.arguments_cut",
  "The answer was cut off at the token limit while these arguments were being written. The tool was not run. Ask for less at once."
)

/** Arguments longer than this fit no event beside the rest of their turn, in UTF-16 code units. */
const ARGUMENTS_MAX = 262_144
const tooLong = errorResult(
  "tool.arguments_too_long",
  "These arguments are too long. The tool was not run. Do it in smaller pieces."
)

const keyOf = (...parts: ReadonlyArray<string>): string =>
  createHash("sha256").update(parts.join("\n")).digest("base64url").slice(0, 32)

/** One call of an answer: how it is shown, how the history keeps it, and, when it can't be run, why. */
export interface Planned extends PlannedCall {
  readonly args: Either.Either<JsonObject, CallResult>
}

/**
 * Names the calls of an answer, each a function of its part's number. A call that the token limit cut is planned too, and
 * never run.
 */
export const plan = (held: Held, raw: ReadonlyArray<RawCall>, step: number, cut: boolean) =>
  Effect.gen(function* () {
    const tools = yield* Tools
    const now = yield* Clock.currentTimeMillis
    return raw.map(({ name, argumentsText }, index): ((n: number) => Planned) => {
      const { sessionId, turnId } = held.turn
      const callId = CallId.make(`call_${mint(now)}`)
      const args =
        cut && index === raw.length - 1
          ? Either.left(cutOff)
          : argumentsText.length > ARGUMENTS_MAX
            ? Either.left(tooLong)
            : tools.parseArguments(argumentsText)
      const call: Omit<ToolTurnPart, "partId"> = {
        type: "tool",
        callId,
        name,
        arguments: Either.getOrElse(args, () => argumentsText.slice(0, 4_096)),
        state: "requested",
        idempotencyKey: keyOf(sessionId, turnId, callId)
      }
      const content: Part = { type: "call", callId, name, arguments: Either.getOrElse(args, () => ({})) }
      return (n) => {
        const part: ToolTurnPart = { ...call, partId: `p${n}` }
        return { row: { n, step, open: true, part }, call: part, external: false, args, content }
      }
    })
  })

/** A call that a crash found requested and not started: to be judged now. */
export const replan = (row: PartRow, call: ToolTurnPart): Planned => {
  const isObject = typeof call.arguments === "object" && call.arguments !== null && !Array.isArray(call.arguments)
  const args = isObject ? Either.right(call.arguments as JsonObject) : Either.left(cutOff)
  return {
    row,
    call,
    external: false,
    args,
    content: { type: "call", callId: call.callId, name: call.name, arguments: call.arguments }
  }
}

interface Rulebook {
  readonly layers: ReadonlyArray<PolicyLayer | undefined>
  readonly rules: ReadonlyArray<PermissionRule>
}

/** What a call is judged by: the turn's configuration, and the session's as it is now, where that is narrower. */
const rulebooks = (held: Held) =>
  Effect.gen(function* () {
    const sessions = yield* SessionsRepo
    const now = yield* sessions.find(held.turn.sessionId)
    const own = configurationOf(held.session)
    const current = now === undefined || now.deletedAt !== null ? own : configurationOf(now)
    const layers = [generalLayer(), own.tools, current.tools, optionsOf(held.turn).tools]
    const books: ReadonlyArray<Rulebook> = [own, current].map(({ permissions }) => ({
      layers,
      rules: [...GENERAL_RULES, ...permissions]
    }))
    return books
  })

/** The tools a turn may be offered. */
export const offered = (held: Held) =>
  Effect.gen(function* () {
    const tools = yield* Tools
    const [book] = yield* rulebooks(held)
    return tools.list.filter((tool) => policyAllows(book?.layers ?? [], tool.name) && modeAllows(held.turn.mode, tool))
  })

type Verdict =
  | { readonly _tag: "Run"; readonly tool: Tool; readonly args: JsonObject; readonly context: ToolContext }
  | { readonly _tag: "Answer"; readonly state: "failed" | "rejected"; readonly result: CallResult }

const refuse = (state: "failed" | "rejected", result: CallResult): Verdict => ({ _tag: "Answer", state, result })

const contextOf = (held: Held, planned: Planned) =>
  Effect.gen(function* () {
    const home = yield* Home
    const hub = yield* Hub
    const { sessionId, turnId, attempt } = held.turn
    const { callId, idempotencyKey } = planned.call
    const context: ToolContext = {
      root: home.root,
      workdir: join(home.root, held.session.workdir),
      outputDir: join(home.folder, "tool-output", sessionId),
      server: home.server,
      sessionId,
      turnId,
      callId,
      idempotencyKey,
      activity: (update) => Effect.sync(() => hub.activity({ sessionId, turnId, attempt, callId, ...update }))
    }
    return context
  })

const judgeCall = (held: Held, planned: Planned) =>
  Effect.gen(function* () {
    const tools = yield* Tools
    if (Either.isLeft(planned.args)) return refuse("failed", planned.args.left)
    const args = planned.args.right
    const found = tools.find(planned.call.name)
    if (Option.isNone(found)) return refuse("failed", notFound(planned.call.name))
    const tool = found.value
    const books = yield* rulebooks(held)
    const allowed = books.every((book) => policyAllows(book.layers, tool.name))
    if (!allowed || !modeAllows(held.turn.mode, tool)) {
      return refuse("rejected", errorResult("policy.denied", `The tool policy does not allow "${tool.name}" here.`))
    }
    const problem = tools.check(tool, args)
    if (Option.isSome(problem)) return refuse("failed", problem.value)
    const context = yield* contextOf(held, planned)
    const resource = yield* Effect.either(tool.resource(args, context))
    if (Either.isLeft(resource)) return refuse("failed", resource.left.result)
    const verdicts = books.map((book) => judge(book.rules, resource.right))
    if (verdicts.every((verdict) => verdict === "allow")) {
      const run: Verdict = { _tag: "Run", tool, args, context: { ...context, judged: resource.right } }
      return run
    }
    const why = verdicts.includes("deny")
      ? "A permission rule denies this."
      : "This needs a person's permission, and nobody can be asked here. A permission rule of the session can allow it."
    return refuse("rejected", errorResult("permission.rejected", why))
  })

const runOne = (held: Held, planned: Planned) =>
  Effect.gen(function* () {
    const tools = yield* Tools
    const progress = yield* Progress
    const verdict = yield* judgeCall(held, planned)
    if (verdict._tag === "Answer") {
      yield* progress.callSettled(held.turn, planned.row, planned.call, verdict.state, verdict.result)
      return
    }
    const started = yield* progress.callStarted(held.turn, planned.row, planned.call)
    if (started === GONE) return
    const result = yield* tools.run(verdict.tool, verdict.args, verdict.context)
    const state = result.isError ? "failed" : "completed"
    yield* progress.callSettled(held.turn, started.row, started.call, state, result)
  }).pipe(Effect.withSpan("loop.call", { attributes: { tool: planned.call.name } }))

/** Judges and runs the calls of one step, in the model's order, some side by side; each result is its own call's. */
export const runCalls = (held: Held, calls: ReadonlyArray<Planned>) =>
  Effect.forEach(calls, (call) => runOne(held, call), { concurrency: SIDE_BY_SIDE, discard: true })
