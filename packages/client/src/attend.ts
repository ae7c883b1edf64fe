import type { ServerStreamEventValue, TurnStreamEventValue } from "@harness/protocol"
import { Duration, Effect, Fiber, FiberMap, Option, Queue, Schedule, Stream } from "effect"
import type { Attending, askDesk } from "./Asks.ts"
import type { Connection } from "./Connection.ts"
import type { ClientError } from "./errors.ts"
import type { FollowOptions, streams } from "./follow.ts"
import type { SessionAt } from "./input.ts"
import { type Ask, OpenAsks } from "./OpenAsks.ts"
import { passes } from "./reconnect.ts"

/** What hears a turn's stream while somebody attends to its asks. */
export interface Hearing {
  readonly onEvent: (event: TurnStreamEventValue) => Effect.Effect<void>
  readonly onLost: Effect.Effect<void>
}

/** What an event says of an ask: that there is one more, or which one is settled. */
const news = (
  event: TurnStreamEventValue | ServerStreamEventValue
): "asked" | { readonly settled: string } | undefined => {
  switch (event.type) {
    case "turn.approval.requested":
    case "turn.question.asked":
    case "session.turn.approval.requested":
    case "session.turn.question.asked":
      return "asked"
    case "turn.approval.resolved":
    case "session.turn.approval.resolved":
      return { settled: event.requestId }
    case "turn.question.replied":
    case "turn.question.rejected":
    case "session.turn.question.replied":
    case "session.turn.question.rejected":
      return { settled: event.questionId }
    default:
      return undefined
  }
}

/** Which turn asks: none while it is queued, for then it is another one that waits. */
interface Asking {
  readonly turnId: string | undefined
}

const askingAfter = (held: Asking | undefined, event: TurnStreamEventValue): Asking => {
  if (event.type === "turn.heartbeat") return held ?? { turnId: event.turnId }
  const queued = event.type === "turn.snapshot" && event.turn.state === "queued"
  return { turnId: queued ? undefined : event.turnId }
}

interface Room extends Attending {
  readonly server: string
  /** What is open now. */
  readonly open: Effect.Effect<ReadonlyArray<Ask>, ClientError>
}

/** Looks for open asks whenever it is rung for, and puts each once. */
const attendant = ({ backoff }: Connection, desk: ReturnType<typeof askDesk>, { server, open, ...callbacks }: Room) =>
  Effect.gen(function* () {
    const asks = new OpenAsks()
    const bell = yield* Queue.sliding<void>(1)
    const work = yield* FiberMap.make<string, void, ClientError>()
    const growing = Schedule.exponential(Duration.max(backoff.first, Duration.millis(1)))
    const patiently = { while: passes, schedule: Schedule.union(growing, Schedule.spaced(backoff.longest)) }

    const withdraw = (id: string) =>
      Effect.suspend(() =>
        Option.match(FiberMap.unsafeGet(work, `ask ${id}`), { onNone: () => Effect.void, onSome: Fiber.interruptFork })
      )
    const put = (ask: Ask) => {
      const putting = Effect.flatMap(desk.put(server, ask, callbacks), (answer) =>
        // An answer is on its own way: the event that it arrived must not stop it.
        answer === undefined
          ? Effect.void
          : Effect.asVoid(FiberMap.run(work, `answer ${ask.id}`, Effect.retry(answer, patiently)))
      )
      return Effect.suspend(() =>
        asks.isOpen(ask.id) ? Effect.asVoid(FiberMap.run(work, `ask ${ask.id}`, putting)) : Effect.void
      )
    }
    const look = Effect.suspend(() => {
      const take = asks.look()
      return Effect.flatMap(open, (listed) => {
        const { gone, opened } = take(listed)
        return Effect.zipRight(
          Effect.forEach(gone, withdraw, { discard: true }),
          Effect.forEach(opened, put, { discard: true })
        )
      })
    })
    const looking = Effect.forever(Effect.zipRight(Queue.take(bell), Effect.retry(look, patiently)))

    return {
      ring: Effect.asVoid(Queue.offer(bell, undefined)),
      settled: (id: string) =>
        Effect.suspend(() => {
          asks.settled(id)
          return withdraw(id)
        }),
      /** Works until something goes wrong that time does not mend. */
      works: Effect.raceFirst(looking, Effect.zipRight(FiberMap.join(work), Effect.never))
    }
  })

/** Hears one stream: rings after each connection, and for each ask that matters. */
const listener = ({ ring, settled }: Effect.Effect.Success<ReturnType<typeof attendant>>) => {
  let reconnected = true
  return {
    lost: Effect.sync(() => {
      reconnected = true
    }),
    hear: (event: TurnStreamEventValue | ServerStreamEventValue, matters: boolean) =>
      Effect.suspend(() => {
        const said = news(event)
        const rings = reconnected || (said === "asked" && matters)
        reconnected = false
        return Effect.zipRight(
          said === undefined || said === "asked" ? Effect.void : settled(said.settled),
          rings ? ring : Effect.void
        )
      })
  }
}

/**
 * Attends to what a turn, and every session below its own, ask while it is waited for. Events only ring: what is open is what
 * the lists say, which are asked for again at every ring and after every lost connection. The sessions below are heard on
 * their server's stream.
 */
export const attending =
  (connection: Connection, desk: ReturnType<typeof askDesk>, { followServer }: ReturnType<typeof streams>) =>
  <A>(
    { server, sessionId, maxDowntime, ...callbacks }: SessionAt & Attending & Pick<FollowOptions, "maxDowntime">,
    wait: (hearing: Hearing) => Effect.Effect<A, ClientError>
  ): Effect.Effect<A, ClientError> =>
    Effect.gen(function* () {
      let asking: Asking | undefined
      const open = Effect.suspend(() =>
        asking?.turnId === undefined ? Effect.succeed([]) : desk.open({ server, sessionId }, asking.turnId, callbacks)
      )
      const person = yield* attendant(connection, desk, { server, open, ...callbacks })
      const [ofTurn, ofServer] = [listener(person), listener(person)]

      // Sessions that somebody's turn spawned: no others can be below ours.
      const spawned = new Set<string>()
      const below = followServer({ server, maxDowntime, onLost: () => ofServer.lost }).pipe(
        Stream.runForEach((event) => {
          if (event.type === "session.created" && event.session.spawnedFrom !== undefined) spawned.add(event.sessionId)
          if (event.type === "session.deleted") spawned.delete(event.sessionId)
          return ofServer.hear(event, "sessionId" in event && spawned.has(event.sessionId))
        }),
        Effect.zipRight(Effect.never)
      )
      const waiting = wait({
        onEvent: (event) =>
          Effect.suspend(() => {
            const before = asking?.turnId
            asking = askingAfter(asking, event)
            return Effect.zipRight(asking.turnId === before ? Effect.void : person.ring, ofTurn.hear(event, true))
          }),
        onLost: ofTurn.lost
      })
      return yield* Effect.raceFirst(waiting, Effect.raceFirst(person.works, below))
    }).pipe(Effect.scoped)
