import type { ServerName, SessionId, TurnId } from "@harness/protocol"
import { Effect } from "effect"
import type { Running } from "../command.ts"
import { connect, type Where } from "../connect.ts"
import { withoutUndefined } from "../present.ts"
import { answer } from "../render/answer.ts"

interface CancelOptions extends Where {
  readonly server: ServerName
  readonly reason: string | undefined
  readonly json: boolean
}

/** Stops one turn, or whatever a session does. */
export const cancel = (
  { json, reason, server, ...where }: CancelOptions,
  { session: sessionId, turn: turnId }: { readonly session: SessionId; readonly turn: TurnId | undefined }
): Running =>
  Effect.gen(function* () {
    const { ask, client } = yield* connect(where)
    const why = withoutUndefined({ reason })
    const said = yield* ask(
      turnId === undefined
        ? client.sessions.cancel({ server, sessionId, ...why })
        : client.turns.cancel({ server, sessionId, turnId, ...why })
    )
    const turn = said.turnId === undefined ? "" : ` ${said.turnId}`
    yield* answer(json, said, () =>
      said.stopping ? `stopping${turn}\n` : `nothing to stop${turn === "" ? "" : `:${turn} has ended`}\n`
    )
  })
