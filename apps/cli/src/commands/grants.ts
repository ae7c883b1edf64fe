import type { ServerName, SessionId } from "@harness/protocol"
import { Effect } from "effect"
import type { Running } from "../command.ts"
import { connect, type Where } from "../connect.ts"
import { answer, moreAfter } from "../render/answer.ts"
import { grantTable, grantText } from "../render/asks.ts"

interface Common extends Where {
  readonly server: ServerName
  readonly json: boolean
}

/** What is allowed in a session because somebody said always. */
export const list = (
  { json, token, url, ...query }: Common & { readonly limit: number | undefined; readonly after: string | undefined },
  sessionId: SessionId
): Running =>
  Effect.gen(function* () {
    const { ask, client } = yield* connect({ token, url })
    const page = yield* ask(client.permissions.grants({ ...query, sessionId }))
    yield* answer(json, page, (style) => grantTable(page.grants, style))
    yield* moreAfter(json, page.next)
  })

/** Takes one back. */
export const remove = (
  { json, server, ...where }: Common,
  args: { readonly session: SessionId; readonly grant: string }
): Running =>
  Effect.gen(function* () {
    const { ask, client } = yield* connect(where)
    const gone = yield* ask(client.permissions.removeGrant({ server, sessionId: args.session, grantId: args.grant }))
    const { grantId, permission, patterns } = gone
    yield* answer(json, gone, () =>
      permission === undefined || patterns === undefined
        ? `${grantId} was not there\n`
        : `${grantId} is taken back: ${grantText({ permission, patterns })} is asked for again\n`
    )
  })
