import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Layer, Option, Scope } from "effect"
import {
  JOB_SHOWN_BYTES,
  JOBS_PER_SESSION,
  type Job,
  type JobOwner,
  type JobRequest,
  Jobs
} from "../../src/workspace/Jobs.ts"
import { Shell } from "../../src/workspace/Shell.ts"
import { freshFolder } from "./folders.ts"
import { isRunning, untilGone } from "./processes.ts"

const mine: JobOwner = { server: "main", sessionId: "s1" }

const request = (folder: string, jobId: string, command: string, more: Partial<JobRequest> = {}): JobRequest => ({
  owner: mine,
  jobId,
  command,
  cwd: folder,
  variables: {},
  timeoutMillis: Number.POSITIVE_INFINITY,
  file: join(folder, "kept", `${jobId}.txt`),
  ...more
})

/** Waits for a fact about a job. */
const until = (owner: JobOwner, jobId: string, fact: (job: Job) => boolean): Effect.Effect<Job, never, Jobs> =>
  Effect.gen(function* () {
    const jobs = yield* Jobs
    for (;;) {
      const job = Option.getOrThrow(yield* jobs.find(owner, jobId))
      if (fact(job)) return job
      yield* Effect.sleep("5 millis")
    }
  })

const textOf = ({ output }: Job): string => Buffer.from(output.head).toString()
const ended = ({ outcome }: Job): boolean => outcome !== undefined
const toldPids = (job: Job): boolean => /\n/.test(textOf(job))
const pidsOf = (job: Job): ReadonlyArray<number> => (textOf(job).split("\n")[0] ?? "").trim().split(" ").map(Number)

const test = (name: string, body: (folder: string) => Effect.Effect<void, unknown, Jobs>) =>
  it.scopedLive(name, () => Effect.flatMap(freshFolder, body).pipe(Effect.provide(Jobs.layer)))

/** TERM does nothing to it, and it leaves a child behind. */
const stubborn = "trap '' TERM; sleep 300 & echo $$ $!; while :; do wait; sleep 1; done"

