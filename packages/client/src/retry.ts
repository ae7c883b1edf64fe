import { Duration, Effect, Random, Schedule } from "effect"
import type { Connection } from "./Connection.ts"
import type { Fault } from "./Fault.ts"

/**
 * `safe`: the request names its result, or has no second effect; it may be sent again whatever happened to the first.
 * `unaccepted`: it may mean something else the second time, and is only sent again if the first never arrived.
 */
export type Repeat = "safe" | "unaccepted"

/** A server that wants more patience than this gets it from the caller, not from us. */
const PATIENCE = Duration.seconds(30)

/** Whether the same request may be sent again by itself. */
export const mayRepeat =
  (repeat: Repeat) =>
  ({ error, retryAfter }: Fault): boolean => {
    if (Duration.greaterThan(retryAfter, PATIENCE)) return false
    switch (error._tag) {
      case "Disconnected":
        return repeat === "safe" || !error.mayHaveBeenAccepted
      case "UnavailableError":
        return error.retryable
      default:
        return false
    }
  }

/** Bounded, exponential, jittered, and never sooner than the server asked for. */
export const policy = ({ retries, backoff }: Connection): Schedule.Schedule<Fault, Fault> =>
  Schedule.identity<Fault>().pipe(
    Schedule.zipLeft(Schedule.exponential(backoff.first)),
    Schedule.modifyDelay((_, delay) => Duration.min(delay, backoff.longest)),
    Schedule.jittered,
    Schedule.modifyDelay((fault, delay) => Duration.max(delay, fault.retryAfter)),
    Schedule.zipLeft(Schedule.recurs(retries))
  )

/** The pause before the nth reconnection in a row. */
export const pause = ({ backoff }: Connection, failures: number): Effect.Effect<Duration.Duration> =>
  Effect.map(Random.nextRange(0.5, 1), (part) =>
    Duration.times(Duration.min(Duration.times(backoff.first, 2 ** Math.min(failures - 1, 20)), backoff.longest), part)
  )
