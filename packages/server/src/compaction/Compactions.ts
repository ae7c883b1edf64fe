import {
  type Actor,
  CompactionId,
  ConflictError,
  type ContextCompactionResponseValue,
  NotFoundError,
  type SafeFailure,
  type SessionId
} from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import { HistoryRepo, mintEntryId, type StoredEntry } from "../history/HistoryRepo.ts"
import { CommitRoom, type Tx } from "../log/Commit.ts"
import { mismatch, unknownPlace } from "../sessions/refusals.ts"
import { living, Sessions } from "../sessions/Sessions.ts"
import { SessionsRepo } from "../sessions/SessionsRepo.ts"
import { requestHash } from "../storage/columns.ts"
import { Bell, compactionKey } from "../turns/Bell.ts"
import { type CompactionDetails, type CompactionRow, type CompactionState, CompactionsRepo } from "./CompactionsRepo.ts"

const notFound = (compactionId: string) =>
  new NotFoundError({ code: "compaction.not_found", message: `this session has no compaction ${compactionId}` })

const ended = (state: CompactionState): boolean => state !== "queued" && state !== "running"

const shown = ({ compactionId, state, details, cursor }: CompactionRow): ContextCompactionResponseValue => ({
  compactionId,
  state,
  ...(details as Omit<ContextCompactionResponseValue, "compactionId" | "state" | "position">),
  position: { cursor }
})

