import {
  CLOSE_INTERNAL,
  CLOSE_POLICY,
  CLOSE_PROTOCOL,
  CLOSE_RESTART,
  PROTOCOL,
  readInbound,
  type SessionStart
} from "@harness/protocol/jambonz"
import { Deferred, Effect, Either, Fiber, Queue } from "effect"
import { Draining } from "../http/Draining.ts"
import type { Call } from "./Call.ts"
import type { Calls } from "./Calls.ts"
import { Patience } from "./Patience.ts"
import { callSocket, type Upgraded } from "./socket.ts"

/** Who does not answer our goodbye is gone. */
const GOODBYE = "2 seconds"
/** What waits to be taken in while the socket is read; above it, reading pauses. What one read brings comes on top. */
const WAITING_FRAMES = 64
const WAITING_UNITS = 262_144
/** More than one read of a socket can bring. */
const FRAMES_MAX = 32_768
/** Of dropped frames, the first are told one by one, then each time there are twice as many. */
const TOLD_SINGLY = 16

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

/** Tells of frames that were dropped: what was wrong with them, and never what they held. */
const dropping = () => {
  let count = 0
  return (why: string) =>
    Effect.suspend(() => {
      count++
      return count <= TOLD_SINGLY || (count & (count - 1)) === 0
        ? Effect.annotateLogs(Effect.logWarning(`voice: ${why}`), { dropped: count })
        : Effect.void
    })
}

/** Nothing comes after it. */
const LAST = Symbol("last")

/** Frames on their way from the socket to the call; while too many are, the socket is not read. `undefined` is no text. */
const waitingRoom = Effect.map(Queue.dropping<string | undefined | typeof LAST>(FRAMES_MAX), (frames) => {
  let count = 0
  let units = 0
  return {
    /** Whether there was room. */
    offer: (text: string | undefined): boolean => {
      if (!Queue.unsafeOffer(frames, text)) return false
      count++
      units += text?.length ?? 0
      return true
    },
    end: () => void Queue.unsafeOffer(frames, LAST),
    isFull: () => count > WAITING_FRAMES || units > WAITING_UNITS,
    take: Effect.map(Queue.take(frames), (text) => {
      if (text === LAST) return text
      count--
      units -= text?.length ?? 0
      return text
    })
  }
})

/**
 * One socket, from its first frame to its close. Frames that make no sense are dropped: a call is not ended for them. The
 * call goes on when the socket does not.
 */
export const converse = (socket: Upgraded, calls: Calls["Type"], agent: string | undefined) =>
  Effect.gen(function* () {
    const draining = yield* Draining
    const patience = yield* Patience
    yield* draining.stay
    const waiting = yield* waitingRoom
    const drop = dropping()
    let call: Call | undefined
    let started = false
    const closing = yield* Deferred.make<void>()
    const closed = yield* Deferred.make<void>()
    const tell = (text: string | undefined) => {
      if (!waiting.offer(text)) wire.close(CLOSE_POLICY, "more at once than a call says")
      else if (waiting.isFull()) wire.pause()
    }
    const wire = callSocket(socket, {
      text: tell,
      binary: () => tell(undefined),
      closing: () => Deferred.unsafeDone(closing, Effect.void),
      closed: () => {
        waiting.end()
        Deferred.unsafeDone(closed, Effect.void)
      }
    })

    const begin = (text: string) =>
      Effect.gen(function* () {
        const start = startOf(text)
        if (Either.isRight(start)) {
          started = true
          // Either the call has this socket, and hears of its end, or it never had: a fiber of its own gives it, to the end.
          const giving = Effect.forkDaemon(Effect.interruptible(calls.attach(start.right, agent, wire)))
          const given = Effect.map(Effect.flatMap(giving, Fiber.join), (its) => {
            call = its
          })
          return yield* Effect.uninterruptible(given)
        }
        if (start.left === undefined) return yield* drop("a frame before session:start was dropped")
        wire.close(start.left.code, start.left.reason)
      }).pipe(
        Effect.catchAllCause((cause) => {
          wire.close(CLOSE_INTERNAL, "the call cannot be taken in")
          return Effect.logError("a call could not be taken in", cause)
        })
      )

    const take = (text: string | undefined) =>
      Effect.gen(function* () {
        if (text === undefined) return yield* drop("a binary frame was dropped")
        if (call === undefined) return yield* begin(text)
        const read = readInbound(text)
        if (Either.isLeft(read)) return yield* drop(read.left.message)
        const frame = read.right
        const { callSid } = call.scene
        if (frame.type === "session:start") return yield* drop("a second session:start was dropped")
        if (frame.call_sid !== undefined && frame.call_sid !== callSid) {
          return yield* drop("a frame of another call was dropped")
        }
        yield* call.hasRoom
        if (!call.offer({ _tag: "Frame", frame })) wire.close(CLOSE_POLICY, "more at once than a call says")
      })

    const listen = Effect.gen(function* () {
      for (;;) {
        const text = yield* waiting.take
        if (text === LAST) return
        yield* take(text)
        if (!waiting.isFull()) wire.resume()
      }
    })
    yield* Effect.addFinalizer(() => Effect.sync(() => call?.offer({ _tag: "Gone", wire })))
    const hurry = Effect.sync(() => {
      if (!started) wire.close(CLOSE_POLICY, "no session:start came")
    })
    yield* Effect.forkScoped(Effect.delay(hurry, patience.start))
    yield* Effect.forkScoped(Effect.forever(Effect.delay(Effect.sync(wire.beat), patience.heartbeat)))
    const listening = yield* Effect.forkScoped(Effect.raceFirst(listen, Deferred.await(closing)))
    yield* Effect.forkScoped(Effect.zipRight(Deferred.await(closing), Effect.delay(Effect.sync(wire.cut), GOODBYE)))
    yield* Effect.forkScoped(
      Effect.zipRight(
        draining.awaitLast,
        Effect.sync(() => wire.close(CLOSE_RESTART, "the server restarts"))
      )
    )
    yield* Deferred.await(closed)
    // What it said last is taken in, though it has gone.
    yield* Effect.timeoutOption(Fiber.await(listening), GOODBYE)
  }).pipe(Effect.scoped)
