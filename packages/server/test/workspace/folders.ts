import { mkdtemp, realpath, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"

/** A folder of this test's own, without links in its path, gone afterwards. */
export const freshFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "harness-")).then((path) => realpath(path))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true, maxRetries: 10 }))
)
