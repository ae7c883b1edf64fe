import type { Dirent } from "node:fs"
import { readdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import { type OpenFolder, openFolder } from "../openFolder.ts"
import { type PathError, pathError } from "../paths.ts"
import { type IgnoreRules, judgeIgnored, readRules } from "./ignoreFiles.ts"

/** Files below a folder, sorted, and whether there are more than that. */
export interface Files {
  readonly names: ReadonlyArray<string>
  readonly more: boolean
}

/** Files that are looked at in one search. */
export const FILES_MAX = 100_000

/** Folders in folders, each of which holds a file open. */
const DEPTH_MAX = 200

/** By code units, so that every engine sorts alike on every machine. */
export const byName = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

/** A name that is no UTF-8 comes with U+FFFD in it, and leads nowhere. */
export const isNameable = (name: string): boolean => !name.includes("\uFFFD")

const rulesAbove = (path: string): Effect.Effect<ReadonlyArray<IgnoreRules>> => {
  const parent = dirname(path)
  if (parent === path) return Effect.succeed([])
  return Effect.gen(function* () {
    const own = yield* openFolder(parent).pipe(Effect.flatMap(readRules), Effect.scoped, Effect.option)
    const above = yield* rulesAbove(parent)
    return own._tag === "Some" ? [own.value, ...above] : above
  })
}

const entriesOf = (folder: OpenFolder): Effect.Effect<ReadonlyArray<Dirent>, PathError> =>
  Effect.tryPromise({ try: () => readdir(folder.own, { withFileTypes: true }), catch: pathError })

/** Walks as ripgrep does: ignore files from here up to the top are heard, no link is followed, `.git` is left alone. */
export const walk = (folder: OpenFolder, options: { readonly hidden: boolean }): Effect.Effect<Files, PathError> =>
  Effect.gen(function* () {
    const names: Array<string> = []
    const above = yield* rulesAbove(folder.path)

    const visit = (
      at: OpenFolder,
      prefix: string,
      outer: ReadonlyArray<IgnoreRules>,
      depth: number
    ): Effect.Effect<void, PathError> =>
      Effect.gen(function* () {
        const entries = yield* entriesOf(at)
        const rules = [yield* readRules(at), ...outer]
        for (const entry of entries) {
          if (names.length > FILES_MAX) return
          const isFolder = entry.isDirectory()
          if ((!isFolder && !entry.isFile()) || entry.name === ".git" || !isNameable(entry.name)) continue
          const verdict = judgeIgnored(rules, join(at.path, entry.name), isFolder)
          const hidden = entry.name.startsWith(".") && !options.hidden && verdict !== "show"
          if (verdict === "hide" || hidden) continue
          if (!isFolder) names.push(prefix + entry.name)
          else if (depth < DEPTH_MAX) {
            // What cannot be opened, or became something else, has nothing to show.
            yield* openFolder(join(at.path, entry.name)).pipe(
              Effect.flatMap((inner) => visit(inner, `${prefix}${entry.name}/`, rules, depth + 1)),
              Effect.scoped,
              Effect.ignore
            )
          }
        }
      })

    yield* visit(folder, "", above, 1)
    return { names: names.slice(0, FILES_MAX).sort(byName), more: names.length > FILES_MAX }
  })
