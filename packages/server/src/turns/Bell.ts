import { Context, Effect, Layer } from "effect"

/** What the engine hears of. */
export interface BellListener {
  /** A session may have something to do. */
  readonly wake: (sessionId: string) => void
  /** A running turn is asked to end. */
  readonly stop: (sessionId: string, turnId: string) => void
}

/** What the engine calls a compaction under way, where it would name a turn. */
export const compactionKey = (compactionId: string): string => `compaction:${compactionId}`

/** Commits say here, once they stand, that the engine should look. */
export class Bell extends Context.Tag("@harness/server/Bell")<
  Bell,
  BellListener & { readonly listen: (listener: BellListener) => void }
>() {
  static readonly layer = Layer.effect(
    Bell,
    Effect.sync(() => {
      let listener: BellListener = { wake: () => {}, stop: () => {} }
      return {
        wake: (sessionId: string) => listener.wake(sessionId),
        stop: (sessionId: string, turnId: string) => listener.stop(sessionId, turnId),
        listen: (next: BellListener) => {
          listener = next
        }
      }
    })
  )
}
