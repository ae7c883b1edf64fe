import { Effect, Either, Option } from "effect"
import { begun } from "../providers/answer.ts"
import type { ResolvedModel } from "../providers/Model.ts"

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
  generate: (request) =>
    Effect.gen(function* () {
      const { first: asked, leave } = yield* begun(first.generate(request))
      const head = yield* Effect.timeoutOption(Effect.either(asked), millis)
      if (Option.isNone(head)) {
        yield* leave
        switched()
        return yield* second.generate(request)
      }
      return yield* Either.match(head.value, {
        onLeft: Option.match({ onNone: () => Effect.succeed(Effect.fail(Option.none())), onSome: Effect.fail }),
        onRight: Effect.succeed
      })
    })
})
