import { mint } from "@harness/client"
import type { EntryId, ServerName, SessionId, TurnId } from "@harness/protocol"
import { Effect, Option } from "effect"
import type { Running } from "../command.ts"
import { connect, type Where } from "../connect.ts"
import { misused } from "../failures.ts"
import { withoutUndefined } from "../present.ts"
import { answer } from "../render/answer.ts"
import { sessionText } from "../render/sessions.ts"

interface ForkOptions extends Where {
  readonly server: ServerName
  readonly before: TurnId | undefined
  readonly through: TurnId | undefined
  readonly throughEntry: EntryId | undefined
  readonly visibility: Option.Option<"all" | "actor">
  readonly json: boolean
}

/** Copies a session. */
export const fork = (
  { before, json, server, through, throughEntry, visibility, ...where }: ForkOptions,
  args: { readonly session: SessionId; readonly fork: SessionId | undefined }
): Running =>
  Effect.gen(function* () {
    if ([before, through, throughEntry].filter((end) => end !== undefined).length > 1) {
      return yield* misused("--before, --through and --through-entry exclude each other")
    }
    const { ask, client } = yield* connect(where)
    const end =
      through !== undefined ? { turnId: through } : throughEntry !== undefined ? { entryId: throughEntry } : undefined
    const session = yield* ask(
      client.sessions.fork({
        server,
        sessionId: args.session,
        forkedSessionId: args.fork ?? (yield* mint("ses")),
        ...withoutUndefined({ turnId: before, through: end, visibility: Option.getOrUndefined(visibility) })
      })
    )
    yield* answer(json, session, (style) => sessionText(session, style))
  })
