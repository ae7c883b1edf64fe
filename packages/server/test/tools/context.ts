import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { CallId, SessionId, TurnId } from "@harness/protocol"
import { Effect } from "effect"
import type { ToolContext } from "../../src/tools/Tool.ts"
import { freshFolder } from "../workspace/folders.ts"

/** A context over folders of this test's own; the workdir is `work` in the root, and both exist. */
export const freshContext = Effect.gen(function* () {
  const base = yield* freshFolder
  const workdir = join(base, "root", "work")
  yield* Effect.promise(() => mkdir(workdir, { recursive: true }))
  return {
    root: join(base, "root"),
    workdir,
    outputDir: join(base, "data", "tool-output"),
    server: "main",
    sessionId: SessionId.make("s1"),
    turnId: TurnId.make("t1"),
    callId: CallId.make("call_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    idempotencyKey: "key-1",
    activity: () => Effect.void
  } satisfies ToolContext
})
