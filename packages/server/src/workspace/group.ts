import { Duration, Effect, Either } from "effect"

/** How long a group may take to leave after TERM, before KILL. */
export const GRACE_MILLIS = 2_000
const KILLED_MILLIS = 500
const LOOK_MILLIS = 20

/** True while the group has a member that is ours to signal. */
const signal = (group: number, name: NodeJS.Signals | 0): boolean =>
  Either.match(
    Either.try(() => process.kill(-group, name)),
    {
      onRight: () => true,
      // EPERM: somebody is there, but not ours any more, or (macOS) only waiting to be reaped.
      onLeft: () => false
    }
  )

const gone = (group: number, millis: number): Effect.Effect<boolean> =>
  Effect.suspend(() =>
    !signal(group, 0)
      ? Effect.succeed(true)
      : millis <= 0
        ? Effect.succeed(false)
        : Effect.zipRight(Effect.sleep(Duration.millis(LOOK_MILLIS)), gone(group, millis - LOOK_MILLIS))
  )

/** Ends a whole process group: TERM, two seconds, KILL. Done when nobody is left, or nothing more can be done. */
export const endGroup = (group: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (!signal(group, "SIGTERM")) return
    // A stopped process hears TERM only once it goes on.
    signal(group, "SIGCONT")
    if (yield* gone(group, GRACE_MILLIS)) return
    signal(group, "SIGKILL")
    yield* gone(group, KILLED_MILLIS)
  }).pipe(Effect.uninterruptible)

/** Ends it at once, without waiting: for the very end of this process. */
export const killGroup = (group: number): void => {
  signal(group, "SIGKILL")
}
