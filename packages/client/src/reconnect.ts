import { Clock, Duration, Effect } from "effect"
import type { Connection } from "./Connection.ts"
import { type ClientError, Disconnected } from "./errors.ts"
import type { Fault } from "./Fault.ts"
import { pause } from "./retry.ts"

/** A connection that held this long was a good one, even if it brought no news. */
const HELD_WELL = 10_000

/** Whether this may be over by itself. The server's other refusals stay what they are. */
export const passes = (error: ClientError): boolean =>
  error._tag === "Disconnected" || error._tag === "UnavailableError" || error._tag === "InternalServerError"

/**
 * How a stream bears the loss of its connection:
 *
 *   up ──lost──▶ down ──pause, longer each time──▶ try ──frame──▶ up
 *                 └── longer than it may be ──▶ Disconnected
 */
export class Reconnect {
  private readonly connection: Connection
  private readonly maxDowntime: Duration.Duration
  private readonly onLost: (error: ClientError) => Effect.Effect<void>
  private failures = 0
  private downSince: number | undefined
  private triedAt = 0
  private last: Fault | undefined

  constructor(
    connection: Connection,
    maxDowntime: Duration.Duration,
    onLost: (error: ClientError) => Effect.Effect<void>
  ) {
    this.connection = connection
    this.maxDowntime = maxDowntime
    this.onLost = onLost
  }

  /** Waits until it is time to try, or fails when it was down for too long. */
  readonly ready: Effect.Effect<void, Disconnected> = Effect.gen(this, function* () {
    const now = yield* Clock.currentTimeMillis
    if (this.downSince !== undefined && this.last !== undefined) {
      const wait = Duration.max(yield* pause(this.connection, this.failures), this.last.retryAfter)
      const down = Duration.millis(now - this.downSince)
      if (Duration.greaterThan(Duration.sum(down, wait), this.maxDowntime))
        return yield* this.tooLong(down, this.last.error)
      yield* Effect.sleep(wait)
    }
    this.triedAt = yield* Clock.currentTimeMillis
  })

  private tooLong(down: Duration.Duration, cause: ClientError) {
    return new Disconnected({
      reason: "down",
      message: `no connection for ${Duration.format(down)}: ${cause.message}`,
      mayHaveBeenAccepted: false,
      cause
    })
  }

  /** Something came: the connection is up. `news`: it also brought the reader further. */
  arrived(news: boolean): void {
    this.downSince = undefined
    if (news) this.failures = 0
  }

  /** The connection is gone. Fails if it will not get better. */
  readonly lost = (fault: Fault): Effect.Effect<void, ClientError> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (!passes(fault.error)) return Effect.fail(fault.error)
      if (this.downSince === undefined && now - this.triedAt >= HELD_WELL) this.failures = 0
      this.failures++
      this.downSince ??= now
      this.last = fault
      return this.onLost(fault.error)
    })
}
