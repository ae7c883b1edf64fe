import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ServerName } from "@harness/protocol"
import { Effect, Layer } from "effect"
import { HookAdmin } from "../../src/hooks/HookAdmin.ts"
import { Hooks } from "../../src/hooks/Hooks.ts"
import { HooksRepo } from "../../src/hooks/HooksRepo.ts"
import { LocalHooks } from "../../src/hooks/LocalHooks.ts"
import { CommitRoom } from "../../src/log/Commit.ts"
import { Hub } from "../../src/log/Hub.ts"
import { Home } from "../../src/storage/Home.ts"
import { Database } from "../../src/storage/Sqlite.ts"
import { WebAccess, webAccess } from "../../src/workspace/WebAccess.ts"

export const server = ServerName.make("default")

/** A database of this test's own. */
export const storage = (folder: string) => {
  const base = Layer.mergeAll(
    Layer.succeed(Home, { server, root: folder, folder }),
    Database.layer(join(folder, "harness.db"), "normal"),
    Hub.layer(server)
  )
  return CommitRoom.layer.pipe(Layer.provideMerge(base))
}

export const freshData = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "harness-hooks-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** The hooks of one server; receivers are on this machine, so private addresses are allowed unless said otherwise. */
export const hooksLayer = (options: { readonly allowPrivate?: boolean } = {}) =>
  Layer.unwrapScoped(
    Effect.map(freshData, (folder) =>
      Layer.mergeAll(Hooks.layer, HookAdmin.layer).pipe(
        Layer.provideMerge(Layer.mergeAll(HooksRepo.layer, LocalHooks.layer)),
        Layer.provideMerge(storage(folder)),
        Layer.provide(Layer.succeed(WebAccess, webAccess(options.allowPrivate ?? true)))
      )
    )
  )
