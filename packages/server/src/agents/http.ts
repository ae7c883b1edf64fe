import { join } from "node:path"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import {
  HarnessApi,
  PAGE_DEFAULT,
  type SessionAgentEntryValue,
  type SessionAgentsResponseValue
} from "@harness/protocol"
import { Effect } from "effect"
import { onSession } from "../servers/on.ts"
import { Sessions } from "../sessions/Sessions.ts"
import { Home } from "../storage/Home.ts"
import type { Agent } from "./Agent.ts"
import { Agents } from "./Agents.ts"

const toEntry = ({ description, mode, model, name, source }: Agent): SessionAgentEntryValue => ({
  name,
  description,
  mode,
  source,
  ...(model === undefined ? {} : { model })
})

/** Handlers of agents: they translate, and decide nothing. */
export const AgentsHandlers = HttpApiBuilder.group(HarnessApi, "agents", (handlers) =>
  handlers.handle("listAgents", ({ path, urlParams }) =>
    onSession(
      path,
      Effect.gen(function* () {
        const home = yield* Home
        const session = yield* (yield* Sessions).row(path.sessionId)
        const { agents, problems } = yield* (yield* Agents).see(join(home.root, session.workdir))
        const { after = "", limit = PAGE_DEFAULT } = urlParams
        const page = agents.filter(({ name }) => name > after)
        const shown = page.slice(0, limit)
        const answer: SessionAgentsResponseValue = {
          agents: shown.map(toEntry),
          next: page.length > limit ? (shown.at(-1)?.name ?? null) : null,
          ...(problems.length === 0 ? {} : { problems })
        }
        return answer
      })
    )
  )
)
