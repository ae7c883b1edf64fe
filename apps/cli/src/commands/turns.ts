import type { ServerName, SessionId, TurnId } from "@harness/protocol"
import { Effect } from "effect"
import type { Running } from "../command.ts"
import { connect, type Where } from "../connect.ts"
import { answer, moreAfter } from "../render/answer.ts"
import { turnTable, turnText } from "../render/turns.ts"

interface Common extends Where {
  readonly server: ServerName
  readonly json: boolean
}

/** One page of a session's turns. */
export const list = (
  {
    json,
    token,
    url,
    ...query
  }: Common & {
    readonly limit: number | undefined
    readonly after: string | undefined
    readonly before: string | undefined
  },
  sessionId: SessionId
): Running =>
  Effect.gen(function* () {
    const { ask, client } = yield* connect({ token, url })
    const page = yield* ask(client.turns.list({ ...query, sessionId }))
    yield* answer(json, page, (style) => turnTable(page.turns, style))
    yield* moreAfter(json, page.next)
  })

/** One turn. */
export const get = (
  { json, server, ...where }: Common,
  { session, turn: turnId }: { readonly session: SessionId; readonly turn: TurnId }
): Running =>
  Effect.gen(function* () {
    const { ask, client } = yield* connect(where)
    const turn = yield* ask(client.turns.get({ server, sessionId: session, turnId }))
    yield* answer(json, turn, (style) => turnText(turn, style))
  })
