import { Effect } from "effect"
import type { Command, Redirect, SyntaxNode } from "unbash"
import { hiddenIn } from "./shellDisguise.ts"
import { PORTABLE, readTree, type ShellWord, wordOf } from "./shellTree.ts"

/** A shell line as the permission rules see it: one pattern for each command, and for each file it reads or writes. */
export interface ShellLine {
  readonly patterns: ReadonlyArray<string>
  readonly disguises: ReadonlyArray<{ readonly pattern: string; readonly of: string }>
  readonly unparsed: boolean
}

interface Reading {
  readonly patterns: Set<string>
  readonly disguises: Map<string, { readonly pattern: string; readonly of: string }>
  readonly scripts: Array<string>
  unparsed: boolean
}

const PATTERNS_MAX = 200
const SCRIPTS_DEEP_MAX = 4
/** Places that keep nothing and tell nothing. */
const NOWHERE = new Set(["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"])

const readRedirect = (redirect: Redirect, reading: Reading): void => {
  if (redirect.target === undefined) {
    reading.unparsed = true
    return
  }
  const target = wordOf(redirect.target)
  if (redirect.operator === ">&" || redirect.operator === "<&") {
    if (!/^(\d+-?|-)$/.test(target.value ?? "")) reading.unparsed = true
    return
  }
  if (redirect.operator === "&>" || redirect.operator === "&>>") reading.unparsed = true
  if (target.value !== undefined && NOWHERE.has(target.value)) return
  reading.patterns.add(`${redirect.operator === ">|" ? ">" : redirect.operator} ${target.text}`)
}

const textOf = (words: ReadonlyArray<ShellWord>): string => words.map((word) => word.text).join(" ")

const readCommand = (command: Command, reading: Reading): void => {
  const assigned = command.prefix.flatMap((part): ReadonlyArray<ShellWord> => {
    if (part.type !== "Assignment") return []
    const value = part.value.type === "Word" ? wordOf(part.value) : { text: part.text, value: undefined }
    return [
      value.value === undefined
        ? { text: part.text, value: undefined }
        : { text: `${part.name}=${value.text}`, value: part.text }
    ]
  })
  const words = [...(command.name === undefined ? [] : [command.name]), ...command.args].map(
    (word): ShellWord => (word.type === "Word" ? wordOf(word) : { text: word.text, value: undefined })
  )
  const whole = textOf([...assigned, ...words])
  if (whole === "") return
  reading.patterns.add(whole)
  const hidden = hiddenIn(words)
  const names = assigned.length > 0 && words.length > 0 ? [textOf(words), ...hidden.names] : hidden.names
  for (const pattern of names) reading.disguises.set(`${whole}\0${pattern}`, { pattern, of: whole })
  reading.scripts.push(...hidden.scripts)
  if (hidden.unknown) reading.unparsed = true
}

const readNode = (
  node: SyntaxNode,
  reading: Reading,
  each: (node: SyntaxNode, visit: (child: SyntaxNode) => void) => void
): void => {
  if (!PORTABLE.has(node.type)) reading.unparsed = true
  if (node.type === "Script" && (node.errors?.length ?? 0) > 0) reading.unparsed = true
  if (node.type === "CommandExpansion" && node.script === undefined) reading.unparsed = true
  if (node.type === "Command") readCommand(node, reading)
  if (node.type === "Redirect") readRedirect(node, reading)
  each(node, (child) => readNode(child, reading, each))
}

const readInto = (line: string, reading: Reading, deep: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { forEachChild, tree } = yield* readTree(line)
    if (!tree.sound || deep > SCRIPTS_DEEP_MAX) reading.unparsed = true
    // A tolerant parser is still somebody else's code, and the line is the model's.
    yield* Effect.try(() => readNode(tree.script, reading, forEachChild)).pipe(
      Effect.orElse(() =>
        Effect.sync(() => {
          reading.unparsed = true
        })
      )
    )
    if (deep > SCRIPTS_DEEP_MAX) return
    for (const script of reading.scripts.splice(0)) yield* readInto(script, reading, deep + 1)
  })

/**
 * What a line would run. Every command in it counts, wherever it stands: after `&&`, `;`, `|`, in `$(…)`, backticks,
 * functions, loops, here-documents, `sh -c`. What cannot be known from the line makes it `unparsed`.
 */
export const readShellLine = (line: string): Effect.Effect<ShellLine> =>
  Effect.gen(function* () {
    const reading: Reading = { patterns: new Set(), disguises: new Map(), scripts: [], unparsed: false }
    yield* readInto(line, reading, 0)
    const whole = line.trim()
    if (reading.patterns.size > PATTERNS_MAX) {
      const all = [...reading.patterns, ...[...reading.disguises.values()].map(({ pattern }) => pattern)]
      return { patterns: [whole], disguises: all.map((pattern) => ({ pattern, of: whole })), unparsed: true }
    }
    if (reading.unparsed || reading.patterns.size === 0) reading.patterns.add(whole)
    return {
      patterns: [...reading.patterns],
      disguises: [...reading.disguises.values()],
      unparsed: reading.unparsed
    }
  })
