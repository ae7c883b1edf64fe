import { Context, Deferred, Effect, Layer, type Scope } from "effect"

/** Whether this process is on its way out: new requests are refused, streams and waits end, calls last. */
export class Draining extends Context.Tag("@harness/server/Draining")<
  Draining,
  {
    /** Begins to drain; again is nothing. */
    readonly begin: Effect.Effect<void>
    readonly isDraining: () => boolean
    /** Done once draining has begun: streams and waiting requests race on it. */
    readonly awaitDraining: Effect.Effect<void>
    /** A connection that stays until all others have ended, for as long as the scope lives. */
    readonly stay: Effect.Effect<void, never, Scope.Scope>
    readonly staying: () => number
    /** Nobody else is left, or there is no more time: those who stayed go. */
    readonly last: Effect.Effect<void>
    readonly awaitLast: Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.effect(
    Draining,
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const over = yield* Deferred.make<void>()
      let draining = false
      let staying = 0
      return {
        begin: Effect.suspend(() => {
          draining = true
          return Effect.asVoid(Deferred.succeed(begun, undefined))
        }),
        isDraining: () => draining,
        awaitDraining: Deferred.await(begun),
        stay: Effect.acquireRelease(
          Effect.sync(() => {
            staying++
          }),
          () =>
            Effect.sync(() => {
              staying--
            })
        ),
        staying: () => staying,
        last: Effect.asVoid(Deferred.succeed(over, undefined)),
        awaitLast: Deferred.await(over)
      }
    })
  )
}
