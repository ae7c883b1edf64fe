import { mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import type * as SqlError from "@effect/sql/SqlError"
import { type ConflictError, ServerName } from "@harness/protocol"
import { Context, Deferred, Effect, Exit, Layer, Option, Schema, Scope } from "effect"
import type { Agents } from "../agents/Agents.ts"
import { Permissions } from "../asks/Permissions.ts"
import { Questions } from "../asks/Questions.ts"
import { Resolutions } from "../asks/Resolutions.ts"
import { Compactions } from "../compaction/Compactions.ts"
import { CompactionsRepo } from "../compaction/CompactionsRepo.ts"
import { Engine, type Places } from "../engine/Engine.ts"
import { Forks } from "../forks/Forks.ts"
import { History } from "../history/History.ts"
import { HistoryRepo } from "../history/HistoryRepo.ts"
import { Deliveries } from "../hooks/Deliveries.ts"
import { HookAdmin } from "../hooks/HookAdmin.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { HooksRepo } from "../hooks/HooksRepo.ts"
import { LocalHooks } from "../hooks/LocalHooks.ts"
import { OutboxRepo } from "../hooks/OutboxRepo.ts"
import { Webhooks } from "../hooks/Webhooks.ts"
import { WebhooksRepo } from "../hooks/WebhooksRepo.ts"
import { Calls } from "../jambonz/Calls.ts"
import { Ticks } from "../jambonz/Ticks.ts"
import { CommitRoom } from "../log/Commit.ts"
import { Hub } from "../log/Hub.ts"
import { LogRepo } from "../log/LogRepo.ts"
import { Beside } from "../loop/Beside.ts"
import { Detached } from "../loop/Detached.ts"
import { Drafts } from "../loop/Drafts.ts"
import { RunnerLayer } from "../loop/Runner.ts"
import type { Models } from "../models/Models.ts"
import { PermissionsRepo } from "../permissions/PermissionsRepo.ts"
import { QuestionsRepo } from "../questions/QuestionsRepo.ts"
import { Sessions } from "../sessions/Sessions.ts"
import { SessionsRepo } from "../sessions/SessionsRepo.ts"
import { Home } from "../storage/Home.ts"
import { Database, type Durability } from "../storage/Sqlite.ts"
import { Tasks } from "../tasks/Tasks.ts"
import type { Tools } from "../tools/Tools.ts"
import { Bell } from "../turns/Bell.ts"
import { Deletion } from "../turns/Deletion.ts"
import { PendingRepo } from "../turns/PendingRepo.ts"
import { Progress } from "../turns/Progress.ts"
import { Status } from "../turns/Status.ts"
import { Steers } from "../turns/Steers.ts"
import { Streams } from "../turns/Streams.ts"
import { Submissions } from "../turns/Submissions.ts"
import { Turns } from "../turns/Turns.ts"
import { TurnsRepo } from "../turns/TurnsRepo.ts"
import { SpendingRepo } from "../usage/SpendingRepo.ts"
import { Arrivals } from "../voice/Arrivals.ts"
import { FactsRepo } from "../voice/FactsRepo.ts"
import { VoiceRepo } from "../voice/VoiceRepo.ts"
import type { Jobs } from "../workspace/Jobs.ts"

/** Where servers live, and how safely they write. */
export class ServersFolder extends Context.Tag("@harness/server/ServersFolder")<
  ServersFolder,
  { readonly data: string; readonly root: string; readonly durability: Durability }
>() {}

/** Everything one server is made of, on its own database. */
const serverLayer = (server: ServerName, folder: string, root: string, durability: Durability) => {
  const storage = Layer.mergeAll(
    Layer.succeed(Home, { server, root, folder }),
    Database.layer(join(folder, "harness.db"), durability),
    Hub.layer(server),
    Bell.layer
  )
  const tables = Layer.mergeAll(
    LogRepo.layer,
    SessionsRepo.layer,
    TurnsRepo.layer,
    HistoryRepo.layer,
    PendingRepo.layer,
    PermissionsRepo.layer,
    QuestionsRepo.layer,
    HooksRepo.layer,
    LocalHooks.layer,
    WebhooksRepo.layer,
    OutboxRepo.layer,
    SpendingRepo.layer,
    CompactionsRepo.layer,
    VoiceRepo.layer,
    FactsRepo.layer
  )
  return Calls.layer.pipe(
    Layer.provideMerge(Ticks.layer),
    Layer.provideMerge(Layer.mergeAll(Engine.layer, Resolutions.layer)),
    Layer.provideMerge(Layer.mergeAll(Permissions.layer, Questions.layer)),
    Layer.provideMerge(RunnerLayer),
    Layer.provideMerge(Layer.mergeAll(Beside.layer, Detached.layer)),
    Layer.provideMerge(Layer.mergeAll(Drafts.layer, Arrivals.layer)),
    Layer.provideMerge(Layer.mergeAll(Tasks.layer, Compactions.layer)),
    Layer.provideMerge(Layer.mergeAll(Hooks.layer, HookAdmin.layer, Webhooks.layer, Deliveries.layer)),
    Layer.provideMerge(Streams.layer),
    Layer.provideMerge(Status.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        Turns.layer,
        Submissions.layer,
        Steers.layer,
        Deletion.layer,
        Progress.layer,
        Forks.layer,
        History.layer
      )
    ),
    Layer.provideMerge(Sessions.layer),
    Layer.provideMerge(tables),
    Layer.provideMerge(CommitRoom.layer),
    Layer.provideMerge(storage)
  )
}

