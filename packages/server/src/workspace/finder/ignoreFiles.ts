import { type FileHandle, lstat, open } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Option } from "effect"
import type { OpenFolder } from "../openFolder.ts"
import { nameFrom, READ_FLAGS } from "../paths.ts"
import { type IgnoreLines, judgeByLines, parseIgnore } from "./ignoreLines.ts"

/** The ignore files of one folder, by ripgrep's order of importance. */
export interface IgnoreRules {
  readonly folder: string
  readonly kinds: ReadonlyArray<IgnoreLines | undefined>
  /** A repository begins here: git's rules from above say nothing about what is below. */
  readonly git: boolean
}

/** Strongest first. The last two are git's. */
const FILES = [".rgignore", ".ignore", ".gitignore", ".git/info/exclude"]
const GIT_FROM = 2
const FILE_MAX_BYTES = 1_048_576
const readAll = (handle: FileHandle) =>
  Effect.gen(function* () {
    const stats = yield* Effect.tryPromise(() => handle.stat())
    if (!stats.isFile() || stats.size > FILE_MAX_BYTES) return yield* Effect.fail("not an ignore file" as const)
    return yield* Effect.tryPromise(() => handle.readFile("utf8"))
  })

const readFile = (path: string): Effect.Effect<IgnoreLines | undefined> =>
  Effect.acquireUseRelease(
    Effect.tryPromise(() => open(path, READ_FLAGS)),
    readAll,
    (handle) => Effect.promise(() => handle.close()).pipe(Effect.ignoreLogged)
  ).pipe(
    Effect.map(parseIgnore),
    Effect.orElseSucceed(() => undefined)
  )

/** What the ignore files of a folder say; what cannot be read says nothing. */
export const readRules = (folder: OpenFolder): Effect.Effect<IgnoreRules> =>
  Effect.gen(function* () {
    const kinds = yield* Effect.forEach(FILES, (name) => readFile(join(folder.own, name)))
    const git = yield* Effect.option(Effect.tryPromise(() => lstat(join(folder.own, ".git"))))
    return { folder: folder.path, kinds, git: Option.isSome(git) }
  })

/**
 * What the rules say about a path, by the nearest folder that says anything; `nearest` comes first. A stronger kind of
 * file wins from any folder.
 */
export const judgeIgnored = (
  nearest: ReadonlyArray<IgnoreRules>,
  path: string,
  isFolder: boolean
): "hide" | "show" | undefined => {
  for (const kind of FILES.keys()) {
    for (const { folder, git, kinds } of nearest) {
      const lines = kinds[kind]
      const verdict = lines === undefined ? undefined : judgeByLines(lines, nameFrom(folder, path), isFolder)
      if (verdict !== undefined) return verdict
      if (git && kind >= GIT_FROM) break
    }
  }
  return undefined
}
