import { join } from "node:path"
import { Effect, Either, Option, Stream } from "effect"
import { RE2JS } from "re2js"
import type { OpenFolder } from "../openFolder.ts"
import { openFile } from "../openJudged.ts"
import { pathError } from "../paths.ts"
import { FinderError } from "./finderError.ts"
import { excerptOf, type FileLines, LINES_PER_FILE_MAX } from "./lines.ts"

/** Larger files are left out: they are read whole, and looking through them stops everybody else. */
const FILE_MAX_BYTES = 8_388_608

const encodingOf = (bytes: Uint8Array): string =>
  bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8"

/** None where the file is binary, or nothing in it fits. */
const linesIn = (file: string, bytes: Uint8Array, pattern: RE2JS): Option.Option<FileLines> => {
  const text = new TextDecoder(encodingOf(bytes)).decode(bytes)
  if (text.includes("\0")) return Option.none()
  const all = text.split("\n")
  if (all.at(-1) === "") all.pop()
  const lines: Array<FileLines["lines"][number]> = []
  for (const [index, raw] of all.entries()) {
    const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw
    const matcher = pattern.matcher(line)
    if (!matcher.find()) continue
    lines.push({ line: index + 1, text: excerptOf(line, matcher.start()) })
    if (lines.length >= LINES_PER_FILE_MAX) break
  }
  return lines.length === 0 ? Option.none() : Option.some({ file, lines })
}

const scanFile = (folder: OpenFolder, file: string, pattern: RE2JS): Effect.Effect<Option.Option<FileLines>> =>
  Effect.gen(function* () {
    const handle = yield* openFile(join(folder.path, file))
    const stats = yield* Effect.tryPromise({ try: () => handle.stat(), catch: pathError })
    if (!stats.isFile() || stats.size > FILE_MAX_BYTES) return Option.none()
    const bytes = yield* Effect.tryPromise({ try: () => handle.readFile(), catch: pathError })
    return linesIn(file, bytes, pattern)
  }).pipe(
    Effect.scoped,
    Effect.orElseSucceed(() => Option.none())
  )

/** Looks through the files with RE2: no pattern takes more than its length times the text's. */
export const scan = (
  folder: OpenFolder,
  files: ReadonlyArray<string>,
  pattern: string
): Stream.Stream<FileLines, FinderError> =>
  Either.match(Either.try({ try: () => RE2JS.compile(pattern), catch: FinderError.pattern }), {
    onLeft: (error) => Stream.fail(error),
    onRight: (compiled) =>
      Stream.fromIterable(files).pipe(
        Stream.mapEffect((file) => scanFile(folder, file, compiled)),
        Stream.filterMap((found) => found)
      )
  })
