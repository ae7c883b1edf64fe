import { Context, Effect, Layer } from "effect"

/** How exact a tick is. */
const STEP_MILLIS = 5

const make = Effect.gen(function* () {
  const clock = yield* Effect.clock
  /** What is to be done, by the step it falls into. */
  const steps = new Map<number, Array<() => void>>()
  const something = yield* Effect.makeLatch(false)

  const tick = Effect.sync(() => {
    const now = clock.unsafeCurrentTimeMillis() / STEP_MILLIS
    for (const [step, runs] of steps) {
      if (step > now) continue
      steps.delete(step)
      for (const run of runs) run()
    }
    if (steps.size === 0) something.unsafeClose()
  })
  yield* something.await.pipe(
    Effect.zipRight(Effect.sleep(STEP_MILLIS)),
    Effect.zipRight(tick),
    Effect.forever,
    Effect.withTracerEnabled(false),
    Effect.forkScoped
  )

  return {
    /** Runs something quick, in so many milliseconds and up to 5 more. It cannot be taken back. */
    after: (millis: number, run: () => void): void => {
      const step = Math.ceil((clock.unsafeCurrentTimeMillis() + millis) / STEP_MILLIS)
      const there = steps.get(step)
      if (there === undefined) steps.set(step, [run])
      else there.push(run)
      something.unsafeOpen()
    }
  }
})

/** Short waits of all calls: hundreds of them, many times a second, are too many for a fiber each. */
export class Ticks extends Context.Tag("@harness/server/Ticks")<Ticks, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.scoped(Ticks, make)
}
