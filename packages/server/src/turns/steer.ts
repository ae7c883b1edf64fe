import { type Actor, EntryId, type PromptPart, type TurnPart } from "@harness/protocol"
import { Effect } from "effect"
import { HistoryRepo, mintEntryId } from "../history/HistoryRepo.ts"
import type { Tx } from "../log/Commit.ts"
import type { Hub } from "../log/Hub.ts"
import { record } from "./record.ts"
import { outcomeOf, type PartRow, promptOf, type SteerRow, steerContent, type TurnRow, TurnsRepo } from "./TurnsRepo.ts"

interface NewSteer {
  readonly entryId: string
  readonly content: ReadonlyArray<PromptPart>
  readonly requestHash: string
  /** A prompt that joins as a turn of its own name. */
  readonly alias?: TurnRow
  readonly actor: Actor
}

const partOf = (n: number, entryId: EntryId, content: ReadonlyArray<PromptPart>, applied: boolean): PartRow => {
  const part: TurnPart = { type: "steer", partId: `p${n}`, entryId, content, applied }
  return { n, step: 0, open: false, part }
}

/** The number of a turn's next part, whoever keeps count. */
export const nextPart = (tx: Tx, hub: typeof Hub.Service, turn: TurnRow) =>
  Effect.suspend(() => {
    const taken = hub.live.takePart(turn.sessionId, turn.turnId)
    return taken === undefined
      ? Effect.map(TurnsRepo.lastPart(tx, turn.sessionId, turn.turnId), (last) => last + 1)
      : Effect.succeed(taken)
  })

/**
 * What the model is in the middle of saying, for a row that adds a part behind it: who reads the log alone must meet the
 * parts in their order, too.
 */
export const growingParts = (tx: Tx, hub: typeof Hub.Service, turn: TurnRow) =>
  Effect.gen(function* () {
    const growing = hub.live.growing(turn.sessionId, turn.turnId)
    if (growing.length === 0) return []
    // A commit of the same batch may have closed them, which nobody has been shown yet.
    const closed = yield* TurnsRepo.closedParts(tx, turn.sessionId, turn.turnId)
    const step = outcomeOf(turn).steps.length + 1
    return growing.filter(({ n }) => !closed.has(n)).map(({ n, part }): PartRow => ({ n, step, open: true, part }))
  })

/** A steer joins a turn; it shows as a part at once, and is taken before the next step. Answers the session's position. */
export const addSteer = (tx: Tx, hub: typeof Hub.Service, into: TurnRow, steer: NewSteer) =>
  Effect.gen(function* () {
    const n = yield* nextPart(tx, hub, into)
    const { alias } = steer
    yield* record(tx, {
      from: into,
      turn: into,
      parts: [...(yield* growingParts(tx, hub, into)), partOf(n, EntryId.make(steer.entryId), steer.content, false)],
      actor: steer.actor
    })
    const [session] = yield* tx.query<{ cursor: number; seq: number }>(
      "SELECT cursor, (SELECT coalesce(max(seq), 0) + 1 FROM steer WHERE session_id = ?) AS seq FROM session WHERE session_id = ?",
      [into.sessionId, into.sessionId]
    )
    const cursor = session?.cursor ?? 0
    if (alias !== undefined) {
      yield* TurnsRepo.insert(tx, { ...alias, state: "steered", joined: into.turnId, acceptedCursor: cursor })
    }
    yield* TurnsRepo.insertSteer(tx, into.sessionId, {
      entryId: steer.entryId,
      turnId: into.turnId,
      n,
      seq: session?.seq ?? 1,
      content: JSON.stringify(steer.content),
      requestHash: steer.requestHash,
      state: "pending",
      alias: alias === undefined ? 0 : 1,
      acceptedCursor: cursor
    })
    tx.point("steered", into.sessionId)
    return cursor
  })

const takeOne = (tx: Tx, turn: TurnRow, steer: SteerRow) =>
  Effect.gen(function* () {
    yield* TurnsRepo.settleSteer(tx, turn.sessionId, steer, "applied")
    const alias = steer.alias === 1 ? yield* TurnsRepo.find(tx, turn.sessionId, steer.entryId) : undefined
    const prompt = alias === undefined ? undefined : promptOf(alias)
    const named = EntryId.make(steer.entryId)
    // An entry of the caller's may have the id of a prompt that joined.
    const taken = (yield* HistoryRepo.find(tx, turn.sessionId, named)) !== undefined
    const entryId = taken ? mintEntryId(tx.now) : named
    yield* HistoryRepo.appendEntry(tx, {
      sessionId: turn.sessionId,
      entryId,
      turnId: turn.turnId,
      role: prompt?.role ?? "user",
      body: { content: steerContent(steer), custom: prompt?.custom }
    })
    return partOf(steer.n, named, steerContent(steer), true)
  })

/** Moves what was said meanwhile into the history, before a step. Answers the turn as it then is. */
export const takeSteers = (tx: Tx, turn: TurnRow) =>
  Effect.gen(function* () {
    const pending = yield* TurnsRepo.pendingSteers(tx.query, turn.sessionId, turn.turnId)
    if (pending.length === 0) return turn
    const parts = yield* Effect.forEach(pending, (steer) => takeOne(tx, turn, steer))
    return yield* record(tx, { from: turn, turn, parts })
  })
