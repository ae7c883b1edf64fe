import type { PermissionReplyRequestValue, PermissionRequest, ServerName, SessionId } from "@harness/protocol"
import { Effect } from "effect"
import type { Running } from "../command.ts"
import { type Connected, connect, type Where } from "../connect.ts"
import { failed } from "../failures.ts"
import { openPermissions } from "../openAsks.ts"
import { withoutUndefined } from "../present.ts"
import { answer } from "../render/answer.ts"
import { askListing, askText } from "../render/asks.ts"
import { count } from "../render/text.ts"
import { Surroundings } from "../Surroundings.ts"

interface Common extends Where {
  readonly server: ServerName
  readonly session: SessionId | undefined
  readonly json: boolean
}

interface Target {
  readonly requestId: string
  readonly sessionId: string
  /** What is known of it, while it is open. */
  readonly request?: PermissionRequest
}

const none = (session: SessionId | undefined) =>
  failed({
    code: "permission.none",
    message: `nothing ${session === undefined ? "" : `in ${session} or below it `}waits to be allowed`
  })

/** The request that is meant: the one that is named, or the only one there is. */
const meant = ({ ask, client }: Connected, { json, server, session }: Common, id: string | undefined) =>
  Effect.gen(function* () {
    const { out } = yield* Surroundings
    const open = yield* ask(openPermissions(client, { server, sessionId: session }))
    const found = id === undefined ? open : open.filter(({ requestId }) => requestId === id)
    const [request, another] = found
    if (request !== undefined && another === undefined) {
      return { requestId: request.requestId, sessionId: request.sessionId, request }
    }
    if (id !== undefined) {
      // It may have been answered: what to say of that is the server's.
      if (session !== undefined) return { requestId: id, sessionId: session }
      return yield* failed({
        code: "permission.not_found",
        message: `no open request ${id}`,
        hint: "`harness approve` lists those that are open; --session names the session of one that was answered"
      })
    }
    if (request === undefined) return yield* none(session)
    yield* answer(json, { permissions: open }, () => askListing(open, out, session))
    return yield* failed({
      code: "permission.several",
      message: `${count(open.length, "request")} wait to be allowed: name one`
    })
  })

const words = { once: "allowed once", always: "allowed always", reject: "rejected" } as const

const reply = (common: Common, id: string | undefined, said: PermissionReplyRequestValue): Running =>
  Effect.gen(function* () {
    const { out } = yield* Surroundings
    const { json, server } = common
    const connected = yield* connect(common)
    const { ask, client } = connected
    const { request, requestId, sessionId }: Target = yield* meant(connected, common, id)
    const answered = yield* ask(client.permissions.reply({ server, sessionId, requestId, ...said }))
    yield* answer(json, answered, (style) =>
      [
        request === undefined ? "" : askText(request, out, common.session),
        `${requestId} ${style.bold(words[answered.reply])}\n`,
        answered.grantId === undefined ? "" : style.dim(`saved as ${answered.grantId}\n`),
        answered.alsoSettled.length === 0 ? "" : style.dim(`with it ${answered.alsoSettled.join(", ")}\n`)
      ].join("")
    )
  })

/** Lets a call run, this once or from now on. */
export const approve = (
  { always, ...common }: Common & { readonly always: boolean },
  id: string | undefined
): Running => reply(common, id, { reply: always ? "always" : "once" })

/** Keeps a call from running; the model is told why. */
export const deny = (
  { message, ...common }: Common & { readonly message: string | undefined },
  id: string | undefined
): Running => reply(common, id, { reply: "reject", ...withoutUndefined({ message }) })
