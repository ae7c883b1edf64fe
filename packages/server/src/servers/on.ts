import { type Actor, CurrentActor, type NotFoundError, type ServerName, type SessionId } from "@harness/protocol"
import { Effect, Option } from "effect"
import { sessionNotFound } from "../sessions/refusals.ts"
import { type ServerServices, Servers } from "./Servers.ts"

/** Who asks, as the log keeps it. */
export const actor: Effect.Effect<Actor, never, CurrentActor> = Effect.map(CurrentActor, ({ actorId, clientId }) => ({
  actorId,
  ...(clientId === undefined ? {} : { clientId })
}))

/** Runs on a server that must be there: without one there is no such session. */
export const onSession = <A, E, R>(
  path: { readonly server: ServerName; readonly sessionId: SessionId },
  effect: Effect.Effect<A, E, R>
) =>
  Effect.flatMap(Servers, (servers): Effect.Effect<A, E | NotFoundError, Exclude<R, ServerServices>> => {
    const context = servers.find(path.server)
    return Option.isNone(context) ? Effect.fail(sessionNotFound(path.sessionId)) : Effect.provide(effect, context.value)
  })

/** Runs on a server, or answers what an empty one would. */
export const onServer = <A, E, R, B>(server: ServerName, effect: Effect.Effect<A, E, R>, none: B) =>
  Effect.flatMap(Servers, (servers): Effect.Effect<A | B, E, Exclude<R, ServerServices>> => {
    const context = servers.find(server)
    return Option.isNone(context) ? Effect.succeed(none) : Effect.provide(effect, context.value)
  })

/** Runs on a server, which comes into being if it never was. */
export const onNewServer = <A, E, R>(server: ServerName, effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Servers, (servers) =>
    Effect.flatMap(servers.ensure(server), (context) => Effect.provide(effect, context))
  )
