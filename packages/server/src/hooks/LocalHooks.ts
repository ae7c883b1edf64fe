import { Context, Effect, Layer, type Scope } from "effect"
import type { AskedHook } from "./HookRequest.ts"

/** Hooks in this process, asked in one order with those over HTTP: each for as long as whoever brought it stays. */
export class LocalHooks extends Context.Tag("@harness/server/LocalHooks")<
  LocalHooks,
  {
    readonly register: (hook: AskedHook) => Effect.Effect<void, never, Scope.Scope>
    readonly all: Effect.Effect<ReadonlyArray<AskedHook>>
  }
>() {
  static readonly layer = Layer.sync(LocalHooks, () => {
    const held = new Set<AskedHook>()
    return {
      register: (hook) =>
        Effect.acquireRelease(
          Effect.sync(() => held.add(hook)),
          () => Effect.sync(() => held.delete(hook))
        ),
      all: Effect.sync(() => [...held])
    }
  })
}
