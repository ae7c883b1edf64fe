import { mint } from "@harness/client"
import type { ServerName, Session, SessionId, SessionState } from "@harness/protocol"
import { Effect } from "effect"
import type { Running } from "../command.ts"
import { connect, type Where } from "../connect.ts"
import { withoutUndefined } from "../present.ts"
import { answer, moreAfter } from "../render/answer.ts"
import { sessionTable, sessionText } from "../render/sessions.ts"

interface Common extends Where {
  readonly server: ServerName
  readonly json: boolean
}

const show = (json: boolean, session: Session) => answer(json, session, (style) => sessionText(session, style))

/** One page of the sessions of a server. */
export const list = ({
  json,
  token,
  url,
  ...query
}: Common & {
  readonly limit: number | undefined
  readonly after: string | undefined
  readonly state: SessionState | undefined
}): Running =>
  Effect.gen(function* () {
    const { ask, client } = yield* connect({ token, url })
    const page = yield* ask(client.sessions.list(query))
    yield* answer(json, page, (style) => sessionTable(page.sessions, style))
    yield* moreAfter(json, page.next)
  })

/** One session. */
export const get = ({ json, server, ...where }: Common, sessionId: SessionId): Running =>
  Effect.gen(function* () {
    const { ask, client } = yield* connect(where)
    yield* show(json, yield* ask(client.sessions.get({ server, sessionId })))
  })

/** Makes a session. */
export const create = (
  {
    json,
    server,
    token,
    url,
    ...fields
  }: Common & {
    readonly title: string | undefined
    readonly workdir: string | undefined
    readonly model: string | undefined
    readonly agent: string | undefined
    readonly systemPrompt: string | undefined
  },
  id: SessionId | undefined
): Running =>
  Effect.gen(function* () {
    const { ask, client } = yield* connect({ token, url })
    const sessionId = id ?? (yield* mint("ses"))
    yield* show(json, yield* ask(client.sessions.create({ server, sessionId, ...withoutUndefined(fields) })))
  })

/** Gives a session another title. */
export const rename = (
  { json, server, ...where }: Common,
  args: { readonly session: SessionId; readonly title: string }
): Running =>
  Effect.gen(function* () {
    const { ask, client } = yield* connect(where)
    yield* show(json, yield* ask(client.sessions.update({ server, sessionId: args.session, title: args.title })))
  })

/** Deletes a session. */
export const remove = (
  { json, reason, server, ...where }: Common & { readonly reason: string | undefined },
  sessionId: SessionId
): Running =>
  Effect.gen(function* () {
    const { ask, client } = yield* connect(where)
    const gone = yield* ask(client.sessions.delete({ server, sessionId, ...withoutUndefined({ reason }) }))
    yield* answer(json, gone, () => `${gone.sessionId} was deleted at ${gone.deletedAt}\n`)
  })
