import {
  MAX_WIRE_BYTES,
  type SessionId,
  type TurnChange,
  type TurnId,
  type TurnPart,
  type TurnSnapshot
} from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import type { Frame } from "../log/Channel.ts"
import { isTerminalRow, type LogRow, plainFrame, serverFrame, sessionFrame, turnFrame } from "../log/fact.ts"
import type { Source } from "../log/follow.ts"
import { Hub } from "../log/Hub.ts"
import { LogRepo } from "../log/LogRepo.ts"
import { Sessions } from "../sessions/Sessions.ts"
import { SessionsRepo } from "../sessions/SessionsRepo.ts"
import { toTimestamp } from "../storage/columns.ts"
import { Home } from "../storage/Home.ts"
import { Turns } from "./Turns.ts"
import { TurnsRepo } from "./TurnsRepo.ts"

const nothing = Effect.succeed(undefined)
const asItIs = (frame: Frame) => Effect.succeed(frame.text)

/** Rows whose content a deletion took are passed over; the position moves on. */
const toFrames = (rows: ReadonlyArray<LogRow>, frameOf: (row: LogRow) => Frame): ReadonlyArray<Frame> =>
  rows.map((row) => (row.body === "" ? { text: "", position: frameOf(row).position } : frameOf(row)))

const grows = (turn: TurnSnapshot): boolean => turn.parts.some((part) => "done" in part && !part.done)

/** Room for the envelope of an event. */
const ENVELOPE_BYTES = 4_096

/**
 * A turn as one event can carry it: when it is too long the prompt goes first, then the oldest parts. A reader of the
 * stream has had them, and `GET` has them all.
 */
const fitting = (turn: TurnSnapshot): TurnChange => {
  const room = MAX_WIRE_BYTES - ENVELOPE_BYTES
  const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
  if (bytes(turn) <= room) return turn
  const { prompt: _, finalText, ...rest } = turn
  // Its text is that of the last parts.
  const change = finalText === undefined || bytes(finalText) > room / 2 ? rest : { ...rest, finalText }
  let left = room - bytes({ ...change, parts: [] })
  const parts: Array<TurnPart> = []
  for (const part of turn.parts.toReversed()) {
    left -= bytes(part) + 1
    if (left < 0) break
    parts.unshift(part)
  }
  return { ...change, parts }
}

