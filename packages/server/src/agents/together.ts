import { Deferred, Effect, FiberId } from "effect"

const nextTick = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

interface Round<A> {
  /** What those who come from now on wait for; nothing while the one under way is the last that was asked for. */
  next: Deferred.Deferred<A> | undefined
}

/**
 * Runs one at a time for each key. Who comes while one is under way shares the next, which begins after they came: what
 * they did before they asked is seen.
 */
export const together = <A>(run: (key: string) => Effect.Effect<A>): ((key: string) => Effect.Effect<A>) => {
  const under = new Map<string, Round<A>>()

  const rounds = (key: string, round: Round<A>): Effect.Effect<void> =>
    Effect.gen(function* () {
      while (round.next !== undefined) {
        const asked = round.next
        round.next = undefined
        yield* Effect.intoDeferred(run(key), asked)
        // Those who were just answered may ask again: they come along.
        yield* nextTick
      }
      under.delete(key)
    })

  return (key) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        const round = under.get(key)
        if (round?.next !== undefined) return restore(Deferred.await(round.next))
        const mine = Deferred.unsafeMake<A>(FiberId.none)
        if (round !== undefined) {
          round.next = mine
          return restore(Deferred.await(mine))
        }
        const first = { next: mine }
        under.set(key, first)
        return Effect.zipRight(Effect.forkDaemon(rounds(key, first)), restore(Deferred.await(mine)))
      })
    )
}
