import { constants, type Stats } from "node:fs"
import { lstat, readlink } from "node:fs/promises"
import { dirname, isAbsolute, join, parse, relative, sep } from "node:path"
import { ValidationError } from "@harness/protocol"
import { Data, Effect } from "effect"

/** A path that leads nowhere anybody may look. Names no path. */
export class PathError extends Data.TaggedError("PathError")<{
  readonly code:
    | "path.invalid"
    | "path.loop"
    | "path.no_access"
    | "path.not_found"
    | "path.changed"
    | "path.not_file"
    | "path.not_folder"
    | "path.no_space"
  readonly message: string
}> {}

/** Where a path really leads, every link followed; `stats` is absent where nothing is yet. */
export interface Place {
  readonly path: string
  readonly stats: Stats | undefined
}

// As many as Linux follows.
const LINKS_MAX = 40

/** The system's name of what went wrong; empty when it has none. */
export const errorCode = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : ""

/** What the file system said, as an error without a path. */
export const pathError = (error: unknown): PathError => {
  switch (errorCode(error)) {
    case "ENOENT":
    case "ENOTDIR":
    case "ENAMETOOLONG":
      return new PathError({ code: "path.not_found", message: "There is nothing at this path." })
    case "ELOOP":
      return new PathError({ code: "path.loop", message: "The path follows too many links, or became one." })
    default:
      return new PathError({ code: "path.no_access", message: "The path cannot be opened." })
  }
}

const look = (path: string) => Effect.tryPromise({ try: () => lstat(path), catch: pathError })
const follow = (path: string) => Effect.tryPromise({ try: () => readlink(path), catch: pathError })

const namesOf = (path: string): ReadonlyArray<string> => path.split(sep === "/" ? "/" : /[\\/]/)

/**
 * Where the input leads, from `base` unless it is absolute: names are taken one at a time as the kernel does, so `..`
 * after a link leaves the link's target. What does not exist yet is kept as named.
 */
export const locate = Effect.fn("paths.locate")(function* (base: string, input: string) {
  if (input.includes("\0")) {
    return yield* new PathError({ code: "path.invalid", message: "A path cannot hold a NUL character." })
  }
  const start = isAbsolute(input) ? input : join(base, sep) + input
  let at = parse(start).root
  let names = namesOf(start.slice(at.length))
  let stats: Stats | undefined = yield* look(at)
  let links = 0
  while (names.length > 0) {
    const [name = "", ...rest] = names
    names = rest
    if (name === "" || name === ".") continue
    if (name === "..") {
      at = dirname(at)
      stats = yield* look(at).pipe(Effect.orElseSucceed(() => undefined))
      continue
    }
    const next = join(at, name)
    const found: Stats | undefined = yield* look(next).pipe(
      Effect.catchIf(
        (error) => error.code === "path.not_found",
        () => Effect.succeed(undefined)
      )
    )
    if (found?.isSymbolicLink() === true) {
      links += 1
      if (links > LINKS_MAX) {
        return yield* new PathError({ code: "path.loop", message: "The path follows too many links." })
      }
      const target = yield* follow(next)
      const root = isAbsolute(target) ? parse(target).root : undefined
      names = [...namesOf(target.slice(root?.length ?? 0)), ...names]
      if (root !== undefined) at = root
    } else {
      at = next
      stats = found
    }
  }
  return { path: at, stats } satisfies Place
})

/** Is the path the folder, or in it? Both as `locate` gives them. */
export const isInside = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)

/** A path as rules and messages show it: from the folder, with slashes; the folder itself is `.`. */
export const nameFrom = (folder: string, path: string): string => {
  const name = relative(folder, path)
  return name === "" ? "." : name.split(sep).join("/")
}

const outsideRoot = new ValidationError({
  code: "workdir.outside_root",
  message: "The workdir must be inside the server root."
})
const notFound = new ValidationError({
  code: "workdir.not_found",
  message: "The workdir must be a folder that exists."
})

/**
 * A session's workdir, relative to the root and free of links, so that no link changed later moves it. `workdir` wins
 * over `clientWorkdir`; neither is the root.
 */
export const resolveWorkdir = Effect.fn("paths.resolveWorkdir")(function* (
  root: string,
  wanted: { readonly workdir?: string | undefined; readonly clientWorkdir?: string | undefined }
) {
  const input = wanted.workdir ?? wanted.clientWorkdir ?? "."
  if (wanted.workdir === undefined && wanted.clientWorkdir !== undefined && !isAbsolute(input))
    return yield* outsideRoot
  const home = yield* locate(root, ".").pipe(Effect.mapError(() => notFound))
  const place = yield* locate(home.path, input).pipe(
    Effect.mapError((error) => (error.code === "path.no_access" ? notFound : outsideRoot))
  )
  if (!isInside(home.path, place.path)) return yield* outsideRoot
  if (place.stats?.isDirectory() !== true) return yield* notFound
  return nameFrom(home.path, place.path)
})

/** What a tool's path comes to. */
export interface ToolPath extends Place {
  /** Its name for the rules: relative to the workdir, absolute when outside. */
  readonly pattern: string
  readonly outside: boolean
}

/** The absolute workdir, free of links; refused when it has left the root. */
export const realWorkdir = Effect.fn("paths.realWorkdir")(function* (where: {
  readonly root: string
  readonly workdir: string
}) {
  const root = yield* locate(where.root, ".")
  const workdir = yield* locate(root.path, where.workdir)
  if (!isInside(root.path, workdir.path)) {
    return yield* new PathError({ code: "path.changed", message: "The workdir has left the server root." })
  }
  if (workdir.stats?.isDirectory() !== true) {
    return yield* new PathError({ code: "path.not_found", message: "The workdir is gone." })
  }
  return workdir.path
})

/**
 * Where a tool's path leads, and what the rules call it. A file with a second name (a hard link) counts as outside:
 * nobody can tell where its other name is.
 */
export const resolveToolPath = Effect.fn("paths.resolveToolPath")(function* (
  where: { readonly root: string; readonly workdir: string },
  input: string
) {
  const workdir = yield* realWorkdir(where)
  const place = yield* locate(workdir, input)
  const elsewhere = !isInside(workdir, place.path)
  const outside = elsewhere || (place.stats?.isFile() === true && place.stats.nlink > 1)
  return { ...place, outside, pattern: outside ? place.path : nameFrom(workdir, place.path) } satisfies ToolPath
})

/** Flags of an open that follows no link at its end and does not wait for a pipe's other side. */
export const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
