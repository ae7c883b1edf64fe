import { readdir, readFile } from "node:fs/promises"
import { Duration, Effect, Either } from "effect"

/** How long a group may take to leave after TERM, before KILL. */
export const GRACE_MILLIS = 2_000
const KILLED_MILLIS = 500
const LOOK_MILLIS = 20

/** True while the group has a member we may signal, be it one that only waits to be reaped. */
const signal = (group: number, name: NodeJS.Signals | 0): boolean =>
  Either.isRight(Either.try(() => process.kill(-group, name)))

/** Does this process run, in this group? Only where there is a /proc. */
const runs = (pid: number, group: number): Effect.Effect<boolean> =>
  Effect.tryPromise(() => readFile(`/proc/${pid}/stat`, "latin1")).pipe(
    Effect.map((stat) => {
      // The name in brackets may hold anything, brackets too.
      const [state, , processGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      return state !== "Z" && state !== "X" && processGroup === String(group)
    }),
    Effect.orElseSucceed(() => false)
  )

const running = (pids: ReadonlyArray<number>, group: number) =>
  Effect.filter(pids, (pid) => runs(pid, group), { concurrency: 16 })

/** Members that run; none can be told without a /proc. */
const search = (group: number): Effect.Effect<ReadonlyArray<number> | undefined> =>
  Effect.tryPromise(() => readdir("/proc")).pipe(
    Effect.map((names) => names.filter((name) => /^\d+$/.test(name)).map(Number)),
    Effect.filterOrFail((pids) => pids.length > 0),
    Effect.flatMap((pids) => running(pids, group)),
    Effect.orElseSucceed(() => undefined)
  )

// An orphan that has ended counts for `kill` until init reaps it, which may take longer than the grace.
const gone = (group: number, millis: number, known: ReadonlyArray<number> = []): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    if (!signal(group, 0)) return true
    const left = yield* running(known, group)
    const members = left.length > 0 ? left : yield* search(group)
    if (members?.length === 0) return true
    if (millis <= 0) return false
    yield* Effect.sleep(Duration.millis(LOOK_MILLIS))
    return yield* gone(group, millis - LOOK_MILLIS, members)
  })

/** Ends a whole process group: TERM, two seconds, KILL. Done when nobody of it runs, or nothing more can be done. */
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
