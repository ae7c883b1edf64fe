import type { ClientError } from "@harness/client"
import type { ServerName, ServerStreamEventValue, SessionId, SessionStreamEventValue } from "@harness/protocol"
import { Deferred, type Duration, Effect, Stream } from "effect"
import type { Connected } from "../connect.ts"
import { everyPage } from "../pages.ts"

const shown = new Set<ServerStreamEventValue["type"]>([
  "session.created",
  "session.turn.approval.requested",
  "session.turn.approval.resolved",
  "session.turn.question.asked",
  "session.turn.question.replied",
  "session.turn.question.rejected"
])

/** A session and all below it, as they are now. */
const familyOf = (
  client: Connected["client"],
  server: ServerName,
  sessionId: SessionId
): Effect.Effect<ReadonlyArray<SessionId>, ClientError> =>
  Effect.gen(function* () {
    const children = yield* everyPage((after) =>
      Effect.map(client.sessions.children({ server, sessionId, after }), ({ children, next }) => ({
        items: children.map((child) => child.sessionId),
        next
      }))
    )
    const below = yield* Effect.forEach(children, (child) => familyOf(client, server, child), { concurrency: 4 })
    return [sessionId, ...below.flat()]
  })

interface Following {
  readonly server: ServerName
  readonly sessionId: SessionId
  readonly maxDowntime: Duration.DurationInput
  readonly onLost: (error: ClientError) => Effect.Effect<void>
}

/** Sub-agents below a session, from now on: that there is one, and what it asks. Their own watch shows the rest. */
const below = (client: Connected["client"], { sessionId, ...follow }: Following, live: Effect.Effect<unknown>) =>
  Stream.unwrap(
    Effect.map(familyOf(client, follow.server, sessionId), (found) => {
      const family = new Set<string>(found)
      return client.followServer(follow).pipe(
        Stream.tap(() => live),
        Stream.filter((event) => {
          // A session is announced before its first event, and says there who spawned it.
          if (event.type === "session.created" && family.has(event.session.spawnedFrom?.sessionId ?? "")) {
            family.add(event.sessionId)
          }
          return "sessionId" in event && event.sessionId !== sessionId && family.has(event.sessionId)
        }),
        Stream.filter((event) => shown.has(event.type))
      )
    })
  )

/** A session's events, and what its sub-agents ask. It begins once both are heard, so that nothing falls between them. */
export const withBelow = (
  client: Connected["client"],
  following: Following,
  own: Stream.Stream<SessionStreamEventValue, ClientError>
): Stream.Stream<SessionStreamEventValue | ServerStreamEventValue, ClientError> =>
  Stream.unwrap(
    Effect.map(Deferred.make<void>(), (live) =>
      Stream.merge(
        Stream.unwrap(Effect.as(Deferred.await(live), own)),
        below(client, following, Deferred.succeed(live, undefined)),
        { haltStrategy: "left" }
      )
    )
  )
