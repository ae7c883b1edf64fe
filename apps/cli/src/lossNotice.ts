import { Effect, Ref } from "effect"
import { Surroundings } from "./Surroundings.ts"

/** Says once that the connection is gone, and once that it is back, however many tries that took. */
export const lossNotice = Effect.gen(function* () {
  const { err } = yield* Surroundings
  const isLost = yield* Ref.make(false)
  const say = (text: string) => err.write(`${err.style.dim(text)}\n`)
  return {
    lost: (error: { readonly message: string }) =>
      Effect.flatMap(Ref.getAndSet(isLost, true), (before) =>
        before ? Effect.void : say(`connection lost (${error.message}); connecting again …`)
      ),
    found: Effect.flatMap(Ref.getAndSet(isLost, false), (before) => (before ? say("connected again") : Effect.void))
  }
})
