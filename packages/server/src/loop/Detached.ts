import type { CallId, CallResult, JsonObject, SessionId } from "@harness/protocol"
import { Context, type Duration, Effect, Exit, Fiber, Layer, Option } from "effect"
import { requestHash } from "../storage/columns.ts"
import { errorResult } from "../tools/results.ts"

/** Calls of one session that may go on without their turns; one more ends the oldest. */
const DETACHED_MAX = 32

/** A call whose turn ended while it ran. */
export interface DetachedCall {
  readonly sessionId: SessionId
  readonly callId: CallId
  readonly name: string
  readonly args: JsonObject
}

/** What came of one. */
export interface Late extends DetachedCall {
  readonly result: CallResult
}

interface Running {
  readonly call: DetachedCall
  readonly key: string
  readonly fiber: Fiber.RuntimeFiber<CallResult>
  /** Somebody asked for the same and waits for it: it is theirs. */
  claimed: boolean
}

const keyOf = ({ args, name, sessionId }: Omit<DetachedCall, "callId">): string =>
  requestHash({ sessionId, name, args })

const stopped = errorResult("call.cancelled", "It was ended before anything came of it.")

const make = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const running = new Set<Running>()
  const listeners = new Map<string, (late: Late) => void>()

  const ofSession = (sessionId: string) => [...running].filter(({ call }) => call.sessionId === sessionId)

  const ended = (one: Running) =>
    Effect.map(Fiber.await(one.fiber), (exit) => {
      running.delete(one)
      if (one.claimed) return
      const result = Exit.isSuccess(exit) ? exit.value : stopped
      listeners.get(one.call.sessionId)?.({ ...one.call, result })
    })

  /** Takes over a call's fiber from a turn that ends. */
  const adopt = (call: DetachedCall, fiber: Fiber.RuntimeFiber<CallResult>) =>
    Effect.gen(function* () {
      const one: Running = { call, key: keyOf(call), fiber, claimed: false }
      const [oldest] = ofSession(call.sessionId)
      if (oldest !== undefined && ofSession(call.sessionId).length >= DETACHED_MAX) {
        yield* Fiber.interruptFork(oldest.fiber)
      }
      running.add(one)
      yield* Effect.forkIn(
        Effect.onInterrupt(ended(one), () => Fiber.interrupt(fiber)),
        scope
      )
    })

  /** The same call, still running from before: whoever claims it gets what comes of it. */
  const claim = (call: Omit<DetachedCall, "callId">): Option.Option<Fiber.RuntimeFiber<CallResult>> => {
    const key = keyOf(call)
    const found = [...running].find((one) => one.key === key && !one.claimed)
    if (found === undefined) return Option.none()
    found.claimed = true
    return Option.some(found.fiber)
  }

  /** Hears of a session's late results until the answer is called. */
  const listen = (sessionId: string, listener: (late: Late) => void) => {
    listeners.set(sessionId, listener)
    return () => {
      if (listeners.get(sessionId) === listener) listeners.delete(sessionId)
    }
  }

  /** What still runs of a session has so long. */
  const endWithin = (sessionId: string, time: Duration.DurationInput) =>
    Effect.forkIn(
      Effect.delay(
        Effect.suspend(() =>
          Effect.forEach(ofSession(sessionId), ({ fiber }) => Fiber.interruptFork(fiber), { discard: true })
        ),
        time
      ),
      scope
    )

  /** Whether a call goes on in this process. */
  const runs = (callId: string) => [...running].some(({ call }) => call.callId === callId)

  return { adopt, claim, listen, endWithin, runs }
})

/** Tools that go on after their turn was cut by the one it spoke to. */
export class Detached extends Context.Tag("@harness/server/Detached")<Detached, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.scoped(Detached, make)
}
