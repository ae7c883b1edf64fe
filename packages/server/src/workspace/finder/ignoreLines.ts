import { Either } from "effect"
import { RE2JS } from "re2js"
import { globSource } from "./globSource.ts"

interface IgnoreLine {
  readonly verdict: "hide" | "show"
  readonly foldersOnly: boolean
  readonly matches: (path: string, name: string) => boolean
}

/** The lines of one ignore file that say something, the last first. */
export type IgnoreLines = ReadonlyArray<IgnoreLine>

/** Blanks at the end of a line mean nothing, but for one after a backslash. */
const withoutBlanks = (line: string): string => {
  let end = line.length
  while (end > 0 && (line[end - 1] === " " || line[end - 1] === "\t") && line[end - 2] !== "\\") end -= 1
  return line.slice(0, end)
}

const isPlain = (glob: string): boolean => !/[*?[\]{}\\]/.test(glob)

// Most lines are a name or an ending, and every file is asked about every line.
const matcherOf = (glob: string, anchored: boolean): IgnoreLine["matches"] | undefined => {
  if (isPlain(glob)) return anchored ? (path) => path === glob : (_, name) => name === glob
  if (!anchored && glob.startsWith("*") && isPlain(glob.slice(1))) return (_, name) => name.endsWith(glob.slice(1))
  return Either.try(() => RE2JS.compile(`^(?:${globSource(glob)})$`, RE2JS.DOTALL)).pipe(
    Either.map((compiled) => (path: string, name: string) => compiled.matches(anchored ? path : name)),
    Either.getOrElse(() => undefined)
  )
}

const parseLine = (raw: string): ReadonlyArray<IgnoreLine> => {
  const line = withoutBlanks(raw)
  if (line === "" || line.startsWith("#")) return []
  const shows = line.startsWith("!")
  const told = shows ? line.slice(1) : line
  const foldersOnly = told.endsWith("/")
  const glob = foldersOnly ? told.slice(0, -1) : told
  const anchored = glob.includes("/")
  const matches = matcherOf(glob.replace(/^\//, ""), anchored)
  return glob === "" || matches === undefined ? [] : [{ verdict: shows ? "show" : "hide", foldersOnly, matches }]
}

/**
 * An ignore file as git and ripgrep read it. Ours because the libraries for it cannot be asked about a path without its
 * parents, as ripgrep asks, and take for ever over a line of many stars, which may be anybody's.
 */
export const parseIgnore = (text: string): IgnoreLines =>
  text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .flatMap(parseLine)
    .reverse()

/** What the lines say about a path from their folder; the last that fits decides. */
export const judgeByLines = (lines: IgnoreLines, path: string, isFolder: boolean): "hide" | "show" | undefined => {
  const name = path.slice(path.lastIndexOf("/") + 1)
  return lines.find((line) => (isFolder || !line.foldersOnly) && line.matches(path, name))?.verdict
}
