import { join } from "node:path"
import type { PermissionRule, PolicyLayer } from "@harness/protocol"
import { Effect, Option } from "effect"
import { type Agent, BUILT_IN } from "../agents/Agent.ts"
import { Agents } from "../agents/Agents.ts"
import { modeAllows, policyAllows } from "../permissions/policy.ts"
import { configurationOf, type SessionRow, SessionsRepo } from "../sessions/SessionsRepo.ts"
import { Home } from "../storage/Home.ts"
import type { Held } from "../turns/Progress.ts"
import { optionsOf, TurnsRepo } from "../turns/TurnsRepo.ts"

/** One who has a say: what may be called at all, and what may be touched unasked. */
export interface Rulebook {
  readonly layers: ReadonlyArray<PolicyLayer | undefined>
  readonly rules: ReadonlyArray<PermissionRule>
}

/** Every ancestor is asked, and a session is at most this deep. */
const DEPTH_MAX = 8

/** The agent of that name, or one that may do nothing: a file that went away widens nobody. */
export const agentOf = (workdir: string, name: string) =>
  Effect.gen(function* () {
    const agents = yield* Agents
    const home = yield* Home
    const found = yield* agents.find(join(home.root, workdir), name)
    return Option.getOrElse(
      found,
      (): Agent => ({ ...(BUILT_IN[0] as Agent), name, tools: { allow: [] }, permissions: [] })
    )
  })

const bookOf = (agent: Agent, session: SessionRow, turnTools: PolicyLayer | undefined): Rulebook => {
  const { externalTools, permissions, tools } = configurationOf(session)
  const declared = externalTools.map(({ name }) => name)
  const layer =
    agent.tools.allow === undefined ? agent.tools : { ...agent.tools, allow: [...agent.tools.allow, ...declared] }
  return { layers: [layer, tools, turnTools], rules: [...agent.permissions, ...permissions] }
}

/**
 * Who has a say in a turn: its agent with the session as the turn found it, the session as it is now (it may have become
 * narrower), and every ancestor with the turn that spawned.
 */
export const rulebooks = (held: Held) =>
  Effect.gen(function* () {
    const sessions = yield* SessionsRepo
    const turns = yield* TurnsRepo
    const { session, turn } = held
    const agent = yield* agentOf(session.workdir, turn.agent)
    const tools = optionsOf(turn).tools
    const now = yield* sessions.find(session.sessionId)
    const books: Array<Rulebook> = [bookOf(agent, session, tools)]
    if (now !== undefined && now.deletedAt === null) books.push(bookOf(agent, now, tools))
    let child: SessionRow | undefined = session
    for (let depth = 0; depth < DEPTH_MAX && child !== undefined && child.spawnedFrom !== null; depth++) {
      const from = spawnedFromOf(child)
      const parent: SessionRow | undefined = yield* sessions.find(from.sessionId)
      const spawning = yield* turns.find(from.sessionId, from.turnId)
      if (parent === undefined || spawning === undefined) {
        books.push({ layers: [{ allow: [] }], rules: [] })
        break
      }
      const above = yield* agentOf(parent.workdir, spawning.agent)
      books.push(bookOf(above, parent, optionsOf(spawning).tools))
      child = parent
    }
    return books
  })

const spawnedFromOf = (row: SessionRow): { readonly sessionId: string; readonly turnId: string } =>
  JSON.parse(row.spawnedFrom ?? "{}")

/** Whether everybody who has a say lets the tool be called. */
export const mayCall = (
  books: ReadonlyArray<Rulebook>,
  mode: Held["turn"]["mode"],
  tool: { readonly name: string; readonly readOnly: boolean }
): boolean => books.every((book) => policyAllows(book.layers, tool.name)) && modeAllows(mode, tool)