const make = Effect.gen(function* () {
  const room = yield* CommitRoom
  const bell = yield* Bell
  const repo = yield* CompactionsRepo
  const sessions = yield* Sessions

  /** A compaction's new state, in its table and as an event. */
  const move = (tx: Tx, row: CompactionRow, state: CompactionState, details: CompactionDetails, actor?: Actor) =>
    Effect.gen(function* () {
      const cursor = yield* SessionsRepo.advance(tx, row.sessionId, 1)
      const moved: CompactionRow = { ...row, state, details: { ...row.details, ...details }, cursor }
      yield* CompactionsRepo.update(tx, moved)
      yield* tell(tx, moved, actor)
      return moved
    })

  const tell = (tx: Tx, row: CompactionRow, actor: Actor | undefined) => {
    const { compactionId, cursor, details, sessionId, state } = row
    return tx.append(
      { sessionId, cursor, type: "compaction" },
      { actor },
      { compaction: { compactionId, state, ...details } }
    )
  }

  const add = (tx: Tx, row: Omit<CompactionRow, "seq" | "cursor" | "details">, actor: Actor | undefined) =>
    Effect.gen(function* () {
      const cursor = yield* SessionsRepo.advance(tx, row.sessionId, 1)
      const added = { ...row, cursor, details: {} }
      yield* CompactionsRepo.insert(tx, added)
      yield* tell(tx, { ...added, seq: 0 }, actor)
      return cursor
    })

  /** Asks for a summary of the history's head. It starts between turns. */
  const submit = Effect.fn("Compactions.submit")(function* (
    sessionId: SessionId,
    compactionId: CompactionId,
    instructions: string,
    actor: Actor
  ) {
    const hash = requestHash({ instructions })
    return yield* room.commit((tx) =>
      Effect.gen(function* () {
        yield* living(tx, sessionId)
        const known = yield* CompactionsRepo.find(tx, sessionId, compactionId)
        if (known !== undefined) {
          if (known.requestHash !== hash) return yield* mismatch("compaction", compactionId)
          return { compactionId, disposition: "deduplicated" as const, cursor: known.cursor }
        }
        const cursor = yield* add(
          tx,
          { sessionId, compactionId, requestHash: hash, instructions, state: "queued" },
          actor
        )
        tx.after(() => bell.wake(sessionId))
        tx.point("compaction-asked", sessionId)
        return { compactionId, disposition: "accepted" as const, cursor }
      })
    )
  })

  /** A compaction that nobody asked for, to be made between turns; none when another waits or is being made. */
  const want = (sessionId: SessionId, id: string) =>
    room.commit<void, never>((tx) =>
      Effect.gen(function* () {
        const session = yield* SessionsRepo.find(tx, sessionId)
        if (session === undefined || session.deletedAt !== null) return
        const compactionId = CompactionId.make(id)
        if ((yield* CompactionsRepo.find(tx, sessionId, compactionId)) !== undefined) return
        if ((yield* CompactionsRepo.head(tx, sessionId)) !== undefined) return
        if ((yield* CompactionsRepo.underWay(tx, sessionId)).length > 0) return
        yield* add(tx, { sessionId, compactionId, requestHash: "", instructions: "", state: "queued" }, undefined)
        tx.after(() => bell.wake(sessionId))
        tx.point("compaction-asked", sessionId)
      })
    )

  const cancel = Effect.fn("Compactions.cancel")(function* (
    sessionId: SessionId,
    compactionId: CompactionId,
    actor: Actor
  ) {
    return yield* room.commit((tx) =>
      Effect.gen(function* () {
        yield* living(tx, sessionId)
        const row = yield* CompactionsRepo.find(tx, sessionId, compactionId)
        if (row === undefined) return yield* notFound(compactionId)
        if (row.state === "cancelled") return shown(row)
        if (ended(row.state)) {
          return yield* new ConflictError({
            code: "compaction.settled",
            message: `the compaction has already ${row.state}`,
            details: { compactionId, state: row.state }
          })
        }
        const moved = yield* move(tx, row, "cancelled", {}, actor)
        tx.after(() => bell.stop(sessionId, compactionKey(compactionId)))
        return shown(moved)
      })
    )
  })

  const get = Effect.fn("Compactions.get")(function* (sessionId: SessionId, compactionId: CompactionId) {
    yield* sessions.row(sessionId)
    const row = yield* repo.find(sessionId, compactionId)
    return row === undefined ? yield* notFound(compactionId) : shown(row)
  })

  const list = Effect.fn("Compactions.list")(function* (
    sessionId: SessionId,
    page: { readonly after?: string | undefined; readonly before?: string | undefined; readonly limit: number }
  ) {
    yield* sessions.row(sessionId)
    const named = page.after ?? page.before
    const place = named === undefined ? undefined : yield* repo.find(sessionId, named)
    if (named !== undefined && place === undefined) return yield* unknownPlace()
    const seq = place?.seq ?? 0
    const rows = yield* repo.page(sessionId, page.before === undefined ? { after: seq } : { before: seq }, page.limit)
    const edge = page.before === undefined ? rows.at(-1) : rows.at(0)
    return {
      compactions: rows.map(shown),
      next: rows.length < page.limit || edge === undefined ? null : edge.compactionId
    }
  })

  /**
   * The one to run next, marked as running; nothing while a turn runs or waits: its calls may still be open. One that a
   * crash or a turn's end cut is failed: its history is as it was.
   */
  const takeUp = (sessionId: SessionId) =>
    Effect.flatMap(repo.isWaiting(sessionId), (waits) => (waits ? takeUpNow(sessionId) : Effect.succeed(undefined)))

  const takeUpNow = (sessionId: SessionId) =>
    room.commit<CompactionRow | undefined, never>((tx) =>
      Effect.gen(function* () {
        for (const cut of yield* CompactionsRepo.underWay(tx, sessionId)) {
          yield* move(tx, cut, "failed", { failure: interrupted })
        }
        const session = yield* SessionsRepo.find(tx, sessionId)
        if (session === undefined || session.deletedAt !== null || session.activeTurn !== null) return undefined
        const row = yield* CompactionsRepo.head(tx, sessionId)
        if (row === undefined) return undefined
        const begun = yield* move(tx, row, "running", {})
        tx.point("compaction-begun", sessionId)
        return begun
      })
    )

  /** A compaction that a turn needs, under way at once; nothing when the id was tried before. */
  const begin = (sessionId: SessionId, id: string) =>
    room.commit<CompactionRow | undefined, never>((tx) =>
      Effect.gen(function* () {
        const compactionId = CompactionId.make(id)
        if ((yield* CompactionsRepo.find(tx, sessionId, compactionId)) !== undefined) return undefined
        yield* add(tx, { sessionId, compactionId, requestHash: "", instructions: "", state: "running" }, undefined)
        tx.point("compaction-begun", sessionId)
        return yield* CompactionsRepo.find(tx, sessionId, compactionId)
      })
    )

  /** The summary takes the head's place. Nothing happens to a compaction that was cancelled meanwhile. */
  const complete = (
    row: CompactionRow,
    head: ReadonlyArray<StoredEntry>,
    summary: string,
    details: CompactionDetails
  ) =>
    room.commit<boolean, never>((tx) =>
      Effect.gen(function* () {
        const held = yield* CompactionsRepo.find(tx, row.sessionId, row.compactionId)
        const last = head.at(-1)
        if (held?.state !== "running" || last === undefined) return false
        yield* HistoryRepo.summarise(tx, {
          sessionId: row.sessionId,
          upTo: last.ord,
          entryId: mintEntryId(tx.now),
          text: summary
        })
        const boundary = last.turnId === undefined ? { entryId: last.entryId } : { turnId: last.turnId }
        yield* move(tx, held, "completed", { ...details, boundary })
        tx.point("compacted", row.sessionId)
        return true
      })
    )

  const fail = (row: CompactionRow, failure: SafeFailure) =>
    room.commit<void, never>((tx) =>
      Effect.gen(function* () {
        const held = yield* CompactionsRepo.find(tx, row.sessionId, row.compactionId)
        if (held?.state === "running") yield* move(tx, held, "failed", { failure })
      })
    )

  return { submit, want, cancel, get, list, takeUp, begin, complete, fail }
})

const interrupted: SafeFailure = {
  kind: "transient",
  code: "compaction.interrupted",
  message: "the compaction was cut short",
  retryable: true
}

/** Summaries that take the place of a history's head: asked for, run between turns, listed, cancelled. */
export class Compactions extends Context.Tag("@harness/server/Compactions")<
  Compactions,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(Compactions, make)
}
