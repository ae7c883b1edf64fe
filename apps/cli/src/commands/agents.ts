import type { ServerName, SessionId } from "@harness/protocol"
import { Effect } from "effect"
import type { Running } from "../command.ts"
import { connect, type Where } from "../connect.ts"
import { everyPage } from "../pages.ts"
import { agentTable } from "../render/agents.ts"
import { answer } from "../render/answer.ts"
import { oneLine } from "../render/text.ts"
import { Surroundings } from "../Surroundings.ts"

/** The agents a session sees. */
export const agents = (
  { json, server, ...where }: Where & { readonly server: ServerName; readonly json: boolean },
  sessionId: SessionId
): Running =>
  Effect.gen(function* () {
    const { err } = yield* Surroundings
    const { ask, client } = yield* connect(where)
    const { problems = [] } = yield* ask(client.agents.list({ server, sessionId, limit: 1 }))
    const all = yield* ask(
      everyPage((after) =>
        Effect.map(client.agents.list({ server, sessionId, after }), ({ agents, next }) => ({ items: agents, next }))
      )
    )
    yield* answer(json, { agents: all, problems }, (style) => agentTable(all, style))
    if (json) return
    yield* Effect.forEach(
      problems,
      ({ path, reason }) =>
        err.write(`${err.style.yellow("!")} ${oneLine(path, 200)} is no agent: ${oneLine(reason, 300)}\n`),
      { discard: true }
    )
  })
