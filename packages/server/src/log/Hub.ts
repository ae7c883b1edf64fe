import { SESSION_EVENT_HEARTBEAT_MILLIS, type ServerName } from "@harness/protocol"
import { Clock, Context, Effect, Layer } from "effect"
import { Channel } from "./Channel.ts"
import { isTerminalRow, type LogRow, plainFrame, serverFrame, sessionFrame, turnFrame } from "./fact.ts"
import { Live } from "./Live.ts"

/** Readers look again at most once in this time; the first news after quiet goes out at once. */
const TICK_MILLIS = 4
/** What it takes to serve one: the next ring waits until everybody is served, and finds more for each. */
const READER_MILLIS = 0.02
const BEAT_MILLIS = SESSION_EVENT_HEARTBEAT_MILLIS - 3_000

/** Growing text as it comes. */
export interface Delta {
  readonly kind: "text" | "reasoning" | "refusal"
  readonly sessionId: string
  readonly turnId: string
  readonly attempt: number
  readonly partId: string
  readonly offset: number
  readonly delta: string
}

/** What a running tool shows of itself. */
export interface Activity {
  readonly sessionId: string
  readonly turnId: string
  readonly attempt: number
  readonly callId: string
  readonly output?: string
  readonly progress?: unknown
}

/** Somebody in this process who follows a session; called in the breath in which streams are told, so it must be quick. */
export interface Listener {
  readonly row: (row: LogRow) => void
  readonly delta: (delta: Delta) => void
}

interface Watched {
  readonly channel: Channel
  readonly beat: () => string
}

export const turnKey = (sessionId: string, turnId: string): string => `${sessionId}/${turnId}`

/** Where commits become news: fans rows and previews out to the streams that have readers, and to whoever waits for a turn's end. */
export class Hub extends Context.Tag("@harness/server/Hub")<
  Hub,
  {
    /** The newest published server cursor: whatever is behind it is on every channel or in the log. */
    readonly published: () => number
    readonly begin: (serverCursor: number) => void
    /** The commit room alone calls this, right after COMMIT. */
    readonly publish: (rows: ReadonlyArray<LogRow>) => void
    readonly delta: (delta: Delta) => void
    readonly activity: (activity: Activity) => void
    /** Turns that run here and now, with the text that no row holds yet. */
    readonly live: Live
    readonly session: Subscribe<[sessionId: string]>
    readonly turn: Subscribe<[sessionId: string, turnId: string]>
    readonly server: Subscribe<[]>
    /** Follows a session from here on; the answer ends it. */
    readonly listen: (sessionId: string, listener: Listener) => () => void
    /** Rings once when the turn's terminal row is published. */
    readonly onTerminal: (sessionId: string, turnId: string, wake: () => void) => () => void
  }
>() {
  static readonly layer = (server: ServerName) => Layer.scoped(Hub, make(server))
}

/** A channel for as long as it has readers. `position` is the durable position when the channel is new. */
type Subscribe<K extends ReadonlyArray<string>> = (...key: K) => {
  readonly channel: Channel
  readonly leave: () => void
}

