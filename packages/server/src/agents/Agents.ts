import { realpath } from "node:fs/promises"
import { join } from "node:path"
import { Context, Effect, Either, Layer, Option } from "effect"
import { Settings } from "../config/Config.ts"
import { isInside, nameFrom, pathError } from "../workspace/paths.ts"
import { type Agent, BUILT_IN } from "./Agent.ts"
import { type Folder, foldersAbove, readFolder } from "./folder.ts"
import { together } from "./together.ts"

/** A file that was meant to be an agent, and why it is none. Its path starts at the server root, or at the data folder. */
export interface AgentProblem {
  readonly path: string
  readonly reason: string
}

/** What a workdir has: each name once, in order, and the files that could not be used. */
export interface AgentsFound {
  readonly agents: ReadonlyArray<Agent>
  readonly problems: ReadonlyArray<AgentProblem>
}

/** Folders whose files are remembered; the one longest unused goes first. */
const FOLDERS_MAX = 256

/** Where a folder really is; every submission asks, so that it takes one call of the system. */
const real = (path: string) => Effect.tryPromise({ try: () => realpath(path), catch: pathError })

/** Earlier ones win. */
const byName = (agents: ReadonlyArray<Agent>): ReadonlyArray<Agent> => {
  const found = new Map<string, Agent>()
  for (const agent of agents) if (!found.has(agent.name)) found.set(agent.name, agent)
  return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

const make = (places: { readonly root: string; readonly data: string }) =>
  Effect.sync(() => {
    const known = new Map<string, Folder>()

    const problemsOf = (folder: Folder, shown: string): ReadonlyArray<AgentProblem> => [
      ...(folder.problem === undefined ? [] : [{ path: shown, reason: folder.problem }]),
      ...[...folder.files].flatMap(([name, { agent }]) =>
        Either.isLeft(agent) ? [{ path: `${shown}/${name}`, reason: agent.left }] : []
      )
    ]

    /** A folder now, and what is new about its problems in the log. */
    const look = (folder: string, within: string, source: "workdir" | "data") =>
      Effect.gen(function* () {
        const before = known.get(folder)
        const now = yield* readFolder({ folder, within, source }, before)
        known.delete(folder)
        if (now.files.size > 0 || now.problem !== undefined) known.set(folder, now)
        for (const oldest of known.keys()) {
          if (known.size <= FOLDERS_MAX) break
          known.delete(oldest)
        }
        const shown = nameFrom(within, folder)
        const problems = problemsOf(now, shown)
        const told = new Set(
          (before === undefined ? [] : problemsOf(before, shown)).map(({ path, reason }) => path + reason)
        )
        for (const { path, reason } of problems) {
          if (told.has(path + reason)) continue
          yield* Effect.annotateLogs(Effect.logWarning("a file is no agent"), { path, reason, source })
        }
        const agents = [...now.files.values()].flatMap(({ agent }) => (Either.isRight(agent) ? [agent.right] : []))
        return { agents, problems }
      })

    const inWorkdir = (workdir: string) =>
      Effect.gen(function* () {
        const root = yield* real(places.root)
        const at = yield* real(workdir)
        return yield* Effect.forEach(isInside(root, at) ? foldersAbove(root, at) : [], (folder) =>
          look(folder, root, "workdir")
        )
      }).pipe(
        // A workdir that is gone, or has left the root, has no files.
        Effect.orElseSucceed((): ReadonlyArray<AgentsFound> => [])
      )

    const inData = Effect.gen(function* () {
      const data = yield* real(places.data)
      return [yield* look(join(data, "agents"), data, "data")]
    }).pipe(Effect.orElseSucceed((): ReadonlyArray<AgentsFound> => []))

    const seeNow = Effect.fn("Agents.see")(function* (workdir: string) {
      const found = [...(yield* inWorkdir(workdir)), ...(yield* inData)]
      const result: AgentsFound = {
        agents: byName([...found.flatMap(({ agents }) => agents), ...BUILT_IN]),
        problems: found.flatMap(({ problems }) => problems)
      }
      return result
    })
    const see = together(seeNow)

    return {
      see,
      list: (workdir: string) => Effect.map(see(workdir), ({ agents }) => agents),
      find: (workdir: string, name: string) =>
        Effect.map(see(workdir), ({ agents }) => Option.fromNullable(agents.find((agent) => agent.name === name)))
    }
  })

/**
 * The agents a folder has. Of equal names the nearest file wins: the workdir's, then those of the folders above it up to the
 * server root, then the data folder's, then the built-in ones. A file that cannot be used hides nothing.
 */
export class Agents extends Context.Tag("@harness/server/Agents")<
  Agents,
  {
    /** `workdir`: absolute. With the files that are no agents, and why. */
    readonly see: (workdir: string) => Effect.Effect<AgentsFound>
    readonly list: (workdir: string) => Effect.Effect<ReadonlyArray<Agent>>
    readonly find: (workdir: string, name: string) => Effect.Effect<Option.Option<Agent>>
  }
>() {
  /** The data folder's own are in its folder `agents`. */
  static readonly layer = Layer.effect(Agents, Effect.flatMap(Settings, make))
  static readonly layerAt = (places: { readonly root: string; readonly data: string }) =>
    Layer.effect(Agents, make(places))
}
