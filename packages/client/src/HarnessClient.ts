import { Context, Effect, Layer } from "effect"
import { askDesk } from "./Asks.ts"
import { makeApi } from "./api.ts"
import { attending } from "./attend.ts"
import { type ConnectOptions, connection } from "./Connection.ts"
import { calls } from "./calls.ts"
import { compactions } from "./compactions.ts"
import { streams } from "./follow.ts"
import { hooks, webhooks } from "./hooks.ts"
import { permissions, questions } from "./permissions.ts"
import { waiting } from "./runTurn.ts"
import { sessions } from "./sessions.ts"
import { agents, runtime, servers, system } from "./system.ts"
import { queue, turns } from "./turns.ts"

const make = (options: ConnectOptions) =>
  Effect.gen(function* () {
    const connected = yield* connection(options)
    const { api, call } = yield* makeApi(connected)
    const follow = streams(connected)
    const turn = turns(api, call)
    const permission = permissions(api, call)
    const question = questions(api, call)
    return {
      system: system(api, call),
      servers: servers(api, call),
      sessions: sessions(api, call),
      turns: turn,
      queue: queue(api, call),
      permissions: permission,
      questions: question,
      calls: calls(api, call),
      compactions: compactions(api, call),
      agents: agents(api, call),
      hooks: hooks(api, call),
      webhooks: webhooks(api, call),
      runtime: runtime(api, call),
      ...follow,
      ...waiting(turn, follow, attending(connected, askDesk(permission, question), follow))
    }
  })

/**
 * A server, from afar. Every method answers decoded values and fails with a ClientError; every id may be a plain string, and
 * is checked before it is sent.
 */
export class HarnessClient extends Context.Tag("@harness/client/HarnessClient")<
  HarnessClient,
  Effect.Effect.Success<ReturnType<typeof make>>
>() {
  static readonly make = make
  static readonly layer = (options: ConnectOptions) => Layer.effect(HarnessClient, make(options))
}
