import { Context, Effect, Layer } from "effect"
import { makeApi } from "./api.ts"
import { type ConnectOptions, connection } from "./Connection.ts"
import { streams } from "./follow.ts"
import { waiting } from "./runTurn.ts"
import { sessions } from "./sessions.ts"
import { servers, system } from "./system.ts"
import { queue, turns } from "./turns.ts"

const make = (options: ConnectOptions) =>
  Effect.gen(function* () {
    const connected = yield* connection(options)
    const { api, call } = yield* makeApi(connected)
    const follow = streams(connected)
    const turn = turns(api, call)
    return {
      system: system(api, call),
      servers: servers(api, call),
      sessions: sessions(api, call),
      turns: turn,
      queue: queue(api, call),
      ...follow,
      ...waiting(turn, follow)
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
