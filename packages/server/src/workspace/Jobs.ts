import { Clock, Context, Data, Deferred, Effect, ExecutionStrategy, Exit, Layer, Option, Scope } from "effect"
import type { Collected } from "./collect.ts"
import { Shell, type ShellError, type ShellOutcome, type ShellRun, type StartedShell } from "./Shell.ts"

/** Whose a job is. */
export interface JobOwner {
  readonly server: string
  readonly sessionId: string
}

/** A command line to run beside the turns of its session. */
export interface JobRequest extends Pick<ShellRun, "command" | "cwd" | "variables" | "timeoutMillis" | "file"> {
  readonly owner: JobOwner
  readonly jobId: string
}

/** A job as it stands. */
export interface Job {
  readonly jobId: string
  readonly command: string
  readonly startedAt: number
  readonly output: Collected
  /** Absent while it runs. */
  readonly outcome?: Pick<ShellOutcome, "ended" | "exitCode" | "signal">
}

/** No more jobs may run, or it was started before. */
export class JobError extends Data.TaggedError("JobError")<{
  readonly code: "jobs.too_many" | "jobs.started_before"
  readonly message: string
}> {}

/** Jobs of one session, those that have ended too: the oldest of them make room. */
export const JOBS_PER_SESSION = 16
/** Jobs of all sessions. */
export const JOBS_MAX = 512
/** Bytes of the front and of the end that are kept in memory. */
export const JOB_SHOWN_BYTES = 16_384
/** A job that writes more than this is ended. */
const JOB_WRITES_MAX_BYTES = 268_435_456

interface Entry {
  readonly request: JobRequest
  readonly startedAt: number
  shell?: StartedShell
  /** Its process is there, or could not be started. */
  readonly begun: Deferred.Deferred<void>
  readonly ended: Deferred.Deferred<void>
  outcome?: ShellOutcome
}

const NO_OUTPUT: Collected = { head: new Uint8Array(), tail: new Uint8Array(), total: 0, kept: false }

const isOf = (owner: JobOwner) => (entry: Entry) =>
  entry.request.owner.server === owner.server && entry.request.owner.sessionId === owner.sessionId

const jobOf = ({ outcome, request, shell, startedAt }: Entry): Job => ({
  jobId: request.jobId,
  command: request.command,
  startedAt,
  output: outcome?.output ?? shell?.seen() ?? NO_OUTPUT,
  ...(outcome === undefined
    ? {}
    : { outcome: { ended: outcome.ended, exitCode: outcome.exitCode, signal: outcome.signal } })
})

