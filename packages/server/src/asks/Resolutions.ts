import {
  type Actor,
  type CallResult,
  ConflictError,
  type PromptPart,
  type ResolveCallRequestValue,
  type ResolveCallResponseValue,
  type SessionId,
  type TurnId
} from "@harness/protocol"
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import { Hooks } from "../hooks/Hooks.ts"
import { CommitRoom, type Tx } from "../log/Commit.ts"
import { living } from "../sessions/Sessions.ts"
import { Home } from "../storage/Home.ts"
import { limitResult, outputFolder } from "../tools/output.ts"
import { errorResult } from "../tools/results.ts"
import { Bell } from "../turns/Bell.ts"
import { type Pending, PendingRepo } from "../turns/PendingRepo.ts"
import { deliverCall, NOTHING, releaseCall } from "../turns/pending.ts"
import { markCancelled } from "../turns/settle.ts"
import { type TaskRow, TasksRepo } from "../turns/TasksRepo.ts"
import { TurnsRepo } from "../turns/TurnsRepo.ts"
import { Permissions } from "./Permissions.ts"
import { Questions } from "./Questions.ts"

/** How often calls whose time is over are looked for. */
const SWEEP = "30 seconds"
const SWEEP_ROWS = 500

const holderGone = (hookId: string) =>
  new ConflictError({ code: "hook.holder_gone", message: `the hook ${hookId} that holds this call is gone` })

const timedOut = errorResult("tool.pending_timeout", "No result came in time.")

const make = Effect.gen(function* () {
  const room = yield* CommitRoom
  const bell = yield* Bell
  const home = yield* Home
  const repo = yield* PendingRepo
  const hooks = yield* Hooks
  const permissions = yield* Permissions
  const questions = yield* Questions

  /** A result from outside, as small as any tool's: what is more is kept whole beside the session's other output. */
  const delivered = (
    sessionId: SessionId,
    turnId: TurnId,
    callId: string,
    request: Extract<ResolveCallRequestValue, { readonly content: unknown }>
  ) =>
    Effect.gen(function* () {
      const content: ReadonlyArray<PromptPart> =
        typeof request.content === "string" ? [{ type: "text", text: request.content }] : request.content
      const isError = request.isError ?? false
      const details = isError ? { code: "tool.failed", ...request.details } : request.details
      const result: CallResult = { content, isError, ...(details === undefined ? {} : { details }) }
      const waits = (yield* repo.ofTurn(sessionId, turnId)).find((pending) => pending.callId === callId)
      if (waits === undefined) return result
      return yield* limitResult(result, {
        outputDir: outputFolder(home.folder, sessionId),
        callId: waits.callId
      })
    })

  /** Gives a waiting call its result from outside, or lets a held one run. The first settlement wins. */
  const resolve = Effect.fn("Resolutions.resolve")(function* (
    sessionId: SessionId,
    turnId: TurnId,
    callId: string,
    request: ResolveCallRequestValue,
    actor: Actor
  ) {
    const result = request.action === "execute" ? undefined : yield* delivered(sessionId, turnId, callId, request)
    return yield* room.commit((tx) =>
      Effect.gen(function* () {
        yield* living(tx, sessionId)
        const pending = yield* PendingRepo.find(tx, sessionId, callId)
        const none: ResolveCallResponseValue = NOTHING
        if (pending === undefined || pending.turnId !== turnId || pending.state === "released") return none
        if (result === undefined) {
          if (pending.kind !== "hold") return none
          if (!(yield* hooks.isThere(pending.ref))) return yield* holderGone(pending.ref)
          return yield* releaseCall(tx, bell, pending, { passed: pending.passed, actor })
        }
        if (pending.kind !== "external" && pending.kind !== "hold") return none
        return yield* deliverCall(tx, bell, pending, {
          state: result.isError ? "failed" : "completed",
          result,
          actor
        })
      })
    )
  })

  /** Nobody waits for this sub-agent any more. */
  const endChild = (tx: Tx, task: TaskRow) =>
    Effect.gen(function* () {
      yield* TasksRepo.setState(tx, task, "delivered")
      const child = yield* TurnsRepo.find(tx, task.childSession, task.childTurn)
      if (child === undefined || child.settledAt !== null) return
      yield* markCancelled(tx, bell, child, { stopReason: "cancelled", reason: "its time was over" })
    })

  const expire = (overdue: Pending) =>
    room.commit<void, never>((tx) =>
      Effect.gen(function* () {
        const pending = yield* PendingRepo.find(tx, overdue.sessionId, overdue.callId)
        if (pending?.state !== "open" || pending.deadline === null || pending.deadline > tx.now) return
        if (pending.kind === "permission") return yield* permissions.expire(tx, pending.sessionId, pending.ref)
        if (pending.kind === "question") return yield* questions.expire(tx, pending.sessionId, pending.ref)
        const task =
          pending.kind === "child" ? yield* TasksRepo.ofCall(tx, pending.sessionId, pending.callId) : undefined
        if (task !== undefined) yield* endChild(tx, task)
        yield* deliverCall(tx, bell, pending, { state: "failed", result: timedOut })
      })
    )

  /** Ends what waited too long. Answers how many. */
  const sweep = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const overdue = yield* repo.overdue(now, SWEEP_ROWS)
    yield* Effect.forEach(overdue, expire, { concurrency: "unbounded", discard: true })
    return overdue.length
  })

  yield* sweep.pipe(
    Effect.catchAllCause((cause) => Effect.logWarning("the sweep failed", cause)),
    Effect.repeat(Schedule.spaced(SWEEP)),
    Effect.forkScoped
  )

  return { resolve, sweep }
})

/** Calls settled from outside, by somebody or by the clock. */
export class Resolutions extends Context.Tag("@harness/server/Resolutions")<
  Resolutions,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.scoped(Resolutions, make)
}
