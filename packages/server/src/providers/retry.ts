import { Effect, Either, Option, Random } from "effect"
import { type Answer, begun } from "./answer.ts"
import type { ModelFailure } from "./Model.ts"

const TRIES = 3
/** The longest a provider may ask us to wait; one that asks for more has failed. */
export const RETRY_AFTER_MAX_MILLIS = 60_000
export const RETRY_BASE_MILLIS = 500

export interface Retry {
  readonly failure: ModelFailure["failure"]
  /** The try that failed, from 1. */
  readonly attempt: number
  readonly delayMillis: number
}

const isAgain = ({ failure }: ModelFailure): boolean => failure.kind === "rate_limited" || failure.kind === "transient"

/** What the provider asked for, else exponential, between half and one and a half of its step. */
const delayOf = (failure: ModelFailure, attempt: number, baseMillis: number): Effect.Effect<number> =>
  failure.retryAfterMillis === undefined
    ? Effect.map(Random.next, (random) => Math.round(baseMillis * 2 ** (attempt - 1) * (0.5 + random)))
    : Effect.succeed(failure.retryAfterMillis)

/**
 * Asks again, three tries in all, while nothing has been said yet and the failure may pass. `onRetry` runs before
 * each wait.
 */
export const withRetries = <R = never>(
  generate: () => Answer,
  options: {
    readonly onRetry: (retry: Retry) => Effect.Effect<unknown, never, R>
    readonly baseMillis?: number
  }
): Answer<R> => {
  const attempt = (number: number): Answer<R> =>
    Effect.gen(function* () {
      const { first, leave } = yield* begun(Effect.suspend(generate))
      const head = yield* Effect.either(first)
      if (Either.isRight(head)) return head.right
      if (Option.isNone(head.left)) return Effect.fail(Option.none())
      const failure = head.left.value
      yield* leave
      const tooLong = (failure.retryAfterMillis ?? 0) > RETRY_AFTER_MAX_MILLIS
      if (number >= TRIES || !isAgain(failure) || tooLong) return yield* failure
      const delayMillis = yield* delayOf(failure, number, options.baseMillis ?? RETRY_BASE_MILLIS)
      yield* options.onRetry({ failure: failure.failure, attempt: number, delayMillis })
      yield* Effect.sleep(delayMillis)
      return yield* attempt(number + 1)
    })
  return attempt(1)
}
