import type { ServerStreamEventValue, SessionStreamEventValue, TurnStreamEventValue } from "@harness/protocol"
import { Chunk, Duration, Effect, Either, Exit, Option, Stream } from "effect"
import type { Connection } from "./Connection.ts"
import { Cursor, Moved } from "./Cursor.ts"
import { type ClientError, ProtocolMismatch } from "./errors.ts"
import { cut, Fault, silent, toFault } from "./Fault.ts"
import { EndlessFrame, frameReader } from "./frames.ts"
import { located, type ServerAt, type SessionAt, serverPath, sessionPath, type TurnAt, turnPath } from "./input.ts"
import { openStream } from "./openStream.ts"
import { Reconnect } from "./reconnect.ts"
import { type StreamKind, serverStream, sessionStream, turnStream } from "./streamKinds.ts"

/** How to follow a stream. */
export interface FollowOptions {
  /** The position after which it starts. Without one: now. */
  readonly after?: number | undefined
  /** How long it may be without a connection before it gives up. 5 minutes. */
  readonly maxDowntime?: Duration.DurationInput | undefined
  /** Told of every lost connection, and of every try that failed. */
  readonly onLost?: ((error: ClientError) => Effect.Effect<void>) | undefined
}

type Ended = Option.Option<Fault | Moved>
const broken = (fault: Fault | Moved): Ended => Option.some(fault)

/** One connection: its events until it breaks. */
const connected = <Event>(
  connection: Connection,
  kind: StreamKind<Event>,
  url: string,
  cursor: Cursor<Event>,
  reconnect: Reconnect
): Stream.Stream<Event, Fault | Moved> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const from = cursor.position
      const read = yield* openStream(connection, from === undefined ? url : `${url}?${kind.resume}=${from}`)
      const frames = frameReader()
      const pull = read.pipe(
        Effect.timeoutFail({
          duration: connection.silence,
          onTimeout: () => broken(new Fault(silent(connection.silence)))
        }),
        Effect.map((bytes) => {
          const before = cursor.position
          const events: Array<Exit.Exit<Event, Ended>> = []
          for (const frame of frames(bytes)) {
            if (frame instanceof EndlessFrame) {
              events.push(Exit.fail(broken(new Fault(new ProtocolMismatch({ message: "a frame does not end" })))))
              break
            }
            const taken = cursor.take(frame)
            if (Either.isLeft(taken)) {
              events.push(Exit.fail(broken(taken.left instanceof Moved ? taken.left : new Fault(taken.left))))
              break
            }
            reconnect.arrived(cursor.position !== before)
            if (Option.isSome(taken.right)) events.push(Exit.succeed(taken.right.value))
          }
          return Chunk.unsafeFromArray(events)
        })
      )
      return Stream.flattenExitOption(Stream.repeatEffectChunkOption(pull))
    })
  )

/** Events after a position, each once and in order, over as many connections as it takes. */
const follow = <Event>(
  connection: Connection,
  kind: StreamKind<Event>,
  path: string,
  { after, maxDowntime = "5 minutes", onLost = () => Effect.void }: FollowOptions
): Stream.Stream<Event, ClientError> =>
  Stream.suspend(() => {
    const cursor = new Cursor(kind, after)
    const reconnect = new Reconnect(connection, Duration.decode(maxDowntime), onLost)
    const attempt = connected(connection, kind, connection.baseUrl + path, cursor, reconnect).pipe(
      Stream.concat(Stream.fail(new Fault(cut("the stream ended without its last event")))),
      Stream.catchAll((failure) =>
        failure instanceof Moved ? Stream.empty : Stream.execute(reconnect.lost(toFault(failure)))
      )
    )
    const once = Stream.unwrap(Effect.as(reconnect.ready, attempt))
    return Stream.repeatValue(once).pipe(Stream.flatten(), Stream.takeUntil(kind.ends))
  })

const atServer = located(serverPath)
const atSession = located(sessionPath)
const atTurn = located(turnPath)

/**
 * The event streams. They reconnect by themselves, go on where they were, and end only with the last event of what they
 * follow, with a refusal of the server, or after `maxDowntime`. Previews pass through as they come; rows come once.
 */
export const streams = (connection: Connection) => ({
  /** Ends after `session.deleted`. */
  followSession: (input: SessionAt & FollowOptions): Stream.Stream<SessionStreamEventValue, ClientError> =>
    Stream.unwrap(
      Effect.map(atSession(input), ({ server, sessionId }) =>
        follow(connection, sessionStream, `/v1/servers/${server}/sessions/${sessionId}/events`, input)
      )
    ),
  /** Ends after `turn.terminal`. Without a position it opens with the turn as it is. */
  followTurn: (input: TurnAt & FollowOptions): Stream.Stream<TurnStreamEventValue, ClientError> =>
    Stream.unwrap(
      Effect.map(atTurn(input), ({ server, sessionId, turnId }) =>
        follow(connection, turnStream, `/v1/servers/${server}/sessions/${sessionId}/turns/${turnId}/events`, input)
      )
    ),
  /** Has no end. A session may be announced again after a reconnection; no row comes twice. */
  followServer: (input: ServerAt & FollowOptions): Stream.Stream<ServerStreamEventValue, ClientError> =>
    Stream.unwrap(
      Effect.map(atServer(input), ({ server }) =>
        follow(connection, serverStream, `/v1/servers/${server}/events`, input)
      )
    )
})
