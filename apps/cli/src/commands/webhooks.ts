import type { ServerName, SessionId, WebhookId } from "@harness/protocol"
import { Effect } from "effect"
import type { Running } from "../command.ts"
import { connect, type Where } from "../connect.ts"
import { misused } from "../failures.ts"
import { withoutUndefined } from "../present.ts"
import { answer, moreAfter } from "../render/answer.ts"
import { secretText, webhookTable, webhookText } from "../render/hooks.ts"
import { count } from "../render/text.ts"
import { Surroundings } from "../Surroundings.ts"

interface Common extends Where {
  readonly server: ServerName
  readonly json: boolean
}

/** One page of a server's webhooks. */
export const list = ({
  json,
  token,
  url,
  ...query
}: Common & { readonly limit: number | undefined; readonly after: string | undefined }): Running =>
  Effect.gen(function* () {
    const { ask, client } = yield* connect({ token, url })
    const page = yield* ask(client.webhooks.list(query))
    yield* answer(json, page, (style) => webhookTable(page.webhooks, style))
    yield* moreAfter(json, page.next)
  })

/** Sets a webhook. A secret that was made up is shown this once. */
export const set = (
  {
    events,
    json,
    parent,
    secret,
    server,
    session,
    to,
    ...where
  }: Common & {
    readonly to: string
    readonly events: ReadonlyArray<"turn.started" | "turn.completed">
    readonly session: SessionId | undefined
    readonly parent: SessionId | undefined
    readonly secret: string | undefined
  },
  webhookId: WebhookId
): Running =>
  Effect.gen(function* () {
    const { err } = yield* Surroundings
    const { ask, client } = yield* connect(where)
    const webhook = yield* ask(
      client.webhooks.put({
        server,
        webhookId,
        url: to,
        ...withoutUndefined({ sessionId: session, parentSessionId: parent, secret }),
        ...(events.length === 0 ? {} : { events })
      })
    )
    yield* answer(json, webhook, (style) => webhookText(webhook, style))
    if (!json && webhook.secret !== undefined) yield* err.write(secretText(err.style))
  })

/** Takes a webhook away. */
export const remove = ({ json, server, ...where }: Common, webhookId: WebhookId): Running =>
  Effect.gen(function* () {
    const { ask, client } = yield* connect(where)
    const gone = yield* ask(client.webhooks.delete({ server, webhookId }))
    yield* answer(json, gone, () => `${webhookId} ${gone.removed ? "is removed" : "is not there"}\n`)
  })

/** Delivers once more what happened after a position. */
export const redeliver = (
  { after, json, server, ...where }: Common & { readonly after: number | undefined },
  webhookId: WebhookId
): Running =>
  Effect.gen(function* () {
    if (after === undefined) return yield* misused("--after is missing", "--after 0 delivers everything once more")
    const { ask, client } = yield* connect(where)
    const said = yield* ask(client.webhooks.redeliver({ server, webhookId, afterServerCursor: after }))
    yield* answer(json, said, () => `${webhookId}: ${count(said.deliveries, "event")} to deliver\n`)
  })
