import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import {
  type CancelTurnResponseValue,
  HarnessApi,
  PAGE_DEFAULT,
  resumePosition,
  type SessionId,
  type SubmitPromptRequestValue,
  type TurnId,
  TurnId as TurnIdSchema,
  ValidationError
} from "@harness/protocol"
import { Duration, Effect, Option, Schema } from "effect"
import { Forks } from "../forks/Forks.ts"
import { History } from "../history/History.ts"
import { Draining } from "../http/Draining.ts"
import { actor, onNewServer, onSession } from "../servers/on.ts"
import { streamOf } from "../servers/stream.ts"
import { Steers } from "./Steers.ts"
import { Streams } from "./Streams.ts"
import { Submissions } from "./Submissions.ts"
import { Turns } from "./Turns.ts"

const accepted = (body: unknown) => HttpServerResponse.unsafeJson(body, { status: 202 })
const cancelling = (answer: CancelTurnResponseValue) => accepted(answer)

/** The turn when it ends in time, else as it stands. Nobody cancels it by going away. */
const wait = (sessionId: SessionId, turnId: TurnId, millis: number) =>
  Effect.gen(function* () {
    const turns = yield* Turns
    const draining = yield* Draining
    const ended = yield* turns
      .awaitTerminal(sessionId, turnId)
      .pipe(
        Effect.timeoutOption(Duration.millis(millis)),
        Effect.raceFirst(Effect.as(draining.awaitDraining, Option.none()))
      )
    if (Option.isSome(ended)) return HttpServerResponse.unsafeJson(ended.value)
    return accepted({ ...(yield* turns.get(sessionId, turnId)), timedOut: true })
  })

const submit = (
  sessionId: SessionId,
  turnId: TurnId,
  request: SubmitPromptRequestValue,
  waitMillis: number | undefined
) =>
  Effect.gen(function* () {
    const who = yield* actor
    const receipt = yield* (yield* Submissions).submit(sessionId, turnId, request, who)
    return waitMillis === undefined ? accepted(receipt) : yield* wait(sessionId, turnId, waitMillis)
  })

/** A place in a list of turns is a turn's id. */
const placeOf = (place: string | undefined) =>
  place === undefined
    ? Effect.succeed(undefined)
    : Schema.decodeUnknown(TurnIdSchema)(place).pipe(
        Effect.mapError(
          () => new ValidationError({ code: "cursor.invalid", message: "after or before names nothing in this list" })
        )
      )

/** Handlers of turns: they translate, and decide nothing. */
export const TurnsHandlers = HttpApiBuilder.group(HarnessApi, "turns", (handlers) =>
  handlers
    .handle("listTurns", ({ path, urlParams }) =>
      onSession(
        path,
        Effect.gen(function* () {
          const after = yield* placeOf("after" in urlParams ? urlParams.after : undefined)
          const before = yield* placeOf("before" in urlParams ? urlParams.before : undefined)
          return yield* (yield* Turns).list(path.sessionId, { after, before, limit: urlParams.limit ?? PAGE_DEFAULT })
        })
      )
    )
    .handle("submitPrompt", ({ path, payload, urlParams }) => {
      const submitted = submit(path.sessionId, path.turnId, payload, urlParams.waitMillis)
      return payload.session === undefined ? onSession(path, submitted) : onNewServer(path.server, submitted)
    })
    .handle("getTurn", ({ path }) =>
      onSession(
        path,
        Effect.flatMap(Turns, (room) => room.get(path.sessionId, path.turnId))
      )
    )
    .handle("cancelTurn", ({ path, payload }) =>
      Effect.flatMap(actor, (who) =>
        onSession(
          path,
          Effect.flatMap(Turns, (room) => room.cancel(path.sessionId, path.turnId, payload?.reason, who))
        )
      ).pipe(Effect.map(cancelling))
    )
    .handle("cancelSession", ({ path, payload }) =>
      Effect.flatMap(actor, (who) =>
        onSession(
          path,
          Effect.flatMap(Turns, (room) => room.cancelActive(path.sessionId, payload?.reason, who))
        )
      ).pipe(Effect.map(cancelling))
    )
    .handle("steerTurn", ({ path, payload }) =>
      Effect.flatMap(actor, (who) =>
        onSession(
          path,
          Effect.flatMap(Steers, (room) => room.steer(path.sessionId, path.turnId, path.entryId, payload.content, who))
        )
      ).pipe(Effect.map(accepted))
    )
    .handleRaw("watchTurn", ({ path, urlParams, headers }) =>
      onSession(
        path,
        Effect.gen(function* () {
          const after = yield* resumePosition(urlParams.afterRevision, headers["last-event-id"])
          const turn = yield* (yield* Turns).resolve(path.sessionId, path.turnId)
          return yield* streamOf((yield* Streams).turn(path.sessionId, turn.turnId), after)
        })
      )
    )
)

/** Handlers of the queue. */
export const QueueHandlers = HttpApiBuilder.group(HarnessApi, "queue", (handlers) =>
  handlers
    .handle("listQueue", ({ path, urlParams }) =>
      onSession(
        path,
        Effect.flatMap(Turns, (room) =>
          room.queue(path.sessionId, { after: urlParams.after, limit: urlParams.limit ?? PAGE_DEFAULT })
        )
      )
    )
    .handle("editQueuedTurn", ({ path, payload }) =>
      Effect.flatMap(actor, (who) =>
        onSession(
          path,
          Effect.flatMap(Turns, (room) => room.editQueued(path.sessionId, path.turnId, payload.content, who))
        )
      )
    )
    .handle("withdrawQueuedTurn", ({ path, payload }) =>
      Effect.flatMap(actor, (who) =>
        onSession(
          path,
          Effect.flatMap(Turns, (room) => room.withdraw(path.sessionId, path.turnId, payload?.reason, who))
        )
      )
    )
)

/** Handlers of forks. */
export const ForksHandlers = HttpApiBuilder.group(HarnessApi, "forks", (handlers) =>
  handlers.handle("forkSession", ({ path, payload }) =>
    Effect.gen(function* () {
      const who = yield* actor
      const { created, session } = yield* onSession(
        path,
        Effect.flatMap(Forks, (room) => room.fork(path.sessionId, path.forkedSessionId, payload ?? {}, who))
      )
      return HttpServerResponse.unsafeJson(session, { status: created ? 201 : 200 })
    })
  )
)

/** Handlers of entries no turn made. */
export const ConversationHandlers = HttpApiBuilder.group(HarnessApi, "conversation", (handlers) =>
  handlers.handle("appendEntry", ({ path, payload }) =>
    Effect.flatMap(actor, (who) =>
      onSession(
        path,
        Effect.flatMap(History, (room) => room.append(path.sessionId, path.entryId, payload, who))
      )
    ).pipe(Effect.map(accepted))
  )
)
