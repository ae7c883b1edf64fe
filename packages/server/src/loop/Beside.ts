import type { SessionId } from "@harness/protocol"
import { Context, Deferred, Effect, Layer } from "effect"
import type { CompactionDetails, CompactionRow } from "../compaction/CompactionsRepo.ts"
import type { StoredEntry } from "../history/HistoryRepo.ts"
import type { LogRow } from "../log/fact.ts"
import { Hub } from "../log/Hub.ts"
import { Bell } from "../turns/Bell.ts"

/** After one that gained nothing, a history grows so much before the next is tried. */
const GROWTH = 1.1

/** A summary that has not taken its head's place yet. */
export interface Made {
  readonly row: CompactionRow
  readonly head: ReadonlyArray<StoredEntry>
  readonly summary: string
  readonly details: CompactionDetails
}

interface Work {
  readonly stop: () => void
  made: Made | undefined
}

/** What ends a compaction from outside. */
const ends = ({ body, type }: LogRow, compactionId: string): boolean =>
  type === "deleted" ||
  (type === "compaction" && body.includes(`"compactionId":"${compactionId}"`) && body.includes(`"state":"cancelled"`))

const make = Effect.gen(function* () {
  const hub = yield* Hub
  const bell = yield* Bell
  const scope = yield* Effect.scope
  const works = new Map<SessionId, Work>()
  const tried = new Map<SessionId, number>()

  /** Makes a compaction without anybody waiting for it. What it answers is there to be taken. */
  const begin = <R>({ compactionId, sessionId }: CompactionRow, making: Effect.Effect<Made | undefined, never, R>) =>
    Effect.gen(function* () {
      const stopped = yield* Deferred.make<undefined>()
      const work: Work = { stop: () => Deferred.unsafeDone(stopped, Effect.succeed(undefined)), made: undefined }
      works.set(sessionId, work)
      const leave = hub.listen(sessionId, {
        row: (row) => {
          if (ends(row, compactionId)) work.stop()
        },
        delta: () => {}
      })
      const over = (made: Made | undefined) => {
        leave()
        if (works.get(sessionId) !== work) return
        if (made === undefined) works.delete(sessionId)
        else work.made = made
        bell.wake(sessionId)
      }
      yield* Effect.forkIn(Effect.map(Effect.raceFirst(making, Deferred.await(stopped)), over), scope)
    })

  return {
    begin,
    /** Whether the session has one, made or not. */
    has: (sessionId: SessionId): boolean => works.has(sessionId),
    /** The one that is made; from here on the session has none. */
    take: (sessionId: SessionId): Made | undefined => {
      const made = works.get(sessionId)?.made
      if (made !== undefined) works.delete(sessionId)
      return made
    },
    /** Whether another is worth trying for a history of so many tokens. If so it counts as tried. */
    tries: (sessionId: SessionId, tokens: number, room: number): boolean => {
      const last = tried.get(sessionId)
      if (works.has(sessionId) || (last !== undefined && tokens < Math.min(last * GROWTH, room))) return false
      tried.set(sessionId, tokens)
      return true
    },
    /** It was worth it. */
    gained: (sessionId: SessionId): void => void tried.delete(sessionId),
    /** The call is over: nobody needs its summary. */
    forget: (sessionId: SessionId): void => {
      const work = works.get(sessionId)
      works.delete(sessionId)
      tried.delete(sessionId)
      work?.stop()
      // Whoever looks next finds it cut.
      if (work !== undefined) bell.wake(sessionId)
    }
  }
})

/** Compactions of calls: made beside whatever the call does, so that no caller waits for one. At most one a session. */
export class Beside extends Context.Tag("@harness/server/Beside")<Beside, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.scoped(Beside, make)
}
