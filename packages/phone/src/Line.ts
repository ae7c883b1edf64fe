import { Effect, FiberHandle, Schedule, type Scope } from "effect"
import { openSocket, type Socket } from "./socket.ts"

/** What the line tells of its socket: of the newest alone, each thing once and in order. */
export interface LineNews {
  readonly opened: () => void
  readonly refused: (message: string) => void
  readonly text: (text: string) => void
  readonly binary: () => void
  readonly ping: (answer: () => void) => void
  readonly closed: (code: number, reason: string) => void
}

/** The one socket of a call, and how another takes its place. */
export interface Line {
  readonly isUp: () => boolean
  /** Once, or until it works. */
  readonly open: (insist: boolean) => Effect.Effect<void>
  readonly send: (text: string) => void
  readonly close: () => void
  readonly cut: (halfOpen: boolean) => void
  /** No more tries. */
  readonly rest: Effect.Effect<void>
}

const NEXT_TRY = Schedule.spaced("100 millis")

/** A line to a harness. Every socket it ever opened is gone with its scope. */
export const makeLine = (
  url: string,
  secret: string | undefined,
  news: LineNews
): Effect.Effect<Line, never, Scope.Scope> =>
  Effect.gen(function* () {
    const opening = yield* FiberHandle.make<void, never>()
    const sockets = new Set<Socket>()
    let current: Socket | undefined
    let newest = 0
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const socket of sockets) socket.terminate()
      })
    )

    const attempt = Effect.suspend(() => {
      newest += 1
      const mine = newest
      const unless = (tell: () => void) => {
        if (mine === newest) tell()
      }
      return openSocket(url, secret, {
        opened: (socket) => {
          sockets.add(socket)
          if (mine !== newest) return socket.terminate()
          current = socket
          news.opened()
        },
        text: (text) => unless(() => news.text(text)),
        binary: () => unless(news.binary),
        ping: (answer) => unless(() => news.ping(answer)),
        closed: (code, reason) =>
          unless(() => {
            current = undefined
            news.closed(code, reason)
          })
      })
    })

    return {
      isUp: () => current !== undefined,
      open: (insist) => {
        const trying = insist
          ? Effect.retry(attempt, NEXT_TRY)
          : Effect.catchAll(attempt, ({ message }) => Effect.sync(() => news.refused(message)))
        return FiberHandle.run(opening, Effect.ignore(trying))
      },
      send: (text) => current?.send(text),
      close: () => current?.close(),
      cut: (halfOpen) => {
        newest += 1
        if (halfOpen) current?.leave()
        else current?.terminate()
        current = undefined
      },
      rest: FiberHandle.clear(opening)
    }
  })
