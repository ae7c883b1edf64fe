import { Chunk, Effect, ExecutionStrategy, Exit, type Option, Scope, Stream } from "effect"
import type { ModelEvent, ModelFailure } from "./Model.ts"

/**
 * Takes what an answer says next: all events that are there, one at least. Fails with none when it has ended. Thousands of
 * these run each second: a stream's own layers would cost more than what they carry.
 */
export type Pull = Effect.Effect<Chunk.Chunk<ModelEvent>, Option.Option<ModelFailure>>

/** Asks, and gives what the answer is taken with. It ends with the scope. */
export type Answer<R = never> = Effect.Effect<Pull, ModelFailure, Scope.Scope | R>

/** An answer for those to whom a stream is handier. */
export const streamOf = <R>(answer: Answer<R>): Stream.Stream<ModelEvent, ModelFailure, Exclude<R, Scope.Scope>> =>
  Stream.unwrapScoped(Effect.map(answer, Stream.repeatEffectChunkOption))

const goesOn = (head: Chunk.Chunk<ModelEvent>, pull: Pull): Pull => {
  let isTaken = false
  return Effect.suspend(() => {
    if (isTaken) return pull
    isTaken = true
    return Effect.succeed(head)
  })
}

/** An answer that has begun, or why it did not; and how it is left before its scope ends. */
export interface Begun {
  readonly first: Effect.Effect<Pull, Option.Option<ModelFailure>>
  readonly leave: Effect.Effect<void>
}

/** Asks, so that one can wait for the first word and give up on it. Fails with none when it ends without a word. */
export const begun = (answer: Answer): Effect.Effect<Begun, never, Scope.Scope> =>
  Effect.map(
    Effect.flatMap(Effect.scope, (outer) => Scope.fork(outer, ExecutionStrategy.sequential)),
    (own) => ({
      first: Scope.extend(Effect.asSomeError(answer), own).pipe(
        Effect.flatMap((pull) =>
          Effect.map(Effect.repeat(pull, { until: Chunk.isNonEmpty }), (head) => goesOn(head, pull))
        )
      ),
      leave: Scope.close(own, Exit.void)
    })
  )
