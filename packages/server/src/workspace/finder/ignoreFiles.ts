import { type FileHandle, lstat, open } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Option } from "effect"
import ignore, { type Ignore } from "ignore"
import type { OpenFolder } from "../openFolder.ts"
import { nameFrom, READ_FLAGS } from "../paths.ts"

/** The ignore files of one folder, by ripgrep's order of importance. */
export interface IgnoreRules {
  readonly folder: string
  readonly kinds: ReadonlyArray<Ignore | undefined>
  /** A repository begins here: git's rules from above say nothing about what is below. */
  readonly git: boolean
}

/** Strongest first. The last two are git's. */
const FILES = [".rgignore", ".ignore", ".gitignore", ".git/info/exclude"]
const GIT_FROM = 2
const FILE_MAX_BYTES = 1_048_576
const STARS_MAX = 3

/** The library tries every way to share a name among the stars: with many of them, one name could take for ever. */
const isCheap = (line: string): boolean =>
  line.split("/").every((name) => (name.match(/\*+/g)?.length ?? 0) <= STARS_MAX)

const parse = (text: string): Ignore =>
  ignore({ ignorecase: false, allowRelativePaths: true }).add(
    text
      .replace(/^\uFEFF/, "")
      .split(/\r?\n/)
      .filter(isCheap)
  )

const readAll = (handle: FileHandle) =>
  Effect.gen(function* () {
    const stats = yield* Effect.tryPromise(() => handle.stat())
    if (!stats.isFile() || stats.size > FILE_MAX_BYTES) return yield* Effect.fail("not an ignore file" as const)
    return yield* Effect.tryPromise(() => handle.readFile("utf8"))
  })

const readFile = (path: string): Effect.Effect<Ignore | undefined> =>
  Effect.acquireUseRelease(
    Effect.tryPromise(() => open(path, READ_FLAGS)),
    readAll,
    (handle) => Effect.promise(() => handle.close()).pipe(Effect.ignoreLogged)
  ).pipe(
    Effect.map(parse),
    Effect.orElseSucceed(() => undefined)
  )

/** What the ignore files of a folder say; what cannot be read says nothing. */
export const readRules = (folder: OpenFolder): Effect.Effect<IgnoreRules> =>
  Effect.gen(function* () {
    const kinds = yield* Effect.forEach(FILES, (name) => readFile(join(folder.own, name)))
    const git = yield* Effect.option(Effect.tryPromise(() => lstat(join(folder.own, ".git"))))
    return { folder: folder.path, kinds, git: Option.isSome(git) }
  })

const verdictOf = (rules: Ignore | undefined, path: string): "hide" | "show" | undefined => {
  const { ignored, unignored } = rules?.test(path) ?? { ignored: false, unignored: false }
  return ignored ? "hide" : unignored ? "show" : undefined
}

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
      const verdict = verdictOf(kinds[kind], nameFrom(folder, path) + (isFolder ? "/" : ""))
      if (verdict !== undefined) return verdict
      if (git && kind >= GIT_FROM) break
    }
  }
  return undefined
}
