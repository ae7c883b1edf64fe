import type { ServerName, SessionId } from "@harness/protocol"
import { Effect } from "effect"
import type { Running } from "../command.ts"
import { type Connected, connect, type Where } from "../connect.ts"
import { openPermissions, openQuestions } from "../openAsks.ts"
import { answer } from "../render/answer.ts"
import { askTitle, questionTitle } from "../render/asks.ts"
import { type AskTitles, serverText, statusText } from "../render/sessions.ts"

/** What is asked in a session and below it. */
const titlesIn = (client: Connected["client"], scope: { readonly server: ServerName; readonly sessionId: SessionId }) =>
  Effect.map(
    Effect.all([openPermissions(client, scope), openQuestions(client, scope)], { concurrency: 2 }),
    ([requests, questions]): AskTitles =>
      new Map<string, string>([
        ...requests.map((request) => [request.requestId, askTitle(request)] as const),
        ...questions.map((question) => [question.questionId, questionTitle(question)] as const)
      ])
  )

/** How the server is, or what a session does. */
export const status = (
  { json, server, ...where }: Where & { readonly server: ServerName; readonly json: boolean },
  sessionId: SessionId | undefined
): Running =>
  Effect.gen(function* () {
    const { ask, client, url } = yield* connect(where)
    if (sessionId !== undefined) {
      const session = yield* ask(client.sessions.status({ server, sessionId }))
      const titles = json ? new Map() : yield* ask(titlesIn(client, { server, sessionId }))
      return yield* answer(json, session, (style) => statusText(session, style, titles))
    }
    const health = yield* ask(client.system.health)
    const capabilities = yield* ask(client.system.capabilities)
    yield* answer(json, { url, health, capabilities }, (style) => serverText(url, health, capabilities, style))
  })
