import { parseArgs } from "node:util"
import { Either } from "effect"
import { type CliFailure, misused } from "./failures.ts"
import { nearestTo } from "./nearest.ts"

/** An option as the command line knows it. */
export interface OptionShape {
  /** With their dashes, the long one first. */
  readonly names: readonly [string, ...ReadonlyArray<string>]
  /** What its value is called; none: it is on or off. */
  readonly value?: string
  readonly repeated: boolean
}

/** A command line, taken apart. */
export interface Taken {
  /** Option name and value after each other, in the one form that cannot be read in two ways. */
  readonly options: ReadonlyArray<string>
  /** Everything else, in order. */
  readonly words: ReadonlyArray<string>
}

type Token = NonNullable<ReturnType<typeof parseArgs>["tokens"]>[number]
type OptionToken = Extract<Token, { readonly kind: "option" }>

const longName = (shape: OptionShape): string => shape.names[0].slice(2)

const tokensOf = (argv: ReadonlyArray<string>, shapes: ReadonlyArray<OptionShape>): ReadonlyArray<Token> => {
  const options = Object.fromEntries(
    shapes.map((shape) => {
      const short = shape.names.find((name) => name.length === 2)?.slice(1)
      const type = shape.value === undefined ? ("boolean" as const) : ("string" as const)
      return [longName(shape), { type, multiple: true, ...(short === undefined ? {} : { short }) }]
    })
  )
  return parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true }).tokens ?? []
}

/**
 * Where the first word stands that is no option and no option's value. `shapes` are the options of every command: which
 * command this is for, nobody knows yet.
 */
export const firstWord = (argv: ReadonlyArray<string>, shapes: ReadonlyArray<OptionShape>): number | undefined => {
  const token = tokensOf(argv, shapes).find((one) => one.kind !== "option")
  return token?.kind === "positional" ? token.index : undefined
}

/**
 * Takes a command line apart, strictly: an option nobody declared, a value left out and an option given twice are
 * errors, and never become part of a prompt. After `--` everything is a word.
 */
export const takeApart = (
  argv: ReadonlyArray<string>,
  shapes: ReadonlyArray<OptionShape>
): Either.Either<Taken, CliFailure> => {
  const options: Array<string> = []
  const words: Array<string> = []
  const seen = new Set<string>()
  for (const token of tokensOf(argv, shapes)) {
    if (token.kind === "positional") words.push(token.value)
    if (token.kind !== "option") continue
    const shape = shapes.find(({ names }) => names[0] === `--${token.name}`)
    const problem = shape === undefined ? unknown(token, shapes) : problemWith(token, shape, seen)
    if (problem !== undefined) return Either.left(problem)
    seen.add(token.name)
    options.push(`--${token.name}`, token.value ?? "true")
  }
  return Either.right({ options, words })
}

const unknown = (token: OptionToken, shapes: ReadonlyArray<OptionShape>): CliFailure => {
  const near = nearestTo(
    token.rawName,
    shapes.flatMap(({ names }) => names)
  )
  return misused(`unknown option ${token.rawName}`, near === undefined ? undefined : `did you mean ${near}?`)
}

const problemWith = (token: OptionToken, shape: OptionShape, seen: ReadonlySet<string>): CliFailure | undefined => {
  const { inlineValue, name, rawName, value } = token
  if (seen.has(name) && !shape.repeated) return misused(`${rawName} is given twice`)
  if (shape.value === undefined) return value === undefined ? undefined : misused(`${rawName} takes no value`)
  if (value === undefined) return misused(`${rawName} needs a value: ${rawName} ${shape.value}`)
  // `--session --json` is a value left out; `--title=--json` is meant.
  return !inlineValue && value.startsWith("-") && value !== "-"
    ? misused(`${rawName} needs a value; one that starts with a dash is written ${shape.names[0]}=${value}`)
    : undefined
}
