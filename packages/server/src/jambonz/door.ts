import {
  CLOSE_POLICY,
  CLOSE_PROTOCOL,
  CLOSE_RESTART,
  PROTOCOL,
  readInbound,
  type SessionStart
} from "@harness/protocol/jambonz"
import { Deferred, Duration, Effect, Either, Queue } from "effect"
import type { WebSocket } from "ws"
import { Draining } from "../http/Draining.ts"
import type { Call } from "./Call.ts"
import type { CallSocket, Calls } from "./Calls.ts"
import { callSocket, HEARTBEAT_MILLIS } from "./socket.ts"

/** Who says nothing after the handshake is shown out. */
const START_WITHIN = Duration.seconds(10)
/** When the server goes, sockets are the last to close: turns that are about to end still say so. */
const LAST_MILLIS = 1_000
/** Frames that may come before the call has its fiber. */
const EARLY_MAX = 256

const overlook = (what: string) => Effect.logWarning(`voice: ${what}`)

/** Reads a first frame; a call that names no version, or another than ours, is not one of ours. */
const startOf = (
  text: string
): Either.Either<SessionStart, { readonly code: number; readonly reason: string } | undefined> => {
  const read = readInbound(text)
  if (Either.isLeft(read)) {
    const { field, type } = read.left
    return type === "session:start" && field === "call_sid"
      ? Either.left({ code: CLOSE_POLICY, reason: "the call_sid cannot name a session" })
      : Either.left(undefined)
  }
  if (read.right.type !== "session:start") return Either.left(undefined)
  return read.right.protocol === PROTOCOL
    ? Either.right(read.right)
    : Either.left({ code: CLOSE_PROTOCOL, reason: `this harness speaks protocol ${PROTOCOL}` })
}

/**
 * One socket, from its first frame to its close. Frames that make no sense are dropped: a call is not ended for them. The
 * call goes on when the socket does not.
 */
export const converse = (socket: WebSocket, calls: Calls["Type"], agent: string | undefined) =>
  Effect.gen(function* () {
    const draining = yield* Draining
    const frames = yield* Queue.bounded<string>(EARLY_MAX)
    let call: Call | undefined
    const closed = yield* Deferred.make<void>()
    const tell = (text: string) => {
      if (!Queue.unsafeOffer(frames, text)) socket.close(CLOSE_POLICY, "more at once than a call says")
    }
    const wire: CallSocket & { readonly beat: () => void } = callSocket(socket, {
      text: tell,
      binary: () => tell(""),
      closed: () => Deferred.unsafeDone(closed, Effect.void)
    })

    const take = (text: string) =>
      Effect.gen(function* () {
        if (call === undefined) {
          const start = startOf(text)
          if (Either.isLeft(start)) {
            if (start.left !== undefined) wire.close(start.left.code, start.left.reason)
            else yield* overlook("a frame before session:start was dropped")
            return
          }
          call = yield* calls.attach(start.right, agent, wire)
          return
        }
        const read = readInbound(text)
        if (Either.isLeft(read)) return yield* overlook(read.left.message)
        const frame = read.right
        const { callSid } = call.scene
        if (frame.type === "session:start" || (frame.call_sid !== undefined && frame.call_sid !== callSid)) {
          return yield* overlook("a frame of another call was dropped")
        }
        if (!call.offer({ _tag: "Frame", frame })) wire.close(CLOSE_POLICY, "more at once than a call says")
      })

    const listen = Effect.forever(Effect.flatMap(Queue.take(frames), take))
    const patience = Effect.zipRight(
      Effect.sleep(START_WITHIN),
      Effect.sync(() => {
        if (call === undefined) wire.close(CLOSE_POLICY, "no session:start came")
      })
    )
    const beats = Effect.forever(Effect.zipRight(Effect.sleep(HEARTBEAT_MILLIS), Effect.sync(wire.beat)))
    yield* Effect.forkScoped(patience)
    yield* Effect.forkScoped(beats)
    yield* Effect.forkScoped(listen)
    yield* Effect.addFinalizer(() => Effect.sync(() => call?.offer({ _tag: "Gone", wire })))
    const leave = Effect.zipRight(
      draining.awaitDraining,
      Effect.delay(
        Effect.sync(() => wire.close(CLOSE_RESTART, "the server restarts")),
        LAST_MILLIS
      )
    )
    yield* Effect.forkScoped(leave)
    yield* Deferred.await(closed)
  }).pipe(Effect.scoped)
