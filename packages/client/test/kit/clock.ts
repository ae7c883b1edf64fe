import { Duration, Effect, Fiber, TestClock } from "effect"

const breath = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

/** Lets everything that needs no time happen. */
export const settle = Effect.repeatN(breath, 8)

/** Lets time pass in small steps until the fiber is done; answers how much of it that took. */
export const untilDone = <A, E>(fiber: Fiber.RuntimeFiber<A, E>, step: Duration.DurationInput = "1 second") =>
  Effect.gen(function* () {
    let passed = 0
    for (let steps = 0; steps < 5_000; steps++) {
      yield* settle
      if ((yield* Fiber.poll(fiber))._tag === "Some") return { passed, exit: yield* Fiber.await(fiber) }
      yield* TestClock.adjust(step)
      passed += Duration.toMillis(step)
    }
    return yield* Effect.dieMessage("the fiber does not end")
  })
