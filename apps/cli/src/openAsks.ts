import type { ClientError } from "@harness/client"
import type { PermissionRequest, Question, ServerName, SessionId } from "@harness/protocol"
import { Effect } from "effect"
import type { Connected } from "./connect.ts"
import { everyPage } from "./pages.ts"

type Client = Connected["client"]

/** A session and all below it, or, with no session, everything on the server. */
export interface Scope {
  readonly server: ServerName
  readonly sessionId: SessionId | undefined
}

interface At {
  readonly server: ServerName
  readonly sessionId: SessionId
}

type Found<A> = Effect.Effect<ReadonlyArray<A>, ClientError>

const waitingSessions = (client: Client, server: ServerName): Found<SessionId> =>
  everyPage((after) =>
    Effect.map(client.sessions.list({ server, state: "waiting", after }), ({ next, sessions }) => ({
      items: sessions.map(({ sessionId }) => sessionId),
      next
    }))
  )

const everywhere = <A>(
  client: Client,
  { server, sessionId }: Scope,
  own: (at: At) => Found<A>,
  below: (at: At) => Found<A>
): Found<A> => {
  const all = (lists: ReadonlyArray<ReadonlyArray<A>>) => lists.flat()
  if (sessionId !== undefined) {
    const at = { server, sessionId }
    return Effect.map(Effect.all([own(at), below(at)], { concurrency: 2 }), all)
  }
  return Effect.flatMap(waitingSessions(client, server), (sessions) =>
    Effect.map(
      Effect.forEach(
        sessions,
        (one) =>
          // One that was deleted meanwhile waits for nothing.
          Effect.catchTag(own({ server, sessionId: one }), "NotFoundError", () => Effect.succeed<ReadonlyArray<A>>([])),
        { concurrency: 4 }
      ),
      all
    )
  )
}

/** Permission requests nobody has answered. */
export const openPermissions = (client: Client, scope: Scope): Found<PermissionRequest> => {
  const pages = (list: Client["permissions"]["list"]) => (at: At) =>
    everyPage((after) => Effect.map(list({ ...at, after }), ({ next, permissions }) => ({ items: permissions, next })))
  return everywhere(client, scope, pages(client.permissions.list), pages(client.permissions.below))
}

/** Questions nobody has answered. */
export const openQuestions = (client: Client, scope: Scope): Found<Question> => {
  const pages = (list: Client["questions"]["list"]) => (at: At) =>
    everyPage((after) => Effect.map(list({ ...at, after }), ({ next, questions }) => ({ items: questions, next })))
  return everywhere(client, scope, pages(client.questions.list), pages(client.questions.below))
}
