import { Effect } from "effect"

/** Runs what is done to one thing (a file) one after another; different things do not wait for each other. */
export type OneAtATime = (name: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Keeps nothing of a thing that nobody works on. */
export const makeOneAtATime = (): OneAtATime => {
  const doors = new Map<string, { readonly door: Effect.Semaphore; inside: number }>()
  return (name) => (effect) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const found = doors.get(name) ?? { door: Effect.unsafeMakeSemaphore(1), inside: 0 }
        found.inside += 1
        doors.set(name, found)
        return found
      }),
      ({ door }) => door.withPermits(1)(effect),
      (found) =>
        Effect.sync(() => {
          found.inside -= 1
          if (found.inside === 0) doors.delete(name)
        })
    )
}
