import { Cause, Effect, Exit, Stream } from "effect"
import type { ClientError } from "./errors.ts"
import { harnessError, rejection } from "./HarnessError.ts"

/** Ends a call early. The call then rejects with the signal's reason. */
export interface Abortable {
  readonly signal?: AbortSignal | undefined
}

/** Runs an effect as a promise. */
export const promised = <A>(effect: Effect.Effect<A, ClientError>, { signal }: Abortable = {}): Promise<A> =>
  Effect.runPromiseExit(effect, signal === undefined ? {} : { signal }).then((exit) => {
    if (Exit.isSuccess(exit)) return exit.value
    throw signal?.aborted === true && Cause.isInterruptedOnly(exit.cause) ? signal.reason : rejection(exit.cause)
  })

/** The same for a method: its input, and a second argument for the signal. */
export const method =
  <I, A>(run: (input: I) => Effect.Effect<A, ClientError>) =>
  (input: I, options?: Abortable): Promise<A> =>
    promised(run(input), options)

const aborted = (signal: AbortSignal): Effect.Effect<never, unknown> =>
  Effect.async((resume) => {
    const stop = () => resume(Effect.fail(signal.reason))
    if (signal.aborted) return stop()
    signal.addEventListener("abort", stop, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", stop))
  })

/** Runs a stream as an async iterable: it reads no further than it is asked for, and leaving the loop ends it. */
export const iterable = <A>(stream: Stream.Stream<A, ClientError>, { signal }: Abortable = {}): AsyncIterable<A> => {
  const failing = Stream.mapError(stream, (error): unknown => harnessError(error))
  const source = Stream.toAsyncIterable(signal === undefined ? failing : Stream.interruptWhen(failing, aborted(signal)))
  return {
    [Symbol.asyncIterator]: () => {
      const inner = source[Symbol.asyncIterator]()
      const done: IteratorResult<A> = { done: true, value: undefined }
      let finish = (): void => {}
      const over = new Promise<IteratorResult<A>>((resolve) => {
        finish = () => resolve(done)
      })
      let ended = false
      let tail: Promise<unknown> = Promise.resolve()
      const end = () => {
        ended = true
        finish()
      }
      // One after another, and over once it is over, whoever asks and however often.
      const next = (): Promise<IteratorResult<A>> =>
        ended
          ? over
          : Promise.race([inner.next(), over]).then(
              (result) => {
                if (result.done === true) end()
                return result
              },
              (error: unknown) => {
                end()
                throw error
              }
            )
      return {
        next: () => {
          const result = tail.then(next, next)
          tail = result
          return result
        },
        return: () => {
          end()
          return (inner.return?.() ?? over).then(() => done)
        }
      }
    }
  }
}
