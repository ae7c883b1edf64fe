import { readFileSync } from "node:fs"
import { Duration, Effect, Either } from "effect"

/** Is there a process of this id that still runs? One that only waits to be reaped does not. */
export const isRunning = (pid: number): boolean =>
  Either.match(
    Either.try(() => readFileSync(`/proc/${pid}/stat`, "utf8")),
    {
      onRight: (stat) => !/^\d+ \(.*\) [ZX]/s.test(stat),
      onLeft: () => Either.isRight(Either.try(() => process.kill(pid, 0)))
    }
  )

/** Done once the process is gone; a test that waits for ever is one that failed. */
export const untilGone = (pid: number): Effect.Effect<void> =>
  Effect.suspend(() =>
    isRunning(pid) ? Effect.zipRight(Effect.sleep(Duration.millis(10)), untilGone(pid)) : Effect.void
  )
