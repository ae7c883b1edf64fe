import { Effect } from "effect"

interface Line {
  readonly one: Effect.Semaphore
  users: number
}

/** Work on the same key is done one after the other, in the order it came; that on other keys does not wait for it. */
export const makeOneByOne = <K>() => {
  const lines = new Map<K, Line>()
  return <A, E, R>(key: K, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const line = lines.get(key) ?? { one: Effect.unsafeMakeSemaphore(1), users: 0 }
        line.users++
        lines.set(key, line)
        return line
      }),
      ({ one }) => one.withPermits(1)(work),
      (line) =>
        Effect.sync(() => {
          line.users--
          if (line.users === 0) lines.delete(key)
        })
    )
}