describe("a job", () => {
  test("is started at once, and tells what it writes while it runs", (folder) =>
    Effect.gen(function* () {
      const jobs = yield* Jobs
      yield* jobs.start(request(folder, "j1", "mkfifo fifo; echo begun; read x < fifo; echo got $x"))
      const running = yield* until(mine, "j1", ({ output }) => output.total > 0)
      assert.strictEqual(textOf(running), "begun\n")
      assert.isUndefined(running.outcome)
      yield* jobs.start(request(folder, "j2", "echo it > fifo"))
      assert.strictEqual(textOf(yield* until(mine, "j1", ended)), "begun\ngot it\n")
    }))
  test("knows its exit code, its signal, its time limit", (folder) =>
    Effect.gen(function* () {
      const jobs = yield* Jobs
      yield* jobs.start(request(folder, "code", "echo out; exit 3"))
      yield* jobs.start(request(folder, "signal", "kill -9 $$"))
      yield* jobs.start(request(folder, "late", "sleep 300", { timeoutMillis: 100 }))
      const code = yield* until(mine, "code", ended)
      assert.deepStrictEqual(code.outcome, { ended: "exit", exitCode: 3, signal: undefined })
      assert.strictEqual(textOf(code), "out\n")
      assert.strictEqual((yield* until(mine, "signal", ended)).outcome?.signal, "SIGKILL")
      assert.strictEqual((yield* until(mine, "late", ended)).outcome?.ended, "timeout")
      const list = yield* jobs.list(mine)
      assert.deepStrictEqual(
        list.map(({ jobId }) => jobId),
        ["code", "signal", "late"]
      )
    }))
  test("ends with all it started when it is ended, and can be ended twice", (folder) =>
    Effect.gen(function* () {
      const jobs = yield* Jobs
      yield* jobs.start(request(folder, "j1", stubborn))
      const pids = pidsOf(yield* until(mine, "j1", toldPids))
      assert.lengthOf(pids, 2)
      assert.isTrue(pids.every(isRunning))
      const [one, other] = yield* Effect.all([jobs.end(mine, "j1"), jobs.end(mine, "j1")], { concurrency: 2 })
      assert.deepInclude(Option.getOrThrow(one).outcome, { ended: "stopped", signal: "SIGKILL" })
      assert.deepStrictEqual(Option.getOrThrow(other).outcome, Option.getOrThrow(one).outcome)
      assert.isFalse(pids.some(isRunning))
      assert.isTrue(Option.isNone(yield* jobs.end(mine, "none")))
    }))
  test("is its session's own", (folder) =>
    Effect.gen(function* () {
      const jobs = yield* Jobs
      const others = [
        { ...mine, sessionId: "s2" },
        { ...mine, server: "other" }
      ]
      yield* jobs.start(request(folder, "j1", "echo $$; sleep 300"))
      const [pid = 0] = pidsOf(yield* until(mine, "j1", toldPids))
      for (const owner of others) {
        assert.isTrue(Option.isNone(yield* jobs.find(owner, "j1")))
        assert.isTrue(Option.isNone(yield* jobs.end(owner, "j1")))
        assert.deepStrictEqual(yield* jobs.list(owner), [])
        yield* jobs.endSession(owner)
      }
      yield* jobs.endServer("other")
      assert.isTrue(isRunning(pid))
      yield* jobs.endSession(mine)
      assert.isFalse(isRunning(pid))
      assert.deepStrictEqual(yield* jobs.list(mine), [])
    }))
  test("ends with its server", (folder) =>
    Effect.gen(function* () {
      const jobs = yield* Jobs
      const owner = { server: "second", sessionId: "s9" }
      yield* jobs.start(request(folder, "j1", "echo $$; sleep 300", { owner }))
      const [pid = 0] = pidsOf(yield* until(owner, "j1", toldPids))
      yield* jobs.endServer("second")
      assert.isFalse(isRunning(pid))
    }))
  test("is started once, and one of sixteen", (folder) =>
    Effect.gen(function* () {
      const jobs = yield* Jobs
      const start = (jobId: string, command = "sleep 300") => Effect.either(jobs.start(request(folder, jobId, command)))
      const all = yield* Effect.forEach(
        Array.from({ length: JOBS_PER_SESSION + 4 }, (_, index) => `j${index}`),
        (jobId) => start(jobId),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(
        all.filter(({ _tag }) => _tag === "Right"),
        JOBS_PER_SESSION
      )
      assert.deepInclude(yield* Effect.flip(jobs.start(request(folder, "j0", "true"))), { code: "jobs.started_before" })
      assert.deepInclude(yield* Effect.flip(jobs.start(request(folder, "more", "true"))), { code: "jobs.too_many" })
      yield* jobs.start(request(folder, "more", "true", { owner: { ...mine, sessionId: "s2" } }))
      // One that has ended makes room.
      yield* jobs.end(mine, "j5")
      yield* jobs.start(request(folder, "more", "true"))
      assert.isTrue(Option.isNone(yield* jobs.find(mine, "j5")))
      assert.lengthOf(yield* jobs.list(mine), JOBS_PER_SESSION)
    }))
  test("that cannot be started leaves nothing behind", (folder) =>
    Effect.gen(function* () {
      const jobs = yield* Jobs
      const error = yield* Effect.flip(jobs.start(request("/nowhere/at/all", "j1", "true")))
      assert.strictEqual(error._tag, "ShellError")
      assert.deepStrictEqual(yield* jobs.list(mine), [])
      yield* jobs.start(request(folder, "j1", "true"))
    }))
  test("keeps the front and the end of its output in memory, and all of it in a file", (folder) =>
    Effect.gen(function* () {
      const jobs = yield* Jobs
      yield* jobs.start(request(folder, "j1", "echo first; seq 1 200000; echo last"))
      const job = yield* until(mine, "j1", ended)
      assert.isTrue(job.output.kept)
      assert.isAtMost(job.output.head.length + job.output.tail.length, 2 * (JOB_SHOWN_BYTES + 65_536))
      assert.match(textOf(job), /^first\n1\n/)
      assert.match(Buffer.from(job.output.tail).toString(), /\n200000\nlast\n$/)
      const kept = yield* Effect.promise(() => readFile(join(folder, "kept", "j1.txt"), "utf8"))
      assert.strictEqual(kept.length, job.output.total)
    }))
})

describe("the end of the service", () => {
  it.scopedLive("ends all jobs, side by side", () =>
    Effect.gen(function* () {
      const folder = yield* freshFolder
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Jobs.layer, scope)
      const pids = yield* Effect.gen(function* () {
        const jobs = yield* Jobs
        const names = Array.from({ length: 8 }, (_, index) => `j${index}`)
        for (const jobId of names) yield* jobs.start(request(folder, jobId, stubborn))
        const all = yield* Effect.forEach(names, (jobId) => until(mine, jobId, toldPids))
        return all.flatMap(pidsOf)
      }).pipe(Effect.provide(context))
      assert.lengthOf(pids, 16)
      assert.isTrue(pids.every(isRunning))
      const [taken] = yield* Effect.timed(Scope.close(scope, Exit.void))
      assert.isFalse(pids.some(isRunning))
      // Each takes its two seconds of grace; one after another they would take sixteen.
      assert.isBelow(Duration.toMillis(taken), 14_000)
    })
  )
  it.scopedLive("of shells alone ends them too", () =>
    Effect.gen(function* () {
      const folder = yield* freshFolder
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Layer.provideMerge(Jobs.layerNoDeps, Shell.layer), scope)
      const pid = yield* Effect.gen(function* () {
        yield* (yield* Jobs).start(request(folder, "j1", "echo $$; sleep 300"))
        return pidsOf(yield* until(mine, "j1", toldPids))[0] ?? 0
      }).pipe(Effect.provide(context))
      yield* Scope.close(scope, Exit.void)
      yield* untilGone(pid)
    })
  )
})
