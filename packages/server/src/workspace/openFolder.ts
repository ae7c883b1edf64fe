import { constants } from "node:fs"
import { mkdir, open } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { Effect, type Scope } from "effect"
import { isStillThere, pathOfOpen } from "./openJudged.ts"
import { errorCode, PathError, pathError } from "./paths.ts"

/** A folder held open. On Linux a name from it stays a name in it, whatever is done to its path meanwhile. */
export interface OpenFolder {
  /** As `locate` gives it. */
  readonly path: string
  /** Where this process finds it. */
  readonly own: string
  /** Where a child of this process finds it. */
  readonly forChild: string
}

const FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0)
const OWN = "/proc/self/"

const changed = new PathError({ code: "path.changed", message: "The path changed while it was looked at." })
const notFolder = new PathError({ code: "path.not_folder", message: "A part of the path is not a folder." })

/** Opens the folder at a path as `locate` gives it; `path.changed` when a link is in the way by now. */
export const openFolder = (path: string): Effect.Effect<OpenFolder, PathError, Scope.Scope> =>
  Effect.gen(function* () {
    const handle = yield* Effect.acquireRelease(
      Effect.tryPromise({ try: () => open(path, FLAGS), catch: pathError }),
      (handle) => Effect.promise(() => handle.close()).pipe(Effect.ignoreLogged)
    )
    const stats = yield* Effect.tryPromise({ try: () => handle.stat(), catch: pathError })
    if (!stats.isDirectory()) return yield* notFolder
    if (!(yield* isStillThere(handle, path))) return yield* changed
    const own = yield* pathOfOpen(handle, { path, stats })
    const forChild = own.startsWith(OWN) ? `/proc/${process.pid}/${own.slice(OWN.length)}` : own
    return { path, own, forChild }
  })

const makeIn = (parent: OpenFolder, name: string) =>
  Effect.tryPromise(() => mkdir(join(parent.own, name))).pipe(
    Effect.catchIf(
      ({ error }) => errorCode(error) === "EEXIST",
      () => Effect.void
    ),
    Effect.mapError(({ error }) => writeError(error))
  )

/** The same, and makes what is missing on the way, each folder in one that is held open. */
export const makeFolder = (path: string): Effect.Effect<OpenFolder, PathError, Scope.Scope> =>
  openFolder(path).pipe(
    Effect.catchIf(
      (error) => error.code === "path.not_found" && dirname(path) !== path,
      () =>
        makeFolder(dirname(path)).pipe(
          Effect.flatMap((parent) => makeIn(parent, basename(path))),
          Effect.scoped,
          Effect.zipRight(openFolder(path)),
          // It was there all along, and is something else.
          Effect.mapError((error) => (error.code === "path.not_found" ? notFolder : error))
        )
    )
  )

/** What the file system said to something that writes, as an error without a path. */
export const writeError = (error: unknown): PathError => {
  switch (errorCode(error)) {
    case "ENAMETOOLONG":
      return new PathError({ code: "path.invalid", message: "A name in the path is too long." })
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return new PathError({ code: "path.no_space", message: "There is no room for this on the disk." })
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new PathError({ code: "path.no_access", message: "The path cannot be written to." })
    default:
      return pathError(error)
  }
}
