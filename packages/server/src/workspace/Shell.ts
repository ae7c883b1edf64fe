import { type ChildProcess, spawn } from "node:child_process"
import { Config, ConfigProvider, Context, Data, Deferred, Duration, Effect, Layer, Option, type Scope } from "effect"
import { type Collected, type Collector, collect } from "./collect.ts"
import { endGroup, killGroup } from "./group.ts"

/** The shell could not be started at all. Names no path. */
export class ShellError extends Data.TaggedError("ShellError")<{ readonly message: string }> {}

/** One command line, and what it runs with. */
export interface ShellRun {
  readonly command: string
  readonly cwd: string
  /** Beside PATH, HOME, LANG, TERM and TMPDIR; nothing else of the server's environment is passed on. */
  readonly variables: Readonly<Record<string, string>>
  /** `Infinity`: it may run as long as it likes. */
  readonly timeoutMillis: number
  /** Bytes of the front and of the end that are kept in memory; a longer output is kept whole in `file`. */
  readonly shown: number
  /** Bytes a command may write before it is ended. */
  readonly most: number
  readonly file: string
  /** Called at most 10 times a second with what was written since. */
  readonly live: (text: string) => Effect.Effect<void>
}

/** How it ended: by itself, by the clock, because it wrote too much, or because somebody stopped it. */
export interface ShellOutcome {
  readonly ended: "exit" | "timeout" | "too_much" | "stopped"
  readonly exitCode: number | undefined
  readonly signal: string | undefined
  readonly output: Collected
}

/** A command under way, for as long as its scope. */
export interface StartedShell {
  /** What it has written so far. */
  readonly seen: () => Collected
  /** Makes it end, as its time limit would. */
  readonly stop: Effect.Effect<void>
  /** How it ended. To be run once. */
  readonly outcome: Effect.Effect<ShellOutcome>
}

interface Exit {
  readonly exitCode: number | undefined
  readonly signal: string | undefined
}

const LIVE_EVERY = Duration.millis(100)
const DRAIN_MILLIS = 200
const DRAIN_STEP_MILLIS = 10
const DRAIN_STEPS_MAX = 200
const DRAIN_MAX_BYTES = 1_048_576
const REAP = Duration.seconds(1)

// The outer shell only joins the two outputs, in the order they are written, and becomes the inner one.
const JOINED = 'exec sh -c -- "$0" 2>&1'

const inherited = Config.all({
  PATH: Config.string("PATH").pipe(Config.withDefault("/usr/local/bin:/usr/bin:/bin")),
  HOME: Config.option(Config.string("HOME")),
  LANG: Config.option(Config.string("LANG")),
  TMPDIR: Config.option(Config.string("TMPDIR"))
}).pipe(
  Effect.withConfigProvider(ConfigProvider.fromEnv()),
  Effect.orDie,
  Effect.map(({ PATH, ...optional }) => ({
    PATH,
    TERM: "dumb",
    ...Object.fromEntries(
      Object.entries(optional).flatMap(([name, value]) => (Option.isSome(value) ? [[name, value.value]] : []))
    )
  }))
)

interface Running {
  readonly group: number
  readonly collector: Collector
  readonly exited: Deferred.Deferred<Exit>
  readonly stopped: Deferred.Deferred<void>
  readonly closed: Deferred.Deferred<void>
}

const notStarted = new ShellError({ message: "The shell could not be started." })

const start = (run: ShellRun, environment: Readonly<Record<string, string>>): Effect.Effect<Running, ShellError> =>
  Effect.gen(function* () {
    const exited = yield* Deferred.make<Exit>()
    const closed = yield* Deferred.make<void>()
    const stopped = yield* Deferred.make<void>()
    const child: ChildProcess = yield* Effect.try({
      try: () =>
        spawn("sh", ["-c", JOINED, run.command], {
          cwd: run.cwd,
          env: { ...environment, ...run.variables },
          // A session of its own, so that everything it starts can be ended together.
          detached: true,
          stdio: ["ignore", "pipe", "ignore"]
        }),
      catch: () => notStarted
    })
    child.on("error", () => Deferred.unsafeDone(closed, Effect.void))
    child.on("exit", (code, signal) =>
      Deferred.unsafeDone(exited, Effect.succeed({ exitCode: code ?? undefined, signal: signal ?? undefined }))
    )
    child.on("close", () => Deferred.unsafeDone(closed, Effect.void))
    if (child.pid === undefined || child.stdout === null) return yield* notStarted
    return { group: child.pid, exited, closed, stopped, collector: collect(child.stdout, run) }
  })

