import { realpathSync, statSync } from "node:fs"
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

// Every submission asks these, mostly of what the kernel has at hand: a promise costs a hundred times the answer.
const real = Option.liftThrowable((path: string) => realpathSync.native(path))
/** What may not be looked at is there all the same. */
const isThere = (path: string): boolean =>
  Either.match(Either.try({ try: () => statSync(path, { throwIfNoEntry: false }), catch: pathError }), {
    onLeft: ({ code }) => code !== "path.not_found",
    onRight: (stats) => stats !== undefined
  })

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
    const look = ({ folder, within, source }: Parameters<typeof readFolder>[0]) =>
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

    /** The folders that may hold agents of this workdir, nearest first. */
    const foldersOf = (workdir: string) => {
      const root = Option.getOrUndefined(real(places.root))
      const at = Option.getOrUndefined(real(workdir))
      const data = Option.getOrUndefined(real(places.data))
      // A workdir that is gone, or has left the root, has no files.
      const above =
        root !== undefined && at !== undefined && isInside(root, at)
          ? foldersAbove(root, at).map((folder) => ({ folder, within: root, source: "workdir" as const }))
          : []
      const own = data === undefined ? [] : [{ folder: join(data, "agents"), within: data, source: "data" as const }]
      return [...above, ...own].filter(({ folder }) => isThere(folder))
    }

    const seeNow = Effect.fn("Agents.see")(function* (workdir: string) {
      const found = yield* Effect.suspend(() => Effect.forEach(foldersOf(workdir), look))
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
