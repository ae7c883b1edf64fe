import { Effect } from "effect"
import type { ParsedScript, SyntaxNode, Word } from "unbash"

/** One word of a command: as the rules see it, and what it means where that is known before it runs. */
export interface ShellWord {
  readonly text: string
  readonly value: string | undefined
}

/** A shell line as a tree. `sound`: two parsers agree that it is whole, and that any `sh` reads it this way. */
export interface ShellTree {
  readonly script: ParsedScript
  readonly sound: boolean
}

const LINE_MAX_LENGTH = 65_536

const NOTHING: ParsedScript = { type: "Script", pos: 0, end: 0, shebang: undefined, commands: [] }

const parsers = () => Promise.all([import("unbash"), import("sh-syntax")])
let loaded: ReturnType<typeof parsers> | undefined
// A promise, not Effect.cached: that would keep the interruption of a first caller who was cancelled, for everybody.
const load = Effect.promise(() => {
  loaded ??= parsers()
  return loaded
})

/**
 * Reads a line twice: unbash gives the tree, but reads every line as bash and mends what is broken; mvdan/sh, strict and
 * POSIX, gives no tree, and says whether the line is whole and how many statements it has.
 */
export const readTree = (line: string) =>
  Effect.gen(function* () {
    const [{ parse, forEachChild }, { LangVariant, parse: check }] = yield* load
    const script = yield* Effect.try(() => parse(line)).pipe(Effect.orElseSucceed(() => NOTHING))
    const statements = yield* Effect.tryPromise(() => check(line, { variant: LangVariant.LangPOSIX })).pipe(
      Effect.match({ onFailure: () => -1, onSuccess: (file) => file.Stmts.length })
    )
    const sound = line.length <= LINE_MAX_LENGTH && statements === script.commands.length
    return { tree: { script, sound } satisfies ShellTree, forEachChild }
  })

const isStatic = (word: Word): boolean =>
  (word.parts ?? []).every(
    (part) =>
      part.type === "Literal" ||
      part.type === "SingleQuoted" ||
      (part.type === "DoubleQuoted" && part.parts.every((inner) => inner.type === "Literal"))
  )

const quoted = (value: string): string =>
  /^[\w@%+=:,./^-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`

/** Quotes and backslashes are taken off, and put back in one way only where the word would read as something else. */
export const wordOf = (word: Word): ShellWord => {
  if (!isStatic(word)) return { text: word.text, value: undefined }
  return { text: word.text === word.value ? word.text : quoted(word.value), value: word.value }
}

/** Kinds of node every `sh` reads alike. Anything else could be one thing here and another there. */
export const PORTABLE: ReadonlySet<SyntaxNode["type"]> = new Set<SyntaxNode["type"]>([
  "Script",
  "Statement",
  "CompoundList",
  "AndOr",
  "Pipeline",
  "Negation",
  "Time",
  "Subshell",
  "BraceGroup",
  "If",
  "Elif",
  "While",
  "For",
  "Case",
  "CaseItem",
  "Function",
  "Redirected",
  "Command",
  "Assignment",
  "Redirect",
  "FileDescriptor",
  "HereDoc",
  "HereDocDelimiter",
  "HereDocBody",
  "Word",
  "Literal",
  "Glob",
  "BraceExpansion",
  "SingleQuoted",
  "DoubleQuoted",
  "SimpleExpansion",
  "ParameterExpansion",
  "Default",
  "Remove",
  "CommandExpansion",
  "ArithmeticExpansion",
  "ArithmeticBinary",
  "ArithmeticUnary",
  "ArithmeticTernary",
  "ArithmeticGroup",
  "ArithmeticWord",
  "ArithmeticCommandExpansion"
])
