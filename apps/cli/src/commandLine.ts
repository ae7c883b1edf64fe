import { Effect, Either } from "effect"
import { firstWord, type OptionShape, takeApart } from "./argv.ts"
import type { Command, Running } from "./command.ts"
import { type CliFailure, misused } from "./failures.ts"
import { nearestTo } from "./nearest.ts"

/** What a command line asks for. */
export type Request =
  | { readonly _tag: "Run"; readonly command: Command; readonly running: Running }
  /** Help on one command, on a group of them (its first word), or on all. */
  | { readonly _tag: "Help"; readonly topic?: string }
  | { readonly _tag: "Version" }

const help: OptionShape = { names: ["--help", "-h"], repeated: true }
const version: OptionShape = { names: ["--version", "-V"], repeated: true }

/** Options every command line may have. */
export const builtIn: ReadonlyArray<OptionShape> = [help, version]

interface Found {
  readonly command: Command
  /** What help would be about: the group, when only that was named. */
  readonly topic: string
  readonly rest: ReadonlyArray<string>
}

const everyOption = (commands: ReadonlyArray<Command>) => [...builtIn, ...commands.flatMap(({ options }) => options)]

const groupOf = (command: Command): string => command.name.split(" ")[0] ?? command.name

const unknown = (word: string, known: ReadonlyArray<string>, before = "harness"): CliFailure => {
  const near = nearestTo(word, known)
  const hint = near === undefined ? `there are ${known.join(", ")}` : `did you mean \`${before} ${near}\`?`
  return misused(`there is no command "${`${before} ${word}`.slice("harness ".length)}"`, hint)
}

/** Takes the command's name out of a command line; undefined when there is none. A group's name stands for its `list`. */
const find = (
  argv: ReadonlyArray<string>,
  commands: ReadonlyArray<Command>
): Either.Either<Found | undefined, CliFailure> => {
  const at = firstWord(argv, everyOption(commands))
  const word = at === undefined ? undefined : argv[at]
  if (at === undefined || word === undefined) return Either.right(undefined)
  const rest = argv.toSpliced(at, 1)
  if (word === "help") return Either.map(find(rest, commands), (found) => found && { ...found, rest: ["--help"] })
  const alone = commands.find(({ name }) => name === word)
  if (alone !== undefined) return Either.right({ command: alone, topic: word, rest })
  const group = commands.filter((command) => groupOf(command) === word)
  const list = group.find(({ name }) => name === `${word} list`)
  if (list === undefined) return Either.left(unknown(word, [...new Set(commands.map(groupOf))]))
  const nextAt = firstWord(rest, everyOption(group))
  const next = nextAt === undefined ? undefined : rest[nextAt]
  const named = group.find(({ name }) => name === `${word} ${next}`)
  if (nextAt !== undefined && named !== undefined) {
    return Either.right({ command: named, topic: named.name, rest: rest.toSpliced(nextAt, 1) })
  }
  if (next === undefined || list.args.length > 0) return Either.right({ command: list, topic: word, rest })
  const known = group.map(({ name }) => name.slice(word.length + 1))
  return Either.left(unknown(next, known, `harness ${word}`))
}

const asksFor = (argv: ReadonlyArray<string>, shape: OptionShape): boolean => {
  const end = argv.indexOf("--")
  return argv.slice(0, end < 0 ? undefined : end).some((word) => shape.names.includes(word))
}

/** Whether a command line wants answers for programs, also when it cannot be understood. */
export const wantsJson = (argv: ReadonlyArray<string>): boolean => asksFor(argv, { names: ["--json"], repeated: false })

/** Understands a command line. */
export const understand = (
  argv: ReadonlyArray<string>,
  commands: ReadonlyArray<Command>
): Effect.Effect<Request, CliFailure> =>
  Effect.gen(function* () {
    const found = yield* find(argv, commands)
    if (asksFor(found?.rest ?? argv, help)) {
      return found === undefined ? { _tag: "Help" } : { _tag: "Help", topic: found.topic }
    }
    if (asksFor(argv, version)) return { _tag: "Version" }
    if (found === undefined) {
      yield* takeApart(argv, everyOption(commands))
      return { _tag: "Help" }
    }
    const { command, rest } = found
    const running = yield* Effect.flatMap(takeApart(rest, command.options), command.understand).pipe(
      Effect.mapError(({ hint, message }) => misused(message, hint ?? `\`harness ${command.name} --help\` says how`))
    )
    return { _tag: "Run", command, running }
  })
