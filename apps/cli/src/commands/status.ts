import type { ServerName, SessionId } from "@harness/protocol"
import { Effect } from "effect"
import type { Running } from "../command.ts"
import { connect, type Where } from "../connect.ts"
import { answer } from "../render/answer.ts"
import { serverText, statusText } from "../render/sessions.ts"

/** How the server is, or what a session does. */
export const status = (
  { json, server, ...where }: Where & { readonly server: ServerName; readonly json: boolean },
  sessionId: SessionId | undefined
): Running =>
  Effect.gen(function* () {
    const { ask, client, url } = yield* connect(where)
    if (sessionId !== undefined) {
      const session = yield* ask(client.sessions.status({ server, sessionId }))
      return yield* answer(json, session, (style) => statusText(session, style))
    }
    const health = yield* ask(client.system.health)
    const capabilities = yield* ask(client.system.capabilities)
    yield* answer(json, { url, health, capabilities }, (style) => serverText(url, health, capabilities, style))
  })
