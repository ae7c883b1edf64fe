import { Clock, Effect, type Scope } from "effect"

/** Sees whether bytes still come while somebody waits for them. */
export interface Watch {
  readonly onBytes: () => void
  /** Says that somebody waits from now on, or no longer does: silence nobody waits through is not the provider's. */
  readonly waits: (waiting: boolean) => void
  readonly stalled: () => boolean
}

/** Calls `onStall` once, when a wait got no byte for `millis`. Time is Effect's clock. */
export const watchFor = (millis: number, onStall: () => void): Effect.Effect<Watch, never, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Effect.clock
    let stalled = false
    let waiting = false
    let last = clock.unsafeCurrentTimeMillis()
    const look = Effect.gen(function* () {
      for (;;) {
        const now = yield* Clock.currentTimeMillis
        const silent = waiting ? now - last : 0
        if (silent >= millis) break
        yield* Effect.sleep(millis - silent)
      }
      stalled = true
      onStall()
    })
    yield* Effect.forkScoped(look)
    return {
      onBytes: () => {
        last = clock.unsafeCurrentTimeMillis()
      },
      waits: (is) => {
        waiting = is
        if (is) last = clock.unsafeCurrentTimeMillis()
      },
      stalled: () => stalled
    }
  })
