import { randomBytes } from "node:crypto"
import { constants, type Stats } from "node:fs"
import { access, type FileHandle, lstat, open, rename, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { Effect } from "effect"
import { makeFolder, type OpenFolder, writeError } from "./openFolder.ts"
import { errorCode, PathError, type Place } from "./paths.ts"

const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)
const NEW_MODE = 0o666

const changed = new PathError({
  code: "path.changed",
  message: "The file changed while it was being written. Nothing was written."
})
const notFile = new PathError({ code: "path.not_file", message: "This is not a regular file." })

const statsAt = (path: string): Effect.Effect<Stats | undefined, PathError> =>
  Effect.tryPromise(() => lstat(path)).pipe(
    Effect.catchIf(
      ({ error }) => errorCode(error) === "ENOENT",
      () => Effect.succeed(undefined)
    ),
    Effect.mapError(({ error }) => writeError(error))
  )

const same = (before: Stats | undefined, now: Stats | undefined): boolean =>
  before === undefined || now === undefined
    ? before === now
    : before.dev === now.dev && before.ino === now.ino && before.size === now.size && before.mtimeMs === now.mtimeMs

const mustBeUnchanged = (path: string, before: Stats | undefined) =>
  Effect.flatMap(statsAt(path), (now) => (same(before, now) ? Effect.void : changed))

const attempt = <A>(run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: writeError })

/** The new file is the old one's heir: who owns it, where that may be given away, and who may do what. */
const inherit = (handle: FileHandle, old: Stats) =>
  attempt(() => handle.chown(old.uid, old.gid)).pipe(
    Effect.ignore,
    Effect.zipRight(attempt(() => handle.chmod(old.mode & 0o777)))
  )

const writeBeside = (folder: OpenFolder, name: string, content: Uint8Array, old: Stats | undefined) =>
  Effect.acquireUseRelease(
    attempt(() => open(join(folder.own, name), FLAGS, NEW_MODE)),
    (handle) =>
      Effect.gen(function* () {
        yield* attempt(() => handle.writeFile(content))
        if (old !== undefined) yield* inherit(handle, old)
        yield* attempt(() => handle.sync())
      }),
    (handle) => Effect.promise(() => handle.close()).pipe(Effect.ignoreLogged)
  )

/**
 * Puts a file of this content at the place, with the folders it needs: whole or not at all, and only if what is there
 * is still what `place` says. Writes through no link: a name that became one makes it fail.
 */
export const replaceFile = (place: Place, content: Uint8Array): Effect.Effect<void, PathError> =>
  Effect.gen(function* () {
    const folder = yield* makeFolder(dirname(place.path))
    const target = join(folder.own, basename(place.path))
    yield* mustBeUnchanged(target, place.stats)
    if (place.stats !== undefined) {
      if (!place.stats.isFile()) return yield* notFile
      // A new name needs no right on the old file; whoever took that right away meant something by it.
      yield* attempt(() => access(target, constants.W_OK))
    }
    const name = `.harness-${randomBytes(9).toString("hex")}.tmp`
    yield* writeBeside(folder, name, content, place.stats).pipe(
      Effect.zipRight(mustBeUnchanged(target, place.stats)),
      Effect.zipRight(attempt(() => rename(join(folder.own, name), target))),
      Effect.tapErrorCause(() =>
        Effect.promise(() => rm(join(folder.own, name), { force: true })).pipe(Effect.ignoreLogged)
      )
    )
  }).pipe(Effect.scoped, Effect.uninterruptible)
