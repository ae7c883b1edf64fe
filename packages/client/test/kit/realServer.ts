import { Effect } from "effect"
import { folders, type Harness, startHarness } from "../../../server/test/kit/harness.ts"

/** A server of this release in a process of its own, on folders that go with the scope. It can die and come back. */
export const realServer = (env: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const place = yield* Effect.acquireRelease(Effect.sync(folders), ({ remove }) => Effect.sync(remove))
    const start = (port: string) =>
      startHarness({ data: place.data, root: place.root, env: { ...env, HARNESS_PORT: port } })
    let running: Harness | undefined
    yield* Effect.addFinalizer(() => Effect.promise(async () => running?.kill()))
    const first = yield* Effect.promise(() => start("0"))
    running = first
    return {
      baseUrl: first.url,
      token: first.token,
      root: place.root,
      /** SIGKILL, and gone. */
      kill: Effect.promise(async () => running?.kill()),
      /** SIGTERM; answers the exit code. */
      stop: Effect.promise(async () => running?.stop()),
      /** A start on the same data and port. */
      start: Effect.promise(async () => {
        running = await start(new URL(first.url).port)
      })
    }
  })