const make = Effect.gen(function* () {
  const { server } = yield* Home
  const hub = yield* Hub
  const log = yield* LogRepo
  const turns = yield* Turns
  const turnRows = yield* TurnsRepo
  const sessions = yield* Sessions
  const sessionRows = yield* SessionsRepo

  const onSession = (turn: TurnSnapshot, cursor: number): string => {
    const { sessionId, turnId, revision } = turn
    return plainFrame("session.turn.snapshot", { sessionId, cursor, turnId, revision, turn })
  }
  const onTurn = (turn: TurnSnapshot): string => {
    const { sessionId, turnId, revision } = turn
    return plainFrame("turn.snapshot", { sessionId, turnId, revision, turn })
  }

  const session = (sessionId: SessionId): Source => ({
    subscribe: () => hub.session(sessionId),
    head: Effect.suspend(() => log.sessionHead(sessionId, hub.published())),
    page: (after, upTo) =>
      Effect.map(log.sessionPage(sessionId, after, upTo), (rows) =>
        toFrames(rows, (row) => ({
          text: sessionFrame(row),
          position: row.cursor,
          last: row.type === "deleted" ? row : undefined
        }))
      ),
    cursor: (cursor) => plainFrame("session.cursor", { sessionId, cursor }),
    opensWithCursor: true,
    opening: (cursor) =>
      Effect.gen(function* () {
        const row = yield* sessionRows.find(sessionId)
        if (row === undefined || row.activeTurn === null) return []
        const turn = yield* turnRows.find(sessionId, row.activeTurn)
        return turn === undefined ? [] : [onSession(yield* turns.whole(turn), cursor)]
      }),
    growing: (cursor) =>
      hub.live
        .ofSession(sessionId)
        .filter(grows)
        .map((turn) => onSession(turn, cursor)),
    prepare: () => nothing,
    finish: asItIs,
    ended: (position) =>
      Effect.gen(function* () {
        const row = yield* sessionRows.find(sessionId)
        if (row === undefined || row.deletedAt === null || row.cursor > position) return undefined
        const [last] = yield* log.sessionPage(sessionId, row.cursor - 1, row.cursor)
        return last === undefined ? "" : sessionFrame(last)
      })
  })

  /** The last event of a turn: the turn, whole. */
  const terminal = (row: LogRow, withId: boolean) =>
    Effect.gen(function* () {
      const held = row.turnId === null ? undefined : yield* turnRows.find(row.sessionId, row.turnId)
      const envelope = JSON.parse(`{${row.body === "" ? '"turn":null}' : row.body}`)
      const turn = held === undefined ? envelope.turn : fitting(yield* turns.whole(held))
      return plainFrame("turn.terminal", { ...envelope, turn }, withId ? (row.revision ?? undefined) : undefined)
    })

  const turn = (sessionId: SessionId, turnId: TurnId): Source => ({
    subscribe: () => hub.turn(sessionId, turnId),
    head: Effect.gen(function* () {
      const head = yield* log.turnHead(sessionId, turnId, hub.published())
      // A turn that a fork took over has no rows of its own, and stands at its end.
      return head > 0 ? head : ((yield* turnRows.find(sessionId, turnId))?.revision ?? 0)
    }),
    page: (after, upTo) =>
      Effect.map(log.turnPage(sessionId, turnId, after, upTo), (rows) =>
        toFrames(rows, (row) => ({
          text: turnFrame(row),
          position: row.revision ?? 0,
          last: isTerminalRow(row) ? row : undefined
        }))
      ),
    cursor: (revision) => plainFrame("turn.heartbeat", { sessionId, turnId, revision }),
    opensWithCursor: false,
    opening: () =>
      Effect.gen(function* () {
        const row = yield* turnRows.find(sessionId, turnId)
        return row === undefined ? [] : [onTurn(yield* turns.whole(row))]
      }),
    growing: () => {
      const live = hub.live.get(sessionId, turnId)
      return live !== undefined && grows(live) ? [onTurn(live)] : []
    },
    prepare: () => nothing,
    finish: (frame) => (frame.last === undefined ? asItIs(frame) : terminal(frame.last, true)),
    ended: (position, after) =>
      Effect.gen(function* () {
        const row = yield* turnRows.find(sessionId, turnId)
        // Deleted while this reader was behind: there is nothing left to tell.
        if (row === undefined) return ""
        if (row.settledAt === null || row.revision > position) return undefined
        const [last] = yield* log.turnPage(sessionId, turnId, row.revision - 1, row.revision)
        if (last !== undefined) return yield* terminal(last, false)
        const { acceptedCursor: cursor, attempt, revision, settledAt } = row
        const at = toTimestamp(settledAt)
        const turn = fitting(yield* turns.whole(row))
        const fields = { sessionId, cursor, at, turnId, revision, attempt, turn }
        // A copied turn has no rows to replay: a reader from before its end gets its end as the row it would have been.
        return plainFrame("turn.terminal", fields, after !== undefined && after < revision ? revision : undefined)
      })
  })

  /** Says who a session is before its first event on one reader's stream. */
  const announcement = (sessionId: string, serverCursor: number) =>
    Effect.gen(function* () {
      const row = yield* sessionRows.find(sessionId)
      if (row === undefined) return ""
      const shown = yield* sessions.show(row)
      const fields = {
        serverCursor,
        sessionId,
        cursor: row.cursor,
        at: shown.createdAt,
        session: shown,
        replayed: true
      }
      return plainFrame("session.created", fields, serverCursor)
    })

  const wholeServer = (): Source => {
    const known = new Set<string>()
    const created = (frame: Frame) => frame.text.includes("event: session.created\n")
    return {
      subscribe: hub.server,
      head: Effect.sync(hub.published),
      page: (after, upTo) =>
        Effect.map(log.serverPage(after, upTo), (rows) => {
          const frames = toFrames(rows, (row) => {
            const text = serverFrame(row)
            return text === undefined
              ? { text: "", position: row.serverCursor }
              : { text, position: row.serverCursor, sessionId: row.sessionId }
          })
          const last = frames.at(-1)
          if (last === undefined || last.text !== "") return frames
          const stand = {
            text: plainFrame("server.cursor", { server, serverCursor: last.position }),
            position: last.position
          }
          return [...frames.slice(0, -1), stand]
        }),
      cursor: (serverCursor) => plainFrame("server.cursor", { server, serverCursor }),
      opensWithCursor: true,
      opening: () => Effect.succeed([]),
      growing: () => [],
      prepare: (frames) =>
        Effect.gen(function* () {
          if (frames.every((frame) => frame.sessionId === undefined || known.has(frame.sessionId))) return undefined
          const texts: Array<string> = []
          for (const frame of frames) {
            const { sessionId } = frame
            if (sessionId !== undefined && !known.has(sessionId)) {
              known.add(sessionId)
              if (!created(frame)) texts.push(yield* announcement(sessionId, frame.stands ?? frame.position - 1))
            }
            texts.push(frame.text)
          }
          return texts
        }),
      finish: asItIs,
      ended: () => nothing
    }
  }

  return { session, turn, server: wholeServer }
})

/** The three kinds of streams, each as what a reader follows. */
export class Streams extends Context.Tag("@harness/server/Streams")<Streams, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(Streams, make)
}
