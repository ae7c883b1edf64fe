import { spawn } from "node:child_process"
import type { Readable } from "node:stream"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Deferred, Duration, Effect, Stream } from "effect"
import { FinderError } from "./finderError.ts"

const STDERR_MAX_LENGTH = 4_096
const REAP = Duration.seconds(1)

const failed = new FinderError({ code: "search.failed", message: "The search could not be run." })

interface Running {
  readonly output: Readable
  readonly ended: Effect.Effect<{ readonly code: number | null; readonly told: string }>
}

/** A process that does not outlive its scope. */
const start = (program: string, args: ReadonlyArray<string>, cwd?: string) =>
  Effect.acquireRelease(
    Effect.gen(function* () {
      const closed = yield* Deferred.make<number | null>()
      const child = yield* Effect.try({
        try: () => spawn(program, [...args], { cwd, env: {}, stdio: ["ignore", "pipe", "pipe"] }),
        catch: () => failed
      })
      child.on("error", () => Deferred.unsafeDone(closed, Effect.succeed(null)))
      child.on("close", (code) => Deferred.unsafeDone(closed, Effect.succeed(code)))
      if (child.pid === undefined) return yield* failed
      let told = ""
      child.stderr.on("data", (chunk: Buffer) => {
        told = (told + chunk.toString()).slice(0, STDERR_MAX_LENGTH)
      })
      const ended = Effect.map(Deferred.await(closed), (code) => ({ code, told }))
      return { child, closed, running: { output: child.stdout, ended } satisfies Running }
    }),
    ({ child, closed }) =>
      Effect.suspend(() => {
        child.stdout.destroy()
        child.kill("SIGKILL")
        return Effect.ignore(Effect.timeoutOption(Deferred.await(closed), REAP))
      })
  ).pipe(Effect.map(({ running }): Running => running))

/** Everything ripgrep writes; fails at the end when it says that it was asked wrongly. Nothing runs on once the reader is gone. */
export const outputOf = (
  program: string,
  args: ReadonlyArray<string>,
  cwd?: string
): Stream.Stream<Uint8Array, FinderError> =>
  Stream.unwrapScoped(
    Effect.map(start(program, args, cwd), ({ ended, output }) =>
      NodeStream.fromReadable<FinderError, Uint8Array>(
        () => output,
        () => failed
      ).pipe(
        Stream.concat(
          Stream.drain(
            Stream.fromEffect(
              Effect.flatMap(ended, ({ code, told }) => {
                if (code === 0 || code === 1) return Effect.void
                // 2 without a word: a file could not be opened, which is passed over.
                return code === 2 && told.trim() === "" ? Effect.void : Effect.fail(errorOf(code, told))
              })
            )
          )
        )
      )
    )
  )

const errorOf = (code: number | null, told: string): FinderError =>
  code === 2 ? FinderError.pattern(told.replace(/^rg: /, "")) : failed