/** The services of one server. */
export type ServerServices = Layer.Layer.Success<ReturnType<typeof serverLayer>>
type Shared = Layer.Layer.Context<ReturnType<typeof serverLayer>>

const make = Effect.gen(function* () {
  const { data, root, durability } = yield* ServersFolder
  const shared = yield* Effect.context<Shared>()
  const scope = yield* Effect.scope
  const servers = join(data, "servers")
  mkdirSync(servers, { recursive: true, mode: 0o700 })
  const open = new Map<ServerName, Context.Context<ServerServices>>()
  const opening = new Map<ServerName, Deferred.Deferred<Context.Context<ServerServices>, ConflictError>>()
  const arrivals = new Map<ServerName, Set<() => void>>()

  const build = (server: ServerName): Effect.Effect<Context.Context<ServerServices>, ConflictError> =>
    Effect.gen(function* () {
      const folder = join(servers, server)
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const own = yield* Scope.fork(scope, { _tag: "Sequential" })
      const context = yield* Layer.buildWithScope(serverLayer(server, folder, root, durability), own).pipe(
        Effect.provide(shared),
        Effect.catchTag("SqlError", (error: SqlError.SqlError) => Effect.die(error)),
        Effect.onError((cause) => Scope.close(own, Exit.failCause(cause)))
      )
      open.set(server, context)
      for (const wake of arrivals.get(server) ?? []) wake()
      arrivals.delete(server)
      return context
    })

  /** The server, made now if it never was. */
  const ensure = (server: ServerName): Effect.Effect<Context.Context<ServerServices>, ConflictError> =>
    Effect.suspend(() => {
      const there = open.get(server)
      if (there !== undefined) return Effect.succeed(there)
      const under = opening.get(server)
      if (under !== undefined) return Deferred.await(under)
      return Effect.gen(function* () {
        const done = yield* Deferred.make<Context.Context<ServerServices>, ConflictError>()
        opening.set(server, done)
        // In a fiber of its own: whoever asked may go away, and what is built here must stay interruptible.
        yield* build(server).pipe(
          Effect.ensuring(Effect.sync(() => opening.delete(server))),
          Effect.intoDeferred(done),
          Effect.interruptible,
          Effect.forkDaemon
        )
        return yield* Deferred.await(done)
      })
    })

  // What was left running goes on before anybody is served.
  const known = readdirSync(servers).flatMap((name) => Option.toArray(Schema.decodeUnknownOption(ServerName)(name)))
  yield* Effect.forEach(known, ensure, { discard: true })

  return {
    ensure,
    /** The server, if a session ever made it. */
    find: (server: ServerName) => Option.fromNullable(open.get(server)),
    /** Done once the server is there. */
    arrival: (server: ServerName) =>
      Effect.async<void>((resume) => {
        if (open.has(server)) return resume(Effect.void)
        const wake = () => resume(Effect.void)
        const wakes = arrivals.get(server) ?? new Set()
        wakes.add(wake)
        arrivals.set(server, wakes)
        return Effect.sync(() => wakes.delete(wake))
      })
  }
})

/** The servers of this process, each with a database, a commit room and an engine of its own. */
export class Servers extends Context.Tag("@harness/server/Servers")<Servers, Effect.Effect.Success<typeof make>>() {
  static readonly layer: Layer.Layer<Servers, ConflictError, ServersFolder | Models | Tools | Jobs | Places | Agents> =
    Layer.scoped(Servers, make)
}
