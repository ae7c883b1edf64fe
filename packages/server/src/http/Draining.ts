import { Context, Deferred, Effect, Layer } from "effect"

/** Whether this process is on its way out: new requests are refused, streams and waits end. */
export class Draining extends Context.Tag("@harness/server/Draining")<
  Draining,
  {
    /** Begins to drain; again is nothing. */
    readonly begin: Effect.Effect<void>
    readonly isDraining: () => boolean
    /** Done once draining has begun: streams and waiting requests race on it. */
    readonly awaitDraining: Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.effect(
    Draining,
    Effect.map(Deferred.make<void>(), (begun) => {
      let draining = false
      return {
        begin: Effect.suspend(() => {
          draining = true
          return Effect.asVoid(Deferred.succeed(begun, undefined))
        }),
        isDraining: () => draining,
        awaitDraining: Deferred.await(begun)
      }
    })
  )
}
