import { Effect, Exit, Option, Scope, Stream } from "effect"
import type { GenerateRequest, ModelEvent, ModelFailure, ResolvedModel } from "../providers/Model.ts"

/**
 * A model that gives way to another when it has said nothing in time: its request is ended, and the other is asked the same.
 * `switched` is called then.
 */
export const givingWay = (
  first: ResolvedModel,
  second: ResolvedModel,
  millis: number,
  switched: () => void
): ResolvedModel => ({
  ...first,
  generate: (request: GenerateRequest): Stream.Stream<ModelEvent, ModelFailure> =>
    Stream.unwrapScoped(
      Effect.gen(function* () {
        const own = yield* Scope.make()
        yield* Effect.addFinalizer((exit) => Scope.close(own, exit))
        const pull = yield* Scope.extend(Stream.toPull(first.generate(request)), own)
        const head = yield* Effect.timeoutOption(Effect.either(pull), millis)
        if (Option.isNone(head)) {
          yield* Scope.close(own, Exit.void)
          switched()
          return second.generate(request)
        }
        const begun = head.value
        if (begun._tag === "Right") {
          return Stream.concat(Stream.fromChunk(begun.right), Stream.repeatEffectChunkOption(pull))
        }
        return Option.isNone(begun.left) ? Stream.empty : Stream.fail(begun.left.value)
      })
    )
})
