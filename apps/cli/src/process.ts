import { Deferred, Effect, Option } from "effect"
import { exitCodeOf, failed } from "./failures.ts"
import { styleFor } from "./render/style.ts"
import { run } from "./run.ts"
import { type StopSignal, Surroundings, type Writer } from "./Surroundings.ts"
import { terminalOf } from "./terminal.ts"

type Env = Readonly<Record<string, string | undefined>>

const writer = (stream: NodeJS.WriteStream, env: Env): Writer => ({
  write: (text) =>
    Effect.async<void>((resume) => {
      if (text === "" || stream.write(text)) {
        resume(Effect.void)
        return
      }
      const drained = () => resume(Effect.void)
      stream.once("drain", drained)
      return Effect.sync(() => stream.off("drain", drained))
    }),
  push: (text) => {
    stream.write(text)
  },
  isTerminal: stream.isTTY === true,
  columns: stream.isTTY ? (stream.columns ?? 80) : Number.POSITIVE_INFINITY,
  style: styleFor(stream.isTTY === true, env)
})

const stdinText = Effect.tryPromise({
  try: async () => {
    const chunks: Array<Buffer> = []
    for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk))
    return Buffer.concat(chunks)
      .toString("utf8")
      .replace(/^\ufeff/, "")
  },
  catch: () => failed({ code: "client.stdin", message: "the standard input could not be read" })
})

/** A first signal asks, a second one is not argued with. */
const signals = (stopped: Deferred.Deferred<StopSignal>) => {
  let asked = false
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (asked) process.exit(exitCodeOf(signal))
      asked = true
      Deferred.unsafeDone(stopped, Effect.succeed(signal))
    })
  }
}

/** A reader that went away is no error: `harness watch | head` ends quietly. */
const brokenPipes = (unread: Deferred.Deferred<void>) => {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") {
      process.stderr.write(`harness: the output could not be written (${error.code ?? error.message})\n`)
      process.exit(1)
    }
    Deferred.unsafeDone(unread, Effect.void)
  })
  process.stderr.on("error", () => {})
}

const flushed = (stream: NodeJS.WriteStream) =>
  new Promise<void>((resolve) => {
    if (stream.writableLength === 0 || stream.destroyed || stream.errored !== null) resolve()
    else stream.write("", () => resolve())
  })

/** The process around the program: its streams, its signals and its end. */
export const start = async ({ env, home }: { readonly env: Env; readonly home: string }): Promise<void> => {
  const stopped = Effect.runSync(Deferred.make<StopSignal>())
  const unread = Effect.runSync(Deferred.make<void>())
  signals(stopped)
  brokenPipes(unread)
  const code = await Effect.runPromise(
    Effect.provideService(run, Surroundings, {
      argv: process.argv.slice(2),
      env,
      cwd: process.cwd(),
      home,
      pid: process.pid,
      nodeVersion: process.versions.node,
      platform: process.platform,
      out: writer(process.stdout, env),
      err: writer(process.stderr, env),
      terminal:
        process.stdin.isTTY && process.stderr.isTTY
          ? Option.some(terminalOf(process.stdin, process.stderr, () => process.kill(process.pid, "SIGINT")))
          : Option.none(),
      stdin: { isTerminal: process.stdin.isTTY === true, text: stdinText },
      stopped: Deferred.await(stopped),
      unread: Deferred.await(unread)
    })
  )
  await Promise.all([flushed(process.stdout), flushed(process.stderr)])
  process.exit(code)
}
