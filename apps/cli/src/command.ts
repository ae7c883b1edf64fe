import * as Args from "@effect/cli/Args"
import * as CliConfig from "@effect/cli/CliConfig"
import type * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import type * as Usage from "@effect/cli/Usage"
import type * as ValidationError from "@effect/cli/ValidationError"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Effect, Option } from "effect"
import type { OptionShape, Taken } from "./argv.ts"
import { type CliFailure, misused } from "./failures.ts"
import { describedItems, textOf } from "./helpDoc.ts"
import type { Surroundings } from "./Surroundings.ts"

/** What a command does, once its command line is understood. */
export type Running = Effect.Effect<void, CliFailure, Surroundings>

/** An option, and what it is for. */
export interface DescribedOption extends OptionShape {
  readonly about: string
}

/** An argument, as the usage line shows it, and what it is for. */
export interface DescribedArgument {
  readonly name: string
  readonly about: string
}

/** A line somebody may type, and what it does. */
export interface Example {
  readonly line: string
  readonly does: string
}

/** One thing the program can do. Its name has two words when it belongs to a group. */
export interface Command {
  readonly name: string
  readonly about: string
  readonly more: ReadonlyArray<string>
  readonly options: ReadonlyArray<DescribedOption>
  readonly args: ReadonlyArray<DescribedArgument>
  readonly examples: ReadonlyArray<Example>
  /** It has something to do when it is stopped; every other command just ends. */
  readonly endsItself: boolean
  /** Options and arguments, checked; what is left is to run it. */
  readonly understand: (taken: Taken) => Effect.Effect<Running, CliFailure>
}

const config = CliConfig.make({ isCaseSensitive: true })

/**
 * A command, from options and arguments of @effect/cli. `run` says what to import, so that a command line costs only the
 * code of its own command.
 */
export const command = <O, A>(spec: {
  readonly name: string
  readonly about: string
  readonly more?: ReadonlyArray<string>
  readonly options: Options.Options<O>
  readonly args: Args.Args<A>
  readonly examples: ReadonlyArray<Example>
  readonly endsItself?: boolean
  readonly run: (options: O, args: A) => Promise<Running>
}): Command => ({
  name: spec.name,
  about: spec.about,
  more: spec.more ?? [],
  options: optionsOf(spec.options),
  args: argumentsOf(spec.args),
  examples: spec.examples,
  endsItself: spec.endsItself ?? false,
  understand: ({ options: given, words }) =>
    Effect.gen(function* () {
      const [problem, unread, options] = yield* Options.processCommandLine(spec.options, given, config)
      if (Option.isSome(problem)) return yield* wrong(problem.value)
      const [left, args] = yield* Args.validate(spec.args, [...unread, ...words], config)
      if (left[0] !== undefined) return yield* misused(`unexpected argument "${left[0]}"`)
      return Effect.flatten(Effect.promise(() => spec.run(options, args)))
    }).pipe(
      Effect.mapError((error) => (error._tag === "CliFailure" ? error : wrong(error))),
      Effect.provide(NodeContext.layer)
    )
})

const wrong = (error: ValidationError.ValidationError): CliFailure => {
  const message = textOf(error.error).join(" ")
  return misused(message === "" ? "this command line makes no sense" : lowerFirst(message))
}

const lowerFirst = (text: string): string =>
  /^[A-Z][a-z]/.test(text) ? text.slice(0, 1).toLowerCase() + text.slice(1) : text

interface Shown {
  readonly names: ReadonlyArray<string>
  readonly value: Option.Option<string>
  readonly repeated: boolean
  readonly optional: boolean
}

const shown = (usage: Usage.Usage, repeated = false, optional = false): ReadonlyArray<Shown> => {
  switch (usage._tag) {
    case "Named":
      return [{ names: usage.names, value: usage.acceptedValues, repeated, optional }]
    case "Optional":
      return shown(usage.usage, repeated, true)
    case "Repeated":
      return shown(usage.usage, true, optional)
    case "Concat":
    case "Alternation":
      return [...shown(usage.left, repeated, optional), ...shown(usage.right, repeated, optional)]
    default:
      return []
  }
}

// The help of an option: what kind of value it takes in words of the library, then what we say about it.
const abouts = (help: HelpDoc.HelpDoc): ReadonlyArray<string> =>
  describedItems(help).map((item) => textOf(item)[1] ?? "")

const optionsOf = <O>(options: Options.Options<O>): ReadonlyArray<DescribedOption> => {
  const about = abouts(Options.getHelp(options))
  return shown(Options.getUsage(options)).map(({ names, repeated, value }, at) => {
    const [first, ...rest] = [...names].sort((a, b) => b.length - a.length)
    return {
      names: [first ?? "", ...rest],
      ...(Option.isSome(value) ? { value: value.value } : {}),
      repeated,
      about: about[at] ?? ""
    }
  })
}

const argumentsOf = <A>(args: Args.Args<A>): ReadonlyArray<DescribedArgument> => {
  const about = abouts(Args.getHelp(args))
  return shown(Args.getUsage(args)).map(({ names, optional, repeated }, at) => {
    const bare = (names[0] ?? "").replace(/^<|>$/g, "")
    const name = repeated ? `${bare}…` : bare
    return { name: optional || repeated ? `[${name}]` : `<${name}>`, about: about[at] ?? "" }
  })
}
