import { Context, Effect, Layer, Option } from "effect"
import { type Agent, BUILT_IN } from "./Agent.ts"

/** The agents a folder has: the built-in ones, and those of its files and the data folder's. */
export class Agents extends Context.Tag("@harness/server/Agents")<
  Agents,
  {
    /** `workdir`: absolute. */
    readonly list: (workdir: string) => Effect.Effect<ReadonlyArray<Agent>>
    readonly find: (workdir: string, name: string) => Effect.Effect<Option.Option<Agent>>
  }
>() {
  static readonly layer = Layer.succeed(Agents, {
    list: () => Effect.succeed(BUILT_IN),
    find: (_, name) => Effect.succeed(Option.fromNullable(BUILT_IN.find((agent) => agent.name === name)))
  })
}