const make = (server: ServerName) =>
  Effect.gen(function* () {
    let published = 0
    const sessions = new Map<string, Watched>()
    const turns = new Map<string, Watched>()
    const servers = new Map<string, Watched>()
    const terminals = new Map<string, Set<() => void>>()
    const listeners = new Map<string, Set<Listener>>()
    const live = new Live()

    const dirty = new Set<Watched>()
    let wakeTicker: (() => void) | undefined
    const news = (watched: Watched) => {
      dirty.add(watched)
      wakeTicker?.()
    }
    const awaitNews = Effect.async<void>((resume) => {
      if (dirty.size > 0) return resume(Effect.void)
      wakeTicker = () => {
        wakeTicker = undefined
        resume(Effect.void)
      }
    })
    const flush = Effect.sync(() => {
      const batch = [...dirty]
      dirty.clear()
      for (const { channel } of batch) channel.ring()
      return TICK_MILLIS + batch.reduce((readers, { channel }) => readers + channel.readers, 0) * READER_MILLIS
    })
    yield* awaitNews.pipe(
      Effect.zipRight(flush),
      Effect.flatMap(Effect.sleep),
      Effect.forever,
      Effect.withTracerEnabled(false),
      Effect.forkScoped
    )

    // Quiet or not, every stream says where it stands in time; as a frame like others it keeps its place in the order.
    const beat = Effect.map(Clock.currentTimeMillis, (now) => {
      for (const watched of [...sessions.values(), ...turns.values(), ...servers.values()]) {
        if (watched.channel.beatAt === 0) watched.channel.beatAt = now
        if (now - watched.channel.beatAt < BEAT_MILLIS) continue
        watched.channel.beatAt = now
        watched.channel.push({ text: watched.beat(), position: 0 })
        news(watched)
      }
    })
    yield* beat.pipe(Effect.delay("1 second"), Effect.forever, Effect.withTracerEnabled(false), Effect.forkScoped)

    const subscribe = (map: Map<string, Watched>, key: string, beatOf: (channel: Channel) => string) => {
      let watched = map.get(key)
      if (watched === undefined) {
        const channel = new Channel()
        watched = { channel, beat: () => beatOf(channel) }
        map.set(key, watched)
      }
      const { channel } = watched
      channel.readers++
      let here = true
      return {
        channel,
        leave: () => {
          if (!here) return
          here = false
          channel.readers--
          if (channel.readers === 0) map.delete(key)
        }
      }
    }

    const toSession = (row: LogRow) => {
      const watched = sessions.get(row.sessionId)
      if (watched === undefined) return
      watched.channel.push({
        text: sessionFrame(row),
        position: row.cursor,
        last: row.type === "deleted" ? row : undefined
      })
      news(watched)
    }
    const toTurn = (row: LogRow) => {
      if (row.turnId === null || row.revision === null) return
      const watched = turns.get(turnKey(row.sessionId, row.turnId))
      if (watched === undefined) return
      watched.channel.push({ text: turnFrame(row), position: row.revision, last: isTerminalRow(row) ? row : undefined })
      news(watched)
    }
    const toServer = (row: LogRow) => {
      const watched = servers.get("")
      if (watched === undefined) return
      const text = serverFrame(row)
      const { serverCursor } = row
      watched.channel.push(
        text === undefined
          ? { text: plainFrame("server.cursor", { server, serverCursor }), position: serverCursor }
          : { text, position: serverCursor, sessionId: row.sessionId }
      )
      news(watched)
    }
    const publish = (rows: ReadonlyArray<LogRow>) => {
      for (const row of rows) {
        published = row.serverCursor
        live.apply(row)
        toSession(row)
        toTurn(row)
        toServer(row)
        for (const listener of listeners.get(row.sessionId) ?? []) listener.row(row)
        if (row.turnId === null || !isTerminalRow(row)) continue
        const key = turnKey(row.sessionId, row.turnId)
        const wakes = terminals.get(key)
        terminals.delete(key)
        for (const wake of wakes ?? []) wake()
      }
    }

    const preview = (sessionId: string, turnId: string, type: string, fields: object) => {
      const onSession = sessions.get(sessionId)
      if (onSession !== undefined) {
        onSession.channel.push({ text: plainFrame(`session.turn.${type}`, fields), position: 0 })
        news(onSession)
      }
      const onTurn = turns.get(turnKey(sessionId, turnId))
      if (onTurn !== undefined) {
        onTurn.channel.push({ text: plainFrame(`turn.${type}`, fields), position: 0 })
        news(onTurn)
      }
    }

    return Hub.of({
      published: () => published,
      begin: (serverCursor) => {
        published = serverCursor
      },
      publish,
      live,
      delta: (delta) => {
        const { kind, ...fields } = delta
        live.delta(kind, fields)
        for (const listener of listeners.get(fields.sessionId) ?? []) listener.delta(delta)
        preview(fields.sessionId, fields.turnId, `${kind}.delta`, fields)
      },
      activity: (activity) => {
        preview(activity.sessionId, activity.turnId, "tool.activity", activity)
        const watched = servers.get("")
        if (watched === undefined) return
        const fields = { serverCursor: published, ...activity }
        watched.channel.push({
          text: plainFrame("session.turn.tool.activity", fields),
          position: 0,
          stands: published,
          sessionId: activity.sessionId
        })
        news(watched)
      },
      session: (sessionId) =>
        subscribe(sessions, sessionId, (channel) =>
          plainFrame("session.cursor", { sessionId, cursor: channel.position })
        ),
      turn: (sessionId, turnId) =>
        subscribe(turns, turnKey(sessionId, turnId), (channel) =>
          plainFrame("turn.heartbeat", { sessionId, turnId, revision: channel.position })
        ),
      server: () =>
        subscribe(servers, "", (channel) => plainFrame("server.cursor", { server, serverCursor: channel.position })),
      listen: (sessionId, listener) => {
        const all = listeners.get(sessionId) ?? new Set()
        all.add(listener)
        listeners.set(sessionId, all)
        return () => {
          all.delete(listener)
          if (all.size === 0 && listeners.get(sessionId) === all) listeners.delete(sessionId)
        }
      },
      onTerminal: (sessionId, turnId, wake) => {
        const key = turnKey(sessionId, turnId)
        const wakes = terminals.get(key) ?? new Set()
        wakes.add(wake)
        terminals.set(key, wakes)
        return () => {
          wakes.delete(wake)
          if (wakes.size === 0 && terminals.get(key) === wakes) terminals.delete(key)
        }
      }
    })
  })
