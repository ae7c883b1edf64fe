import * as Args from "@effect/cli/Args"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as ValidationError from "@effect/cli/ValidationError"
import { decodeProtocol, ServerName } from "@harness/protocol"
import { Effect, Option, Schema } from "effect"

const reading =
  <A, I>(name: string, schema: Schema.Schema<A, I>) =>
  (text: string) =>
    decodeProtocol(schema)(text).pipe(
      Effect.mapError(({ issues }) => HelpDoc.p(`${name} ${issues[0]?.reason ?? "cannot be read"}`))
    )
const readingOption = <A, I>(name: string, schema: Schema.Schema<A, I>) => {
  const reads = reading(name, schema)
  return (text: string) => Effect.mapError(reads(text), ValidationError.invalidValue)
}

/** An id, and in words what one looks like. */
export const id = <A, I>(schema: Schema.Schema<A, I>): Schema.Schema<A, I> =>
  schema.annotations({ description: "an id: letters, digits, dots, dashes and underscores, at most 128" })

/** On or off. */
export const toggle = (name: string, about: string): Options.Options<boolean> =>
  Options.boolean(name).pipe(Options.withDescription(about))

/** Any text; `label` is what the help calls it. */
export const text = (name: string, label: string, about: string): Options.Options<string | undefined> =>
  Options.text(name).pipe(
    Options.withPseudoName(`<${label}>`),
    Options.withDescription(about),
    Options.optional,
    Options.map(Option.getOrUndefined)
  )

/** Text a schema can read. */
export const read = <A, I>(
  name: string,
  label: string,
  about: string,
  schema: Schema.Schema<A, I>
): Options.Options<A | undefined> =>
  Options.text(name).pipe(
    Options.withPseudoName(`<${label}>`),
    Options.withDescription(about),
    Options.mapEffect(readingOption(`--${name}`, schema)),
    Options.optional,
    Options.map(Option.getOrUndefined)
  )

/** One that may not be left out. */
export const required = <A>(name: string, option: Options.Options<A | undefined>): Options.Options<A> =>
  Options.filterMap(
    option,
    (value) => (value === undefined ? Option.none() : Option.some(value)),
    `--${name} is missing`
  )

/** The same option any number of times; values may also be put together with commas. */
export const list = <A, I>(
  name: string,
  label: string,
  about: string,
  schema: Schema.Schema<A, I>
): Options.Options<ReadonlyArray<A>> =>
  Options.text(name).pipe(
    Options.withPseudoName(`<${label}>`),
    Options.withDescription(about),
    Options.repeated,
    Options.mapEffect((values) =>
      Effect.forEach(
        values
          .flatMap((value) => value.split(","))
          .map((value) => value.trim())
          .filter((value) => value !== ""),
        readingOption(`--${name}`, schema)
      )
    )
  )

const digits = Schema.String.pipe(Schema.pattern(/^\d{1,15}$/, { description: "a whole number" }))

const numberIn = <A>(text: Schema.Schema<string>, number: Schema.Schema<A, number>) =>
  Schema.transform(text, number, { strict: true, decode: Number, encode: String })

/** A whole number in plain digits, not too small and not too large. */
export const digitsBetween = (least: number, most: number) => {
  const description =
    most === Number.MAX_SAFE_INTEGER ? `a whole number from ${least}` : `a whole number from ${least} to ${most}`
  return numberIn(digits, Schema.Int.pipe(Schema.between(least, most, { description })))
}

/** An amount of money. */
export const dollars = numberIn(
  Schema.String.pipe(Schema.pattern(/^\d{1,9}(\.\d{1,9})?$/, { description: "an amount, for example 0.50" })),
  Schema.Number.pipe(Schema.greaterThan(0, { description: "more than nothing" }))
)

/** More than nothing, at most `most`, perhaps with a fraction. */
export const amountUpTo = (most: number) =>
  numberIn(
    Schema.String.pipe(Schema.pattern(/^\d{1,6}(\.\d{1,6})?$/, { description: "a number, for example 2.5" })),
    Schema.Number.pipe(
      Schema.filter((value) => value > 0 && value <= most, { description: `more than 0, at most ${most}` })
    )
  )

/** A whole number from 0 in plain digits. */
export const wholeNumber = (name: string, label: string, about: string): Options.Options<number | undefined> =>
  read(name, label, about, numberIn(digits, Schema.Number))

/** An argument a schema can read. */
export const argument = <A, I>(name: string, about: string, schema: Schema.Schema<A, I>): Args.Args<A> =>
  Args.text({ name }).pipe(Args.withDescription(about), Args.mapEffect(reading(name, schema)))

/** The same, which may be left out. */
export const maybeArgument = <A, I>(
  name: string,
  about: string,
  schema: Schema.Schema<A, I>
): Args.Args<A | undefined> => argument(name, about, schema).pipe(Args.optional, Args.map(Option.getOrUndefined))

/** No arguments at all. */
export const noArguments = Args.none

/** Where the server is, and who asks. */
export const connection = {
  url: text("url", "url", "Address of the server; HARNESS_URL, else http://127.0.0.1:4700"),
  token: text("token", "token", "Who asks; HARNESS_TOKEN, else the token in this machine's data folder")
}

const serverName = ServerName.annotations({ description: "a name: small letters, digits and dashes, at most 63" })

/** Which of the process's servers. */
export const server = read("server", "name", "Name of the server the session belongs to; default", serverName).pipe(
  Options.map((name) => name ?? ServerName.make("default"))
)

/** Answers for programs. */
export const json = toggle("json", 'Print JSON, and errors as {"error": …} on the last line')
