import { stat } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { Shell, type ShellRun } from "../../src/workspace/Shell.ts"
import { freshFolder } from "./folders.ts"
import { isRunning, untilGone } from "./processes.ts"

const request = (folder: string, command: string, more: Partial<ShellRun> = {}): ShellRun => ({
  command,
  cwd: folder,
  variables: {},
  timeoutMillis: 30_000,
  shown: 32_768,
  most: 64_000_000,
  file: join(folder, "kept", "whole.txt"),
  live: () => Effect.void,
  ...more
})

const run = (command: string, more: Partial<ShellRun> = {}) =>
  Effect.gen(function* () {
    const folder = yield* freshFolder
    const shell = yield* Shell
    const began = yield* Clock.currentTimeMillis
    const outcome = yield* shell.run(request(folder, command, more))
    const millis = (yield* Clock.currentTimeMillis) - began
    return { ...outcome, folder, millis, text: Buffer.from(outcome.output.head).toString() }
  })

/** Runs in the background; the first numbers it writes are the ids of its processes. */
const started = (command: string, more: Partial<ShellRun> = {}) =>
  Effect.gen(function* () {
    const folder = yield* freshFolder
    const shell = yield* Shell
    const told = yield* Deferred.make<ReadonlyArray<number>>()
    let seen = ""
    const live = (text: string) =>
      Effect.suspend(() => {
        seen += text
        const line = /^([\d ]+)\n/.exec(seen)?.[1]
        return line === undefined ? Effect.void : Deferred.succeed(told, line.trim().split(" ").map(Number))
      }).pipe(Effect.asVoid)
    const fiber = yield* Effect.fork(shell.run(request(folder, command, { live, ...more })))
    const pids = yield* Deferred.await(told)
    return { fiber, pids }
  })

const live = (name: string, test: Effect.Effect<unknown, unknown, Shell | Scope.Scope>) =>
  it.scopedLive(name, () => Effect.provide(test, Shell.layer))

describe("a command", () => {
  live(
    "gives both outputs in the order they were written, and its exit code",
    Effect.gen(function* () {
      const outcome = yield* run("echo a; echo b >&2; echo c; exit 3")
      assert.strictEqual(outcome.text, "a\nb\nc\n")
      assert.deepInclude(outcome, { ended: "exit", exitCode: 3, signal: undefined })
    })
  )
  live(
    "may end by a signal",
    Effect.map(run("kill -9 $$"), (outcome) => assert.deepInclude(outcome, { exitCode: undefined, signal: "SIGKILL" }))
  )
  live(
    "may begin with a dash, and knows its own name and folder",
    Effect.gen(function* () {
      assert.include((yield* run("-x")).text, "not found")
      const outcome = yield* run('echo "$0 $#"; pwd')
      assert.strictEqual(outcome.text, `sh 0\n${outcome.folder}\n`)
    })
  )
  live(
    "has no input to wait for",
    Effect.map(run("cat; echo done"), (outcome) => assert.strictEqual(outcome.text, "done\n"))
  )
  live(
    "sees what it needs of the environment and no secret",
    Effect.gen(function* () {
      process.env["OPENAI_API_KEY"] = "canary-key"
      process.env["HARNESS_TOKEN"] = "canary-token"
      const outcome = yield* run("env", { variables: { HARNESS_TURN_ID: "t1" } })
      delete process.env["OPENAI_API_KEY"]
      delete process.env["HARNESS_TOKEN"]
      assert.notInclude(outcome.text, "canary")
      const names = outcome.text
        .trim()
        .split("\n")
        .map((line) => line.split("=")[0] ?? "")
      const known = ["PATH", "HOME", "LANG", "TERM", "TMPDIR", "HARNESS_TURN_ID", "PWD", "OLDPWD", "SHLVL", "_"]
      assert.deepStrictEqual(
        names.filter((name) => !known.includes(name)),
        []
      )
      assert.include(outcome.text, "HARNESS_TURN_ID=t1")
    })
  )
  it.scopedLive("whose folder is gone is a typed error", () =>
    Effect.gen(function* () {
      const shell = yield* Shell
      const error = yield* Effect.flip(shell.run(request("/nowhere/at/all", "true")))
      assert.notInclude(error.message, "/")
    }).pipe(Effect.provide(Shell.layer))
  )
  live(
    "that is too long for the system is a typed error",
    Effect.gen(function* () {
      const error = yield* Effect.flip(run(`: ${"x".repeat(3_000_000)}`))
      assert.strictEqual(error._tag, "ShellError")
    })
  )
})

