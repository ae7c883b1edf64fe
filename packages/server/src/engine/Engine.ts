import { SessionId } from "@harness/protocol"
import { Cause, Context, Deferred, Effect, FiberMap, Layer, Metric, Option } from "effect"
import { CompactionsRepo } from "../compaction/CompactionsRepo.ts"
import { inTurn } from "../log/Slices.ts"
import { SessionsRepo } from "../sessions/SessionsRepo.ts"
import { Bell } from "../turns/Bell.ts"
import { type Held, Progress } from "../turns/Progress.ts"

/** Turns of one process that run at the same time; more wait their turn, first come, first served. */
const RUNNING_MAX = 256

/** Between two tries of a turn that could be neither run nor ended. */
const BREATH = "1 second"

const runners = Metric.gauge("harness_runners", { description: "Sessions with a fiber that runs their work" })

/** How a turn is run; the loop knows. */
export class Runner extends Context.Tag("@harness/server/Runner")<
  Runner,
  {
    readonly run: (held: Held, stopped: Effect.Effect<void>) => Effect.Effect<void>
    /**
     * Work of a session that is done between its turns. `watch` names it and answers what may stop it. False: there was none.
     */
    readonly between: (
      sessionId: SessionId,
      watch: (key: string) => Effect.Effect<Effect.Effect<void>>
    ) => Effect.Effect<boolean>
  }
>() {}

/** Places for running turns, shared by all servers of the process. */
export class Places extends Context.Tag("@harness/server/Places")<Places, Effect.Semaphore>() {
  static readonly layer = Layer.effect(Places, Effect.makeSemaphore(RUNNING_MAX))
}

/** A session with a fiber. */
interface Busy {
  /** The bell rang while it was busy. */
  again: boolean
  running: { readonly turnId: string; readonly stop: Deferred.Deferred<void> } | undefined
  /** Turns whose end was asked for before their runner was known. */
  readonly stopped: Set<string>
}

/**
 * Who runs turns: one fiber per session with work, woken by commits, at most one turn of a session at a time. A turn that
 * waits has no fiber.
 */
export class Engine extends Context.Tag("@harness/server/Engine")<Engine, { readonly running: () => number }>() {
  static readonly layer = Layer.scoped(
    Engine,
    Effect.gen(function* () {
      const bell = yield* Bell
      const progress = yield* Progress
      const runner = yield* Runner
      const places = yield* Places
      const sessions = yield* SessionsRepo
      const compactions = yield* CompactionsRepo
      yield* Metric.incrementBy(runners, 0)
      const fibers = yield* FiberMap.make<string>()
      const busy = new Map<string, Busy>()
      const fork = yield* FiberMap.runtime(fibers)<never>()

      /** What runs under a key from here on, and what stops it. */
      const watch = (here: Busy) => (key: string) =>
        Effect.gen(function* () {
          const stop = yield* Deferred.make<void>()
          here.running = { turnId: key, stop }
          if (here.stopped.has(key)) yield* Deferred.succeed(stop, undefined)
          here.stopped.clear()
          return Deferred.await(stop)
        })

      const oneTurn = (sessionId: SessionId, here: Busy) =>
        Effect.gen(function* () {
          const between = runner.between(sessionId, watch(here))
          if (
            yield* Effect.ensuring(
              between,
              Effect.sync(() => (here.running = undefined))
            )
          )
            return true
          const held = yield* progress.takeUp(sessionId)
          if (Option.isNone(held)) return false
          const stopped = yield* watch(here)(held.value.turn.turnId)
          yield* runner.run(held.value, stopped).pipe(
            // Our own interruption passes this by; somebody else's is a defect like others.
            Effect.catchAllCause((cause) => broken(held.value, cause)),
            Effect.ensuring(
              Effect.sync(() => {
                here.running = undefined
              })
            )
          )
          return true
        }).pipe(places.withPermits(1))

      /** A defect of ours must not leave a turn running for ever. */
      const broken = (held: Held, cause: Cause.Cause<never>) =>
        Effect.zipRight(
          Effect.logError("a turn broke", cause).pipe(Effect.annotateLogs({ turnId: held.turn.turnId })),
          progress.finish(held.turn, {
            state: "failed",
            stopReason: "error",
            failure: {
              kind: "permanent",
              code: "internal",
              message: "the server failed to run this turn",
              retryable: false
            }
          })
        ).pipe(
          // Most likely the disk: the turn is taken up again, and not in a hurry.
          Effect.catchAllCause((second) =>
            Effect.zipRight(Effect.logError("a broken turn could not be ended", second), Effect.sleep(BREATH))
          )
        )

      const drain = (sessionId: SessionId, here: Busy): Effect.Effect<void> =>
        Effect.gen(function* () {
          for (;;) {
            here.again = false
            const ran = yield* inTurn(oneTurn(sessionId, here))
            if (ran || here.again) continue
            // In one breath with the look at the bell: whoever rings from now on starts a fiber.
            busy.delete(sessionId)
            return
          }
        }).pipe(
          Effect.catchAllCause((cause) =>
            Cause.isInterruptedOnly(cause) ? Effect.void : Effect.logError("a session's engine broke", cause)
          ),
          Effect.ensuring(
            Effect.sync(() => {
              if (busy.get(sessionId) === here) busy.delete(sessionId)
            })
          )
        )

      const wake = (id: string) => {
        const sessionId = SessionId.make(id)
        const there = busy.get(sessionId)
        if (there !== undefined) {
          there.again = true
          return
        }
        const here: Busy = { again: false, running: undefined, stopped: new Set() }
        busy.set(sessionId, here)
        fork(
          sessionId,
          Effect.acquireUseRelease(
            Metric.increment(runners),
            () => drain(sessionId, here),
            () => Metric.incrementBy(runners, -1)
          )
        )
      }

      const stop = (sessionId: string, turnId: string) => {
        const there = busy.get(sessionId)
        if (there?.running?.turnId === turnId) Deferred.unsafeDone(there.running.stop, Effect.void)
        else if (there !== undefined) there.stopped.add(turnId)
        else wake(sessionId)
      }

      yield* Effect.forEach(yield* sessions.due, ({ sessionId }) => progress.recover(sessionId), {
        concurrency: "unbounded",
        discard: true
      })
      // Read anew: a turn that recovery ended may have given work to a session that had none.
      const waiting = [...(yield* sessions.due), ...(yield* compactions.waiting)]
      bell.listen({ wake, stop })
      for (const { sessionId } of waiting) wake(sessionId)
      return Engine.of({ running: () => busy.size })
    })
  )
}
