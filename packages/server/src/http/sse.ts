import { Readable } from "node:stream"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, FiberId } from "effect"
import { type Sink, SinkClosed } from "../log/follow.ts"

/** A socket that has not drained for this long is closed; its reader comes back by cursor. */
const STALLED = "30 seconds"

const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no"
}

/** A response body that takes bytes from outside and says when it has room. */
class Outlet extends Readable {
  private full = false
  private room: (() => void) | undefined

  constructor() {
    super({ highWaterMark: 65_536, read: () => this.drained() })
  }

  private drained(): void {
    const { room } = this
    this.full = false
    this.room = undefined
    room?.()
  }

  /** Waits for room when there is none left; a reader that makes none in time is given up. */
  private readonly drain = Effect.async<void>((resume) => {
    if (this.full) this.room = () => resume(Effect.void)
    else resume(Effect.void)
  }).pipe(Effect.timeoutFail({ duration: STALLED, onTimeout: () => new SinkClosed() }))

  readonly sink: Sink = {
    write: (bytes) =>
      Effect.suspend(() => {
        if (this.destroyed) return Effect.fail(new SinkClosed())
        if (bytes.length === 0) return Effect.void
        this.full = true
        if (this.push(bytes)) this.full = false
        return this.full ? this.drain : Effect.void
      })
  }
}

/**
 * The one way this server streams. `run` writes whole frames until it ends; a reader that goes away, or does not read,
 * ends it. `until` ends the stream cleanly from outside.
 */
export const eventStream = (
  run: (sink: Sink) => Effect.Effect<void, SinkClosed>,
  until: Effect.Effect<void>
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest> =>
  Effect.gen(function* () {
    const outlet = new Outlet()
    const response = NodeHttpServerRequest.toServerResponse(yield* HttpServerRequest.HttpServerRequest)
    // Also when the body is never asked for: a HEAD, or a reader that left before the first byte.
    response.on("close", () => outlet.destroy())
    const fiber = yield* run(outlet.sink).pipe(
      Effect.raceFirst(until),
      Effect.matchCauseEffect({
        onSuccess: () => Effect.sync(() => outlet.push(null)),
        onFailure: (cause) =>
          Effect.zipRight(
            Effect.logDebug("an event stream ended early", cause),
            Effect.sync(() => outlet.destroy())
          )
      }),
      Effect.withTracerEnabled(false),
      Effect.forkDaemon
    )
    outlet.on("close", () => fiber.unsafeInterruptAsFork(FiberId.none))
    return HttpServerResponse.raw(outlet, { headers })
  })
