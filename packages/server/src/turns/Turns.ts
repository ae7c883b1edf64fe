import type {
  Actor,
  CancelTurnResponseValue,
  Content,
  Prompt,
  SessionId,
  TurnId,
  TurnSnapshot
} from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import { CommitRoom, type Tx } from "../log/Commit.ts"
import { Hub } from "../log/Hub.ts"
import { notQueued, turnNotFound, unknownPlace } from "../sessions/refusals.ts"
import { living, Sessions } from "../sessions/Sessions.ts"
import { cutPage } from "../storage/paging.ts"
import { Bell } from "./Bell.ts"
import { toParts } from "./content.ts"
import { record } from "./record.ts"
import { markCancelled, settle } from "./settle.ts"
import { promptOf, type TurnRow, TurnsRepo, toSnapshot } from "./TurnsRepo.ts"

const make = Effect.gen(function* () {
  const room = yield* CommitRoom
  const hub = yield* Hub
  const bell = yield* Bell
  const repo = yield* TurnsRepo
  const sessions = yield* Sessions

  const cancelRow = (tx: Tx, turn: TurnRow, reason: string | undefined, actor: Actor) =>
    Effect.gen(function* () {
      if (turn.settledAt !== null) return { stopping: false, turnId: turn.turnId }
      const stopping = yield* markCancelled(tx, bell, turn, { stopReason: "cancelled", reason }, actor)
      return { stopping, turnId: turn.turnId }
    })

  /** Takes a steered prompt back before it was taken: it ends as a turn of its own that never ran. */
  const withdrawAlias = (tx: Tx, alias: TurnRow, actor: Actor) =>
    Effect.gen(function* () {
      const steer = yield* TurnsRepo.findSteer(tx, alias.sessionId, { entryId: alias.turnId, alias: 1 })
      if (steer?.state !== "pending") return yield* notQueued(alias.turnId)
      yield* TurnsRepo.settleSteer(tx, alias.sessionId, steer, "dropped")
      yield* settle(tx, bell, { ...alias, joined: null }, { state: "cancelled", stopReason: "cancelled", actor })
      return { stopping: false, turnId: alias.turnId }
    })

  const cancel = Effect.fn("Turns.cancel")(function* (
    sessionId: SessionId,
    turnId: TurnId,
    reason: string | undefined,
    actor: Actor
  ) {
    return yield* room.commit((tx) =>
      Effect.gen(function* () {
        yield* living(tx, sessionId)
        const turn = yield* TurnsRepo.find(tx, sessionId, turnId)
        if (turn === undefined) return yield* turnNotFound(turnId)
        return turn.state === "steered"
          ? yield* withdrawAlias(tx, turn, actor)
          : yield* cancelRow(tx, turn, reason, actor)
      })
    )
  })

  const cancelActive = Effect.fn("Turns.cancelActive")(function* (
    sessionId: SessionId,
    reason: string | undefined,
    actor: Actor
  ) {
    return yield* room.commit((tx) =>
      Effect.gen(function* () {
        const session = yield* living(tx, sessionId)
        const active =
          session.activeTurn === null
            ? yield* TurnsRepo.head(tx, sessionId)
            : yield* TurnsRepo.find(tx, sessionId, session.activeTurn)
        const none: CancelTurnResponseValue = { stopping: false }
        return active === undefined ? none : yield* cancelRow(tx, active, reason, actor)
      })
    )
  })

  /** A queued turn, for a command that may still change it. */
  const queued = (tx: Tx, sessionId: SessionId, turnId: TurnId) =>
    Effect.gen(function* () {
      yield* living(tx, sessionId)
      const turn = yield* TurnsRepo.find(tx, sessionId, turnId)
      if (turn === undefined) return yield* turnNotFound(turnId)
      if (turn.state !== "queued") return yield* notQueued(turnId)
      return turn
    })

  const editQueued = Effect.fn("Turns.editQueued")(function* (
    sessionId: SessionId,
    turnId: TurnId,
    content: Content,
    actor: Actor
  ) {
    return yield* room.commit((tx) =>
      Effect.gen(function* () {
        const turn = yield* queued(tx, sessionId, turnId)
        const prompt: Prompt = { ...promptOf(turn), content: toParts(content) }
        const edited = yield* record(tx, {
          from: turn,
          turn: { ...turn, prompt: JSON.stringify(prompt) },
          actor,
          tellPrompt: true
        })
        return toSnapshot(edited, [])
      })
    )
  })

  const withdraw = Effect.fn("Turns.withdraw")(function* (
    sessionId: SessionId,
    turnId: TurnId,
    reason: string | undefined,
    actor: Actor
  ) {
    return yield* room.commit((tx) =>
      Effect.gen(function* () {
        const turn = yield* TurnsRepo.find(tx, sessionId, turnId)
        // Withdrawn before it ever started: the same again is fine.
        if (turn?.state === "cancelled" && turn.startedAt === null) return { stopping: false, turnId }
        return yield* cancelRow(tx, yield* queued(tx, sessionId, turnId), reason, actor)
      })
    )
  })

  /** The turn an id stands for: a steered one stands for the turn it joined. */
  const resolve = (sessionId: SessionId, turnId: TurnId) =>
    Effect.gen(function* () {
      yield* sessions.row(sessionId)
      const row = yield* repo.find(sessionId, turnId)
      if (row === undefined) return yield* turnNotFound(turnId)
      if (row.state !== "steered" || row.joined === null) return row
      return (yield* repo.find(sessionId, row.joined)) ?? (yield* turnNotFound(turnId))
    })

  const whole = (row: TurnRow): Effect.Effect<TurnSnapshot> =>
    Effect.suspend(() => {
      const live = hub.live.get(row.sessionId, row.turnId)
      if (live !== undefined) return Effect.succeed(live)
      return Effect.map(repo.parts(row.sessionId, row.turnId), (parts) =>
        toSnapshot(
          row,
          parts.map(({ part }) => part)
        )
      )
    })

  const get = Effect.fn("Turns.get")((sessionId: SessionId, turnId: TurnId) =>
    Effect.flatMap(resolve(sessionId, turnId), whole)
  )

  /** The turn once it has ended. Interrupting the wait leaves the turn alone. */
  const awaitTerminal = (sessionId: SessionId, turnId: TurnId) =>
    Effect.gen(function* () {
      for (;;) {
        const row = yield* resolve(sessionId, turnId)
        if (row.settledAt !== null) return yield* whole(row)
        yield* Effect.async<void>((resume) => {
          const leave = hub.onTerminal(sessionId, row.turnId, () => resume(Effect.void))
          return Effect.sync(leave)
        }).pipe(Effect.raceFirst(stillOpen(sessionId, row.turnId)))
      }
    })

  /** Closes the gap between reading a turn and listening for its end. */
  const stillOpen = (sessionId: SessionId, turnId: TurnId) =>
    Effect.flatMap(repo.find(sessionId, turnId), (row) =>
      row === undefined || row.settledAt !== null ? Effect.void : Effect.never
    )

  const list = Effect.fn("Turns.list")(function* (
    sessionId: SessionId,
    page: { readonly after?: TurnId | undefined; readonly before?: TurnId | undefined; readonly limit: number }
  ) {
    yield* sessions.row(sessionId)
    const named = page.after ?? page.before
    const place = named === undefined ? undefined : yield* repo.find(sessionId, named)
    if (named !== undefined && place === undefined) return yield* unknownPlace()
    const seq = place?.seq ?? 0
    const direction = page.before === undefined ? "after" : "before"
    const from = page.before === undefined ? { after: seq } : { before: seq }
    const rows = yield* repo.page(sessionId, from, page.limit + 1)
    const cut = cutPage(rows, page.limit, (row) => row.turnId, direction)
    return { turns: yield* Effect.forEach(cut.page, whole), next: cut.next }
  })

  const queue = Effect.fn("Turns.queue")(function* (
    sessionId: SessionId,
    page: { readonly after?: string | undefined; readonly limit: number }
  ) {
    yield* sessions.row(sessionId)
    const place = page.after === undefined ? undefined : yield* repo.find(sessionId, page.after)
    if (page.after !== undefined && place === undefined) return yield* unknownPlace()
    const rows = yield* repo.queue(sessionId)
    // One that started or was withdrawn keeps its place.
    const from = place === undefined ? 0 : rows.filter((row) => row.rank <= place.rank).length
    const shown = rows.slice(from, from + page.limit)
    return {
      queue: shown.map((row, index) => ({
        ...toSnapshot(row, []),
        position: from + index + 1,
        cursor: row.acceptedCursor
      })),
      next: from + page.limit < rows.length ? (shown.at(-1)?.turnId ?? null) : null
    }
  })

  return { cancel, cancelActive, editQueued, withdraw, resolve, whole, get, awaitTerminal, list, queue }
})

/** What clients do with turns they submitted: read, wait, cancel, and arrange the queue. */
export class Turns extends Context.Tag("@harness/server/Turns")<Turns, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(Turns, make)
}
