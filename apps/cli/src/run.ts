import { readFileSync } from "node:fs"
import { Cause, Effect, Exit, Logger } from "effect"
import type { Running } from "./command.ts"
import { understand, wantsJson } from "./commandLine.ts"
import { commands } from "./commands.ts"
import { type CliFailure, failed, stoppedBy } from "./failures.ts"
import { failureJson, failureLines } from "./render/failure.ts"
import { commandHelp, groupHelp, programHelp } from "./render/help.ts"
import { Surroundings } from "./Surroundings.ts"

const versionOf = Effect.sync((): string => {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
  return typeof manifest === "object" && manifest !== null && "version" in manifest ? String(manifest.version) : "0"
})

const helpOn = (topic: string | undefined) =>
  Effect.gen(function* () {
    const { out } = yield* Surroundings
    const one = commands.find(({ name }) => name === topic)
    if (one !== undefined) return yield* out.write(commandHelp(one, out.style))
    const group = commands.filter(({ name }) => topic !== undefined && name.startsWith(`${topic} `))
    if (topic !== undefined && group.length > 0) return yield* out.write(groupHelp(topic, group, out.style))
    yield* out.write(programHelp(commands, yield* versionOf, out.style))
  })

const untilStopped = (running: Running) =>
  Effect.flatMap(Surroundings, ({ stopped }) =>
    Effect.raceFirst(
      running,
      Effect.flatMap(stopped, (signal) => Effect.fail(stoppedBy(signal)))
    )
  )

const requested = Effect.gen(function* () {
  const { argv, out } = yield* Surroundings
  const request = yield* understand(argv, commands)
  switch (request._tag) {
    case "Help":
      return yield* helpOn(request.topic)
    case "Version":
      return yield* out.write(`${yield* versionOf}\n`)
    case "Run":
      return yield* request.command.endsItself ? request.running : untilStopped(request.running)
  }
})

const tell = (failure: CliFailure) =>
  Effect.gen(function* () {
    const { argv, err, out } = yield* Surroundings
    if (!failure.obvious) yield* err.write(failureLines(failure, err.style))
    if (wantsJson(argv)) yield* out.write(failureJson(failure))
  })

/** A defect is ours: one line for the person, the rest for whoever asks for it. */
const unexpected = (cause: Cause.Cause<unknown>) =>
  Effect.gen(function* () {
    const { env, err } = yield* Surroundings
    if (env["HARNESS_LOG_LEVEL"] === "debug" || env["HARNESS_LOG_LEVEL"] === "trace") {
      yield* err.write(`${Cause.pretty(cause, { renderErrorCause: true })}\n`)
    }
    const [first] = Cause.prettyErrors(cause)
    return failed({
      code: "client.defect",
      message: `this should not have happened: ${first?.message ?? "unknown"}`,
      hint: "HARNESS_LOG_LEVEL=debug shows where"
    })
  })

/** Does what the command line asks for, and says with which code the program is to end. Never fails. */
export const run: Effect.Effect<number, never, Surroundings> = Effect.gen(function* () {
  const { unread } = yield* Surroundings
  const exit = yield* Effect.exit(Effect.raceFirst(requested, unread))
  if (Exit.isSuccess(exit)) return 0
  const known = Cause.failureOption(exit.cause)
  const failure = known._tag === "Some" ? known.value : yield* unexpected(exit.cause)
  yield* Effect.raceFirst(tell(failure), unread)
  return failure.exitCode
}).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
