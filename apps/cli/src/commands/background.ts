import type { ServerName, SessionId } from "@harness/protocol"
import { Effect } from "effect"
import type { Running } from "../command.ts"
import { connect, type Where } from "../connect.ts"
import { answer } from "../render/answer.ts"

/** Lets go of the sub-agents a session waits for. */
export const background = (
  { json, server, ...where }: Where & { readonly server: ServerName; readonly json: boolean },
  sessionId: SessionId
): Running =>
  Effect.gen(function* () {
    const { ask, client } = yield* connect(where)
    const said = yield* ask(client.sessions.background({ server, sessionId }))
    yield* answer(json, said, () =>
      said.detached ? "they go on by themselves; each result comes as a prompt\n" : "no sub-agent is waited for\n"
    )
  })