const make = Effect.gen(function* () {
  const shell = yield* Shell
  // Side by side, for each may take its two seconds to end.
  const home = yield* Effect.flatMap(Effect.scope, (scope) => Scope.fork(scope, ExecutionStrategy.parallel))
  // In the order they were started.
  const entries: Array<Entry> = []

  const remove = (entry: Entry) => {
    const at = entries.indexOf(entry)
    if (at !== -1) entries.splice(at, 1)
  }

  /** Room for one more of these, at the cost of the oldest that has ended. */
  const room = (among: ReadonlyArray<Entry>, most: number): boolean => {
    if (among.length < most) return true
    const oldest = among.find(({ outcome }) => outcome !== undefined)
    if (oldest === undefined) return false
    remove(oldest)
    return true
  }

  const begin = (entry: Entry, scope: Scope.CloseableScope) =>
    Effect.gen(function* () {
      const { command, cwd, file, timeoutMillis, variables } = entry.request
      const run = { command, cwd, file, timeoutMillis, variables }
      const started = yield* shell
        .start({ ...run, shown: JOB_SHOWN_BYTES, most: JOB_WRITES_MAX_BYTES, live: () => Effect.void })
        .pipe(Scope.extend(scope))
      entry.shell = started
      yield* Effect.interruptible(started.outcome).pipe(
        Effect.tap((outcome) =>
          Effect.sync(() => {
            entry.outcome = outcome
          })
        ),
        Effect.ensuring(Scope.close(scope, Exit.void)),
        Effect.ensuring(Deferred.succeed(entry.ended, undefined)),
        Effect.forkIn(home)
      )
    })

  const start = Effect.fn("Jobs.start")(function* (request: JobRequest) {
    const entry: Entry = {
      request,
      startedAt: yield* Clock.currentTimeMillis,
      begun: yield* Deferred.make<void>(),
      ended: yield* Deferred.make<void>()
    }
    const own = entries.filter(isOf(request.owner))
    if (own.some(({ request: { jobId } }) => jobId === request.jobId)) {
      return yield* new JobError({ code: "jobs.started_before", message: "This job was started before." })
    }
    if (!room(own, JOBS_PER_SESSION) || !room(entries, JOBS_MAX)) {
      return yield* new JobError({
        code: "jobs.too_many",
        message: `At most ${JOBS_PER_SESSION} commands of a session may run in the background. End one first.`
      })
    }
    // Counted before its process is there, or two starts at once would both find the last place free.
    entries.push(entry)
    const scope = yield* Scope.fork(home, ExecutionStrategy.sequential)
    yield* begin(entry, scope).pipe(
      Effect.onError(() => {
        remove(entry)
        return Scope.close(scope, Exit.void)
      }),
      Effect.ensuring(Deferred.succeed(entry.begun, undefined))
    )
  }, Effect.uninterruptible)

  const stop = (entry: Entry): Effect.Effect<void> =>
    Deferred.await(entry.begun).pipe(
      Effect.zipRight(
        Effect.suspend(() =>
          entry.shell === undefined ? Effect.void : Effect.zipRight(entry.shell.stop, Deferred.await(entry.ended))
        )
      )
    )

  const stopAll = (which: (entry: Entry) => boolean) =>
    Effect.suspend(() => {
      const found = entries.filter(which)
      for (const entry of found) remove(entry)
      return Effect.forEach(found, stop, { concurrency: "unbounded", discard: true })
    })

  const find = (owner: JobOwner, jobId: string) =>
    Effect.sync(() => Option.fromNullable(entries.filter(isOf(owner)).find(({ request }) => request.jobId === jobId)))

  return {
    start,
    list: (owner: JobOwner) => Effect.sync(() => entries.filter(isOf(owner)).map(jobOf)),
    find: (owner: JobOwner, jobId: string) => Effect.map(find(owner, jobId), Option.map(jobOf)),
    end: Effect.fn("Jobs.end")(function* (owner: JobOwner, jobId: string) {
      const found = yield* find(owner, jobId)
      if (Option.isSome(found)) yield* stop(found.value)
      return Option.map(found, jobOf)
    }),
    endSession: Effect.fn("Jobs.endSession")((owner: JobOwner) => stopAll(isOf(owner))),
    endServer: Effect.fn("Jobs.endServer")((server: string) =>
      stopAll(({ request: { owner } }) => owner.server === server)
    )
  }
})

/** Command lines that run beside the turns of their session. They outlive their turn, and nothing else. */
export class Jobs extends Context.Tag("@harness/server/Jobs")<
  Jobs,
  {
    readonly start: (request: JobRequest) => Effect.Effect<void, JobError | ShellError>
    /** In the order they were started, those that have ended too. */
    readonly list: (owner: JobOwner) => Effect.Effect<ReadonlyArray<Job>>
    readonly find: (owner: JobOwner, jobId: string) => Effect.Effect<Option.Option<Job>>
    /** Ends its whole group, and says how it stands then; one that has ended already stays as it was. */
    readonly end: (owner: JobOwner, jobId: string) => Effect.Effect<Option.Option<Job>>
    /** Ends and forgets a session's jobs. To be run when none of its turns can start another. */
    readonly endSession: (owner: JobOwner) => Effect.Effect<void>
    readonly endServer: (server: string) => Effect.Effect<void>
  }
>() {
  static readonly layerNoDeps = Layer.scoped(Jobs, make)

  static readonly layer = Layer.provide(Jobs.layerNoDeps, Shell.layer)
}
