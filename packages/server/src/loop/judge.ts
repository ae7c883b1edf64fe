import { join } from "node:path"
import { type CallResult, type JsonObject, type PermissionRequest, PermissionRequestId } from "@harness/protocol"
import { Clock, Effect, Either, Option } from "effect"
import { Hooks } from "../hooks/Hooks.ts"
import { Hub } from "../log/Hub.ts"
import { PermissionsRepo } from "../permissions/PermissionsRepo.ts"
import { judge } from "../permissions/rules.ts"
import { toTimestamp } from "../storage/columns.ts"
import { Home } from "../storage/Home.ts"
import { mint } from "../storage/mint.ts"
import { outputFolder } from "../tools/output.ts"
import { errorResult, notFound } from "../tools/results.ts"
import type { Tool, ToolContext, ToolResource } from "../tools/Tool.ts"
import { Tools } from "../tools/Tools.ts"
import type { Passed } from "../turns/PendingRepo.ts"
import type { Held } from "../turns/Progress.ts"
import type { Waiting } from "../turns/pending.ts"
import { outcomeOf } from "../turns/TurnsRepo.ts"
import { SUBMIT_RESULT } from "./deliverable.ts"
import type { Planned } from "./plan.ts"
import { mayCall, type Rulebook, rulebooks } from "./rulebooks.ts"
import type { Callable, Toolbox } from "./Toolbox.ts"

/** What becomes of a call. */
export type Verdict =
  | { readonly _tag: "Run"; readonly tool: Tool; readonly args: JsonObject; readonly context: ToolContext }
  | { readonly _tag: "Answer"; readonly state: "failed" | "rejected"; readonly result: CallResult }
  | {
      readonly _tag: "Stop"
      readonly waiting: Waiting
      readonly args: JsonObject
      readonly passed: Passed
      readonly timeoutMillis: number | undefined
    }
  /** Ours to answer, not a tool's: `question`, `task`. */
  | { readonly _tag: "Own"; readonly name: string; readonly args: JsonObject }

/** An external call nobody settles ends after this. */
const EXTERNAL_TIMEOUT_MILLIS = 1_800_000
/** Grants one session is looked through for. */
const GRANTS_MAX = 500

const answer = (state: "failed" | "rejected", result: CallResult): Verdict => ({ _tag: "Answer", state, result })

export const contextOf = (held: Held, planned: Planned) =>
  Effect.gen(function* () {
    const home = yield* Home
    const hub = yield* Hub
    const { sessionId, turnId, attempt } = held.turn
    const { callId, idempotencyKey } = planned.call
    const context: ToolContext = {
      root: home.root,
      workdir: join(home.root, held.session.workdir),
      outputDir: outputFolder(home.folder, sessionId),
      server: home.server,
      sessionId,
      turnId,
      callId,
      idempotencyKey,
      activity: (update) => Effect.sync(() => hub.activity({ sessionId, turnId, attempt, callId, ...update }))
    }
    return context
  })

export const subjectOf = (held: Held) => ({
  sessionId: held.turn.sessionId,
  turnId: held.turn.turnId,
  attempt: held.turn.attempt,
  step: outcomeOf(held.turn).steps.length + 1
})

export const hookCallOf = (planned: Planned, args: JsonObject) => ({
  callId: planned.call.callId,
  name: planned.call.name,
  arguments: args,
  idempotencyKey: planned.call.idempotencyKey
})

/** The hooks before a tool: they may rewrite its arguments, deny it, or hold it. */
const askHooks = (held: Held, planned: Planned, args: JsonObject) =>
  Effect.gen(function* () {
    const { passed } = planned
    if (passed.permission === true) return { _tag: "Go", arguments: args } as const
    const hooks = yield* Hooks
    return yield* hooks.preTool(subjectOf(held), hookCallOf(planned, args), passed.hook)
  })

/** Whether a grant of this session covers exactly what would be touched. */
const granted = (sessionId: string, resource: ToolResource) =>
  Effect.gen(function* () {
    if (resource.unparsed === true || resource.patterns.length === 0) return false
    const repo = yield* PermissionsRepo
    const saved = yield* repo.grants(sessionId, "", GRANTS_MAX)
    const patterns = new Set(
      saved.filter(({ permission }) => permission === resource.permission).flatMap((grant) => grant.patterns)
    )
    return resource.patterns.every((pattern) => patterns.has(pattern))
  })

const requestOf = (held: Held, planned: Planned, resource: ToolResource, now: number): PermissionRequest => ({
  requestId: PermissionRequestId.make(`req_${mint(now)}`),
  sessionId: held.turn.sessionId,
  turnId: held.turn.turnId,
  callId: planned.call.callId,
  permission: resource.permission,
  patterns: resource.patterns,
  title: resource.title,
  detail: resource.detail,
  always: resource.unparsed === true ? [] : resource.patterns,
  askedAt: toTimestamp(now)
})

/** A yes is for what was shown: a link that was swapped while the request waited makes it another question. */
const stillAsAsked = ({ asked, permission }: Passed, { outside, patterns }: ToolResource): boolean =>
  permission === true &&
  asked !== undefined &&
  asked.outside === outside &&
  asked.patterns.length === patterns.length &&
  asked.patterns.every((pattern, index) => pattern === patterns[index])

const passedWith = (planned: Planned, { outside, patterns }: ToolResource): Passed => ({
  ...planned.passed,
  permission: false,
  asked: { outside, patterns }
})