/**
 * A process that left the group may hold the pipe open: what is in it by now is taken, more is not waited for. A loop
 * turn that brings nothing is the sign, for a timer alone may fire before the pipe was looked at.
 */
const drain = ({ closed, collector }: Running): Effect.Effect<void> => {
  const most = collector.total() + DRAIN_MAX_BYTES
  const quiet = (seen: number, steps: number): Effect.Effect<void> =>
    Effect.sleep(Duration.millis(DRAIN_STEP_MILLIS)).pipe(
      Effect.zipRight(
        Effect.suspend(() => {
          const total = collector.total()
          const idle = total === seen && !collector.waiting()
          return idle || total > most || steps === 0 ? Effect.void : quiet(total, steps - 1)
        })
      )
    )
  return Deferred.await(closed).pipe(
    Effect.timeoutTo({
      duration: Duration.millis(DRAIN_MILLIS),
      onSuccess: () => Effect.void,
      onTimeout: () => Effect.suspend(() => quiet(collector.total(), DRAIN_STEPS_MAX))
    }),
    Effect.flatten
  )
}

const showLive = ({ collector }: Running, live: ShellRun["live"]): Effect.Effect<void, never, Scope.Scope> =>
  collector.bell.await.pipe(
    Effect.zipRight(collector.bell.close),
    Effect.zipRight(Effect.suspend(() => live(collector.takeLive()))),
    Effect.zipRight(Effect.sleep(LIVE_EVERY)),
    Effect.forever,
    Effect.forkScoped,
    Effect.asVoid
  )

const follow = (running: Running, run: ShellRun) =>
  Effect.gen(function* () {
    yield* showLive(running, run.live)
    const ended = yield* Deferred.await(running.exited).pipe(
      Effect.as("exit" as const),
      Effect.raceFirst(Effect.as(Effect.sleep(Duration.millis(run.timeoutMillis)), "timeout" as const)),
      Effect.raceFirst(Effect.as(running.collector.tooMuch.await, "too_much" as const)),
      Effect.raceFirst(Effect.as(Deferred.await(running.stopped), "stopped" as const))
    )
    if (ended === "exit") yield* drain(running)
    // Whatever it left in the background ends with it.
    yield* endGroup(running.group)
    const exit = yield* Deferred.await(running.exited).pipe(Effect.timeoutOption(REAP))
    const output = yield* running.collector.finish
    return {
      ended,
      exitCode: Option.getOrUndefined(exit)?.exitCode,
      signal: Option.getOrUndefined(exit)?.signal,
      output
    } satisfies ShellOutcome
  })

/** Runs command lines as real processes, each in a group of its own. No group outlives its call, or this service. */
export class Shell extends Context.Tag("@harness/server/Shell")<
  Shell,
  {
    /** Interrupted, it ends the group first: TERM, two seconds, KILL. */
    readonly run: (run: ShellRun) => Effect.Effect<ShellOutcome, ShellError>
    /** The same, not waited for: the group ends with the scope, if not before. */
    readonly start: (run: ShellRun) => Effect.Effect<StartedShell, ShellError, Scope.Scope>
  }
>() {
  static readonly layer = Layer.scoped(
    Shell,
    Effect.gen(function* () {
      const environment = yield* inherited
      const groups = new Set<number>()
      yield* Effect.addFinalizer(() =>
        Effect.forEach([...groups], endGroup, { concurrency: "unbounded", discard: true })
      )
      // For an end that runs no finalizers.
      const killAll = () => groups.forEach(killGroup)
      yield* Effect.acquireRelease(
        Effect.sync(() => process.on("exit", killAll)),
        () => Effect.sync(() => process.off("exit", killAll))
      )

      const begin = (run: ShellRun) =>
        Effect.acquireRelease(
          Effect.tap(start(run, environment), ({ group }) => Effect.sync(() => groups.add(group))),
          ({ collector, group }) =>
            endGroup(group).pipe(
              Effect.zipRight(collector.finish),
              Effect.zipRight(Effect.sync(() => groups.delete(group)))
            )
        )

      return {
        run: Effect.fn("Shell.run")((run: ShellRun) =>
          begin(run).pipe(
            Effect.flatMap((running) => follow(running, run)),
            Effect.scoped
          )
        ),
        start: Effect.fn("Shell.start")((run: ShellRun) =>
          Effect.map(begin(run), (running) => ({
            seen: running.collector.seen,
            stop: Effect.asVoid(Deferred.succeed(running.stopped, undefined)),
            outcome: Effect.scoped(follow(running, run))
          }))
        )
      }
    })
  )
}