describe("the end of a call", () => {
  live(
    "takes its background processes with it",
    Effect.gen(function* () {
      const outcome = yield* run("sleep 300 & echo $!")
      yield* untilGone(Number(outcome.text))
      assert.strictEqual(outcome.exitCode, 0)
    })
  )
  live(
    "does not wait for a process that left the group and holds the pipe",
    Effect.gen(function* () {
      const outcome = yield* run(
        "setsid sh -c 'echo $$; touch left; exec sleep 30' & until [ -e left ]; do sleep 0.01; done"
      )
      const pid = Number(outcome.text)
      assert.isTrue(isRunning(pid))
      process.kill(pid)
      assert.isBelow(outcome.millis, 10_000)
    })
  )
  live(
    "comes by the clock, and keeps what was written",
    Effect.gen(function* () {
      const outcome = yield* run("echo $$; sleep 300", { timeoutMillis: 300 })
      assert.strictEqual(outcome.ended, "timeout")
      yield* untilGone(Number(outcome.text))
      assert.isBelow(outcome.millis, 2_000)
    })
  )
  live(
    "comes by KILL when TERM is not heard",
    Effect.gen(function* () {
      const { fiber, pids } = yield* started("trap '' TERM INT; echo $$; while :; do sleep 1; done")
      const began = yield* Clock.currentTimeMillis
      yield* Fiber.interrupt(fiber)
      const millis = (yield* Clock.currentTimeMillis) - began
      assert.isFalse(pids.some(isRunning))
      assert.isAtLeast(millis, 1_900)
      assert.isBelow(millis, 15_000)
    })
  )
  live(
    "comes to a stopped process too",
    Effect.gen(function* () {
      const { fiber, pids } = yield* started("sh -c 'kill -STOP $$' & echo $$ $!; wait")
      yield* Fiber.interrupt(fiber)
      assert.isFalse(pids.some(isRunning))
    })
  )
  live(
    "ends the whole group when the call is interrupted, but not one that left it",
    Effect.gen(function* () {
      // The last one tells its id itself: by then it has left.
      const { fiber, pids } = yield* started(
        "sh -c 'sleep 300 & a=$!; setsid sh -c \"echo $$ $a \\$\\$; exec sleep 301\" & wait'"
      )
      const [shell = 0, child = 0, left = 0] = pids
      yield* Fiber.interrupt(fiber)
      assert.isFalse(isRunning(shell))
      assert.isFalse(isRunning(child))
      assert.isTrue(isRunning(left))
      process.kill(left)
    })
  )
  it.scopedLive("comes with the end of the service", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Shell.layer, scope)
      const { pids } = yield* Effect.provide(started("echo $$; sleep 300"), context)
      assert.isTrue(pids.every(isRunning))
      yield* Scope.close(scope, Exit.void)
      assert.isFalse(pids.some(isRunning))
    })
  )
  it.scopedLive("comes with the end of the process, without finalizers", () =>
    Effect.gen(function* () {
      const before = new Set(process.listeners("exit"))
      const context = yield* Layer.build(Shell.layer)
      const { fiber, pids } = yield* Effect.provide(started("trap '' TERM; echo $$; sleep 300"), context)
      for (const listener of process.listeners("exit")) if (!before.has(listener)) listener(0)
      yield* Effect.forEach(pids, untilGone)
      yield* Fiber.await(fiber)
    })
  )
})

describe("output", () => {
  const twentyMegabytes: ReadonlyArray<readonly [string, string]> = [
    ["in one line", "head -c 20000000 /dev/zero | tr '\\0' a"],
    ["in many lines", "seq 1 3000000 | head -c 20000000"],
    ["of any bytes", "head -c 20000000 /dev/urandom"]
  ]
  for (const [kind, command] of twentyMegabytes) {
    live(
      `of 20 MB ${kind} is kept whole in a file, its ends in memory`,
      Effect.gen(function* () {
        const { folder, output } = yield* run(command)
        assert.strictEqual(output.total, 20_000_000)
        assert.isTrue(output.kept)
        assert.isAtLeast(output.head.length, 32_768)
        assert.isAtLeast(output.tail.length, 32_768)
        assert.isBelow(output.head.length + output.tail.length, 400_000)
        assert.strictEqual((yield* Effect.promise(() => stat(join(folder, "kept/whole.txt")))).size, 20_000_000)
      })
    )
  }
  live(
    "that is short makes no file",
    Effect.gen(function* () {
      const { folder, output } = yield* run("echo a")
      assert.isFalse(output.kept)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.tryPromise(() => stat(join(folder, "kept"))))))
    })
  )
  live(
    "without end is ended",
    Effect.gen(function* () {
      const { ended, output } = yield* run("yes", { most: 1_000_000 })
      assert.strictEqual(ended, "too_much")
      assert.isFalse(output.kept)
    })
  )
  live(
    "that cannot be kept is still shown",
    Effect.gen(function* () {
      const { exitCode, output } = yield* run("seq 1 100000", { file: "/dev/null/none/whole.txt" })
      assert.strictEqual(exitCode, 0)
      assert.isFalse(output.kept)
      assert.isAbove(output.total, 500_000)
    })
  )
  live(
    "is shown while it comes, at most ten times a second, characters whole",
    Effect.gen(function* () {
      const times: Array<number> = []
      const texts: Array<string> = []
      const outcome = yield* run(
        "for i in 1 2 3 4 5 6; do printf '\\303'; sleep 0.05; printf '\\251'; sleep 0.05; done",
        {
          live: (text) =>
            Effect.map(Clock.currentTimeMillis, (now) => {
              times.push(now)
              texts.push(text)
            })
        }
      )
      assert.strictEqual(outcome.text, "éééééé")
      assert.match(texts.join(""), /^é+$/)
      for (const [index, time] of times.entries()) {
        if (index > 0) assert.isAtLeast(time - (times[index - 1] ?? 0), 95)
      }
    })
  )
})