/** Whether a file may be read unasked, for a tool that looks into many. */
const readableBy =
  (books: ReadonlyArray<Rulebook>) =>
  (pattern: string): boolean => {
    const resource = { permission: "read", patterns: [pattern], title: "", detail: "", outside: false }
    return books.every((book) => judge(book.rules, resource) === "allow")
  }

/** May it touch what it would touch? Everybody must allow; one deny denies; a grant stands for a person's yes. */
const askPermission = (held: Held, planned: Planned, books: ReadonlyArray<Rulebook>, resource: ToolResource) =>
  Effect.gen(function* () {
    const verdicts = books.map((book) => judge(book.rules, resource))
    if (verdicts.includes("deny")) return "deny" as const
    if (stillAsAsked(planned.passed, resource) || verdicts.every((verdict) => verdict === "allow"))
      return "allow" as const
    if (yield* granted(held.turn.sessionId, resource)) return "allow" as const
    return requestOf(held, planned, resource, yield* Clock.currentTimeMillis)
  })

const denied = answer("rejected", errorResult("permission.rejected", "A permission rule denies this."))

const judgeTool = (held: Held, planned: Planned, books: ReadonlyArray<Rulebook>, tool: Tool, args: JsonObject) =>
  Effect.gen(function* () {
    const tools = yield* Tools
    const problem = tools.check(tool, args)
    if (Option.isSome(problem)) return answer("failed", problem.value)
    const context = yield* contextOf(held, planned)
    const resource = yield* Effect.either(tool.resource(args, context))
    if (Either.isLeft(resource)) return answer("failed", resource.left.result)
    const { foreseen, ...judged } = resource.right
    const verdict = tool.needsPermission === false ? "allow" : yield* askPermission(held, planned, books, judged)
    if (verdict === "deny") return denied
    if (verdict === "allow") {
      const run: Verdict = { _tag: "Run", tool, args, context: { ...context, judged, readable: readableBy(books) } }
      return run
    }
    // What would fail anyway is nobody's to allow.
    if (foreseen !== undefined) return answer("failed", foreseen)
    const stop: Verdict = {
      _tag: "Stop",
      waiting: { kind: "permission", request: verdict },
      args,
      passed: passedWith(planned, judged),
      timeoutMillis: undefined
    }
    return stop
  })

const judgeExternal = (
  held: Held,
  planned: Planned,
  books: ReadonlyArray<Rulebook>,
  callable: Callable,
  args: JsonObject
) =>
  Effect.gen(function* () {
    if (callable._tag !== "External") return answer("failed", notFound(planned.call.name))
    const tools = yield* Tools
    const problem = tools.check(callable.tool, args)
    if (Option.isSome(problem)) return answer("failed", problem.value)
    const resource: ToolResource = {
      permission: "external",
      patterns: [callable.name],
      title: callable.name,
      detail: JSON.stringify(args),
      outside: false
    }
    const verdict = yield* askPermission(held, planned, books, resource)
    if (verdict === "deny") return denied
    const waiting: Waiting = verdict === "allow" ? { kind: "external" } : { kind: "permission", request: verdict }
    const stop: Verdict = {
      _tag: "Stop",
      waiting,
      args,
      passed: verdict === "allow" ? planned.passed : passedWith(planned, resource),
      timeoutMillis: verdict === "allow" ? (callable.tool.pendingTimeoutMillis ?? EXTERNAL_TIMEOUT_MILLIS) : undefined
    }
    return stop
  })

const readOnly = (callable: Callable): boolean => callable._tag === "Tool" && callable.tool.readOnly

/** A call's way through its gates: arguments, policy, hooks, permission. */
export const judgeCall = (held: Held, toolbox: Toolbox, planned: Planned) =>
  Effect.gen(function* () {
    if (Either.isLeft(planned.args)) return answer("failed", planned.args.left)
    const { name } = planned.call
    const callable = toolbox.find(name)
    if (callable === undefined) {
      const tools = yield* Tools
      const exists = Option.isSome(tools.find(name))
      return exists ? policyDenied(name) : answer("failed", notFound(name))
    }
    if (name === SUBMIT_RESULT && callable._tag === "Tool") {
      const own: Verdict = { _tag: "Own", name, args: planned.args.right }
      return own
    }
    const books = yield* rulebooks(held)
    if (!mayCall(books, held.turn.mode, { name, readOnly: readOnly(callable) })) return policyDenied(name)
    const hooked = yield* askHooks(held, planned, planned.args.right)
    if (hooked._tag === "Denied") {
      return answer("rejected", errorResult(hooked.code, hooked.reason))
    }
    if (hooked._tag === "Held") {
      const stop: Verdict = {
        _tag: "Stop",
        waiting: { kind: "hold", hookId: hooked.holder.hookId },
        args: hooked.arguments,
        passed: { ...planned.passed, hook: hooked.holder },
        timeoutMillis: hooked.pendingTimeoutMillis
      }
      return stop
    }
    if (callable._tag === "External") return yield* judgeExternal(held, planned, books, callable, hooked.arguments)
    if (callable.tool.answeredByLoop === true) {
      const tools = yield* Tools
      const problem = tools.check(callable.tool, hooked.arguments)
      if (Option.isSome(problem)) return answer("failed", problem.value)
      const own: Verdict = { _tag: "Own", name, args: hooked.arguments }
      return own
    }
    return yield* judgeTool(held, planned, books, callable.tool, hooked.arguments)
  })

const policyDenied = (name: string): Verdict =>
  answer("rejected", errorResult("policy.denied", `The tool policy does not allow "${name}" here.`))
