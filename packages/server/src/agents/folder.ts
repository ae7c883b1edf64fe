import type { Dirent } from "node:fs"
import { type FileHandle, readdir } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Either } from "effect"
import { openJudged } from "../workspace/openJudged.ts"
import { isInside, locate, type PathError, type Place, pathError } from "../workspace/paths.ts"
import type { Agent } from "./Agent.ts"

/** Agents of one folder; more files are named and not read. */
export const FILES_MAX = 100
/** Bytes of one file; a longer one is named and not read. */
export const FILE_MAX_BYTES = 262_144

/** What a file was when it was read: the same again need not be. */
interface Stamp {
  readonly mtimeMs: number
  readonly ctimeMs: number
  readonly size: number
  readonly ino: number
}

/** A file as it was last read: an agent, or why it is none. */
export interface ReadFile {
  readonly stamp: Stamp
  readonly agent: Either.Either<Agent, string>
}

/** A folder's files by name, in order, and what is wrong with the folder as a whole. */
export interface Folder {
  readonly files: ReadonlyMap<string, ReadFile>
  readonly problem?: string
}

const EMPTY: Folder = { files: new Map() }

const same = (a: Stamp, b: Stamp): boolean =>
  a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.size === b.size && a.ino === b.ino

const decoder = new TextDecoder("utf-8", { fatal: true })

const readText = (handle: FileHandle, size: number) =>
  Effect.gen(function* () {
    const buffer = Buffer.alloc(size)
    let held = 0
    while (held < size) {
      const { bytesRead } = yield* Effect.tryPromise({
        try: () => handle.read(buffer, held, size - held, held),
        catch: pathError
      })
      if (bytesRead === 0) break
      held += bytesRead
    }
    return Either.try({ try: () => decoder.decode(buffer.subarray(0, held)), catch: () => "is not UTF-8 text" })
  })

const parsed = (name: string, place: Place, source: "workdir" | "data") =>
  Effect.gen(function* () {
    const handle = yield* openJudged(place)
    const text = yield* readText(handle, place.stats?.size ?? 0)
    // Read with the first file: most places have none, and YAML takes its time.
    const { parseAgent } = yield* Effect.promise(() => import("./agentFile.ts"))
    return Either.flatMap(text, (read) => parseAgent(name, read, source))
  }).pipe(Effect.scoped)

const reasons: Partial<Record<PathError["code"], string>> = {
  "path.loop": "is a link that leads round in a circle",
  "path.not_found": "is a link to nothing",
  "path.changed": "changed while it was read"
}

const none: Stamp = { mtimeMs: 0, ctimeMs: 0, size: 0, ino: 0 }
const refused = (reason: string, stamp: Stamp = none): ReadFile => ({ stamp, agent: Either.left(reason) })

/** One file, anew if it is another than `known`. A link may lead anywhere inside `within`, and nowhere else. */
const readOne = (
  at: { readonly folder: string; readonly within: string; readonly source: "workdir" | "data" },
  name: string,
  known: ReadFile | undefined
): Effect.Effect<ReadFile> =>
  Effect.gen(function* () {
    const place = yield* locate(at.folder, name)
    if (!isInside(at.within, place.path)) return refused("is a link to outside")
    const { stats } = place
    if (stats === undefined) return refused("is a link to nothing")
    const stamp: Stamp = { mtimeMs: stats.mtimeMs, ctimeMs: stats.ctimeMs, size: stats.size, ino: stats.ino }
    if (known !== undefined && same(known.stamp, stamp)) return known
    if (!stats.isFile()) return refused("is no file", stamp)
    if (stats.size > FILE_MAX_BYTES) return refused(`is longer than ${FILE_MAX_BYTES} bytes`, stamp)
    return { stamp, agent: yield* parsed(name, place, at.source) }
  }).pipe(Effect.catchAll(({ code }: PathError) => Effect.succeed(refused(reasons[code] ?? "cannot be read"))))

const named = (entries: ReadonlyArray<Dirent>): ReadonlyArray<string> =>
  entries
    .filter((entry) => entry.name.endsWith(".md") && !entry.isDirectory())
    .map(({ name }) => name)
    .toSorted()

/**
 * The agents of a folder as they are now; what has not changed since `known` is not read again. `within`: free of links,
 * and nothing outside it is looked at. A folder that is not there has none.
 */
export const readFolder = (
  at: { readonly folder: string; readonly within: string; readonly source: "workdir" | "data" },
  known: Folder = EMPTY
): Effect.Effect<Folder> =>
  Effect.gen(function* () {
    const place = yield* locate(at.folder, ".")
    if (place.stats?.isDirectory() !== true) return EMPTY
    if (!isInside(at.within, place.path)) return { files: new Map(), problem: "is a link to outside" }
    const names = named(
      yield* Effect.tryPromise({ try: () => readdir(place.path, { withFileTypes: true }), catch: pathError })
    )
    const read = yield* Effect.forEach(
      names.slice(0, FILES_MAX),
      (name) =>
        Effect.map(
          readOne({ ...at, folder: place.path }, name, known.files.get(name)),
          (file) => [name, file] as const
        ),
      { concurrency: 8 }
    )
    const more = names.length - FILES_MAX
    return {
      files: new Map(read),
      ...(more > 0 ? { problem: `holds ${more} files more than the ${FILES_MAX} that are read` } : {})
    }
  }).pipe(
    Effect.catchAll(({ code }) =>
      Effect.succeed<Folder>(code === "path.not_found" ? EMPTY : { files: new Map(), problem: "cannot be read" })
    )
  )

/** The folders of files an agent of this workdir may be in, nearest first. Both are free of links, and one inside the other. */
export const foldersAbove = (root: string, workdir: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (let at = workdir; isInside(root, at); ) {
    found.push(join(at, ".harness", "agents"))
    const up = join(at, "..")
    if (up === at) break
    at = up
  }
  return found
}
