import { access, type FileHandle, open, readlink, stat } from "node:fs/promises"
import { Effect, type Scope } from "effect"
import { locate, PathError, type Place, pathError, READ_FLAGS } from "./paths.ts"

const changed = new PathError({ code: "path.changed", message: "The path changed while it was looked at." })

/** Is what is open here at this path, with no link on the way? Elsewhere than on Linux the path is walked once more. */
export const isStillThere = (handle: FileHandle, path: string) =>
  Effect.tryPromise(() => readlink(`/proc/self/fd/${handle.fd}`)).pipe(
    Effect.map((where) => where === path),
    Effect.orElse(() =>
      Effect.gen(function* () {
        const now = yield* locate(path, ".")
        const [there, here] = yield* Effect.tryPromise({
          try: () => Promise.all([stat(now.path), handle.stat()]),
          catch: pathError
        })
        return now.path === path && there.dev === here.dev && there.ino === here.ino
      })
    )
  )

const openHandle = (path: string): Effect.Effect<FileHandle, PathError, Scope.Scope> =>
  Effect.acquireRelease(Effect.tryPromise({ try: () => open(path, READ_FLAGS), catch: pathError }), (handle) =>
    Effect.promise(() => handle.close()).pipe(Effect.ignoreLogged)
  )

/** Opens for reading what is at a path by now; `path.changed` when a link is in the way. */
export const openFile = (path: string): Effect.Effect<FileHandle, PathError, Scope.Scope> =>
  Effect.gen(function* () {
    const handle = yield* openHandle(path)
    if (!(yield* isStillThere(handle, path))) return yield* changed
    return handle
  })

/**
 * Opens for reading exactly what was judged, or fails with `path.changed`: a link put in the way since then, at the end
 * of the path or in its middle, is not followed to its target.
 */
export const openJudged = (place: Place): Effect.Effect<FileHandle, PathError, Scope.Scope> =>
  Effect.gen(function* () {
    const handle = yield* openHandle(place.path)
    const opened = yield* Effect.tryPromise({ try: () => handle.stat(), catch: pathError })
    const same = place.stats !== undefined && opened.dev === place.stats.dev && opened.ino === place.stats.ino
    if (!same || !(yield* isStillThere(handle, place.path))) return yield* changed
    return handle
  })

/** A path to what is open here that no link can lead elsewhere, where the system has such paths; else its own. */
export const pathOfOpen = (handle: FileHandle, place: Place): Effect.Effect<string> => {
  const own = `/proc/self/fd/${handle.fd}`
  return Effect.tryPromise(() => access(own)).pipe(
    Effect.as(own),
    Effect.orElseSucceed(() => place.path)
  )
}
