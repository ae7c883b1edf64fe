import type * as SqlError from "@effect/sql/SqlError"
import { Context, Effect, Layer } from "effect"
import type { Tx } from "../log/Commit.ts"

/** How far a call's replies have arrived, on its way to the database. */
export interface Arrival {
  readonly write: (tx: Tx) => Effect.Effect<void, SqlError.SqlError>
  /** It is there. */
  readonly kept: () => void
}

const make = Effect.sync(() => {
  const calls = new Map<string, () => Arrival | undefined>()
  return {
    /** A call tells what there is to keep; the answer ends that. */
    join: (sessionId: string, due: () => Arrival | undefined) => {
      calls.set(sessionId, due)
      return () => {
        if (calls.get(sessionId) === due) calls.delete(sessionId)
      }
    },
    /** What a session's call has to keep now, if it is one. */
    due: (sessionId: string): Arrival | undefined => calls.get(sessionId)?.()
  }
})

/** What was heard is kept with what was said, in one commit: whoever keeps a turn's growing text asks here what goes with it. */
export class Arrivals extends Context.Tag("@harness/server/Arrivals")<Arrivals, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(Arrivals, make)
}
