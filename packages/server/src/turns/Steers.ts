import type { Actor, Content, EntryId, SessionId, SteerTurnReceipt, TurnId } from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import { HistoryRepo } from "../history/HistoryRepo.ts"
import { CommitRoom } from "../log/Commit.ts"
import { Hub } from "../log/Hub.ts"
import { steerConflict, tooLong, turnNotActive, turnNotFound, turnNotSteerable } from "../sessions/refusals.ts"
import { living } from "../sessions/Sessions.ts"
import { requestHash } from "../storage/columns.ts"
import { Bell } from "./Bell.ts"
import { toParts } from "./content.ts"
import { takesSteers } from "./decide.ts"
import { fitsRow } from "./record.ts"
import { addSteer } from "./steer.ts"
import { TurnsRepo } from "./TurnsRepo.ts"

const make = Effect.gen(function* () {
  const room = yield* CommitRoom
  const hub = yield* Hub
  const bell = yield* Bell

  /** Says something to exactly this turn. The same entry again is fine; with other words, or to another turn, it is not. */
  const steer = Effect.fn("Steers.steer")(function* (
    sessionId: SessionId,
    turnId: TurnId,
    entryId: EntryId,
    content: Content,
    actor: Actor
  ) {
    const parts = toParts(content)
    if (!fitsRow(parts)) return yield* tooLong()
    const hash = requestHash({ content: parts })
    return yield* room.commit((tx) =>
      Effect.gen(function* () {
        yield* living(tx, sessionId)
        const turn = yield* TurnsRepo.find(tx, sessionId, turnId)
        if (turn === undefined) return yield* turnNotFound(turnId)
        const receipt = (cursor: number, disposition: SteerTurnReceipt["disposition"]): SteerTurnReceipt => ({
          sessionId,
          turnId,
          entryId,
          cursor,
          disposition
        })
        const known = yield* TurnsRepo.findSteer(tx, sessionId, { entryId, alias: 0 })
        if (known !== undefined) {
          if (known.requestHash !== hash || known.turnId !== turnId) return yield* steerConflict(entryId)
          return receipt(known.acceptedCursor, "deduplicated")
        }
        if ((yield* HistoryRepo.find(tx, sessionId, entryId)) !== undefined) return yield* steerConflict(entryId)
        if (turn.state !== "running" && turn.state !== "waiting") return yield* turnNotActive(turnId)
        if (!takesSteers(turn)) return yield* turnNotSteerable(turnId)
        const cursor = yield* addSteer(tx, hub, turn, { entryId, content: parts, requestHash: hash, actor })
        tx.after(() => bell.wake(sessionId))
        return receipt(cursor, "accepted")
      })
    )
  })

  return { steer }
})

/** Steering: words for a turn that is under way. */
export class Steers extends Context.Tag("@harness/server/Steers")<Steers, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(Steers, make)
}
