import { join } from "node:path"
import { type Actor, ServerName, SessionId, TurnId } from "@harness/protocol"
import { Agents } from "@harness/server/agents/Agents"
import { HistoryRepo } from "@harness/server/history/HistoryRepo"
import { CommitRoom } from "@harness/server/log/Commit"
import { Hub } from "@harness/server/log/Hub"
import { LogRepo } from "@harness/server/log/LogRepo"
import { Models } from "@harness/server/models/Models"
import { ProviderSettings } from "@harness/server/providers/ProviderSettings"
import { Sessions } from "@harness/server/sessions/Sessions"
import { SessionsRepo } from "@harness/server/sessions/SessionsRepo"
import { Home } from "@harness/server/storage/Home"
import { Database } from "@harness/server/storage/Sqlite"
import { Bell } from "@harness/server/turns/Bell"
import { Submissions } from "@harness/server/turns/Submissions"
import { TurnsRepo } from "@harness/server/turns/TurnsRepo"
import { Effect, Layer, ManagedRuntime } from "effect"
import { timed } from "../measure.ts"
import { answer, say } from "./child.ts"
import { openPlain } from "./rows.ts"

/** `count` prompts by `callers` at once, each on a session that is there, each a new turn. */
export interface SubmissionsAsk {
  readonly side: "ours" | "plain"
  readonly round: number
  readonly count: number
  readonly callers: number
}

const SESSIONS = 32
const [, , folder = ""] = process.argv
const actor: Actor = { actorId: "admin" }
const content = "Please look at the failing test in packages/server and say what is wrong with it, in two sentences."

const storage = Layer.mergeAll(
  Layer.succeed(Home, { server: ServerName.make("default"), root: folder, folder }),
  Database.layer(join(folder, "ours.db"), "full"),
  Hub.layer(ServerName.make("default")),
  Bell.layer,
  Agents.layerAt({ root: folder, data: folder }),
  Models.layer.pipe(Layer.provide(Layer.succeed(ProviderSettings, { custom: [] })))
)
const tables = Layer.mergeAll(LogRepo.layer, SessionsRepo.layer, TurnsRepo.layer, HistoryRepo.layer)
// Everything between a submission and its commit; no engine, so that nothing but submissions is written.
const runtime = ManagedRuntime.make(
  Submissions.layer.pipe(
    Layer.provideMerge(Sessions.layer),
    Layer.provideMerge(tables),
    Layer.provideMerge(CommitRoom.layer),
    Layer.provideMerge(storage)
  )
)

const sessionOf = (index: number) => SessionId.make(`s${index % SESSIONS}`)
const plain = openPlain(join(folder, "plain.db"))

const begin = Effect.gen(function* () {
  const sessions = yield* Sessions
  for (let index = 0; index < SESSIONS; index++) {
    yield* sessions.create(sessionOf(index), {}, actor)
    plain.createSession(sessionOf(index), "{}")
  }
})

const ours = ({ count, callers, round }: SubmissionsAsk) =>
  Effect.gen(function* () {
    const submissions = yield* Submissions
    let next = 0
    const caller = Effect.gen(function* () {
      while (next < count) {
        const index = next++
        yield* submissions.submit(sessionOf(index), TurnId.make(`t${round}-${index}`), { content }, actor)
      }
    })
    yield* Effect.all(
      Array.from({ length: callers }, () => caller),
      { concurrency: "unbounded", discard: true }
    )
  })

const plainly = async ({ count, round }: SubmissionsAsk) => {
  const body = JSON.stringify({ content })
  for (let index = 0; index < count; index++) plain.submit(sessionOf(index), `t${round}-${index}`, body)
}

answer<SubmissionsAsk, number>((ask) =>
  timed(() => (ask.side === "ours" ? runtime.runPromise(ours(ask)) : plainly(ask)))
)
await runtime.runPromise(begin)
say("")
