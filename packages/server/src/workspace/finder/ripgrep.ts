import { access, constants } from "node:fs/promises"
import { isAbsolute, join } from "node:path"
import { Duration, Effect, Option, Stream } from "effect"
import type { OpenFolder } from "../openFolder.ts"
import type { FinderError } from "./finderError.ts"
import { type FileLines, LINES_PER_FILE_MAX } from "./lines.ts"
import { gather } from "./messages.ts"
import { pieces } from "./pieces.ts"
import { outputOf } from "./process.ts"
import { byName, FILES_MAX, type Files, isNameable } from "./walk.ts"

/** The oldest that knows every option used here. */
const MAJOR_MIN = 12
const NAME_MAX_BYTES = 8_192
const MESSAGE_MAX_BYTES = 1_048_576
/** Files named on one command line. */
const BATCH_FILES = 1_000
const BATCH_BYTES = 98_304

const RULES = ["--no-config", "--no-messages", "--no-require-git", "--no-ignore-global", "--color=never"]

/** Files below the folder by ripgrep's own rules. */
export const ripgrepFiles = (
  program: string,
  folder: OpenFolder,
  options: { readonly hidden: boolean }
): Effect.Effect<Files, FinderError> => {
  const hidden = options.hidden ? ["--hidden"] : []
  // A negative glob alone leaves every other rule as it is.
  const args = [...RULES, ...hidden, "--files", "--null", "--glob=!.git", "--", "./"]
  return outputOf(program, args, folder.forChild).pipe(
    pieces(0, NAME_MAX_BYTES),
    Stream.map((name) => new TextDecoder().decode(name).replace(/^\.\//, "")),
    Stream.filter(isNameable),
    Stream.take(FILES_MAX + 1),
    Stream.runFold([] as Array<string>, (names, name) => {
      names.push(name)
      return names
    }),
    Effect.map((names) => ({ names: names.slice(0, FILES_MAX).sort(byName), more: names.length > FILES_MAX }))
  )
}

const batches = (files: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const all: Array<Array<string>> = []
  let size = 0
  for (const file of files) {
    const last = all.at(-1)
    size += Buffer.byteLength(file) + 3
    if (last === undefined || last.length >= BATCH_FILES || size > BATCH_BYTES) {
      all.push([file])
      size = Buffer.byteLength(file) + 3
    } else last.push(file)
  }
  return all
}

/** Looks through the files in their order. */
export const ripgrepLines = (
  program: string,
  folder: OpenFolder,
  files: ReadonlyArray<string>,
  pattern: string
): Stream.Stream<FileLines, FinderError> =>
  Stream.fromIterable(batches(files)).pipe(
    Stream.flatMap((batch) => {
      // One thread takes the files in the order they are named.
      const how = ["--json", "--crlf", "--no-mmap", "--threads=1", `--max-count=${LINES_PER_FILE_MAX}`]
      const args = [...RULES, ...how, `--regexp=${pattern}`, "--", ...batch.map((file) => `./${file}`)]
      return outputOf(program, args, folder.forChild).pipe(pieces(0x0a, MESSAGE_MAX_BYTES), gather)
    })
  )

/** The `rg` of the search path, if it is there and new enough. Folders relative to somewhere are no place for programs. */
export const findRipgrep = (searchPath: string): Effect.Effect<Option.Option<string>> =>
  Effect.gen(function* () {
    const candidates = searchPath
      .split(":")
      .filter(isAbsolute)
      .map((folder) => join(folder, "rg"))
    const found = yield* Effect.findFirst(candidates, (candidate) =>
      Effect.tryPromise(() => access(candidate, constants.X_OK)).pipe(
        Effect.as(true),
        Effect.orElseSucceed(() => false)
      )
    )
    if (Option.isNone(found)) return Option.none()
    const version = yield* outputOf(found.value, ["--version"]).pipe(
      Stream.decodeText(),
      Stream.mkString,
      Effect.timeout(Duration.seconds(5)),
      Effect.orElseSucceed(() => "")
    )
    const major = Number(/^ripgrep (\d+)\./.exec(version)?.[1] ?? 0)
    return major >= MAJOR_MIN ? found : Option.none()
  })
