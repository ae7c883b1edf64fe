import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CallId, ServerName, SessionId, TurnId } from "@harness/protocol"
import { Effect, Layer } from "effect"
import { Deliveries } from "../../src/hooks/Deliveries.ts"
import { HookAdmin } from "../../src/hooks/HookAdmin.ts"
import { Hooks } from "../../src/hooks/Hooks.ts"
import { HooksRepo } from "../../src/hooks/HooksRepo.ts"
import { LocalHooks } from "../../src/hooks/LocalHooks.ts"
import { OutboxRepo } from "../../src/hooks/OutboxRepo.ts"
import { enqueueTurnEvent } from "../../src/hooks/outbox.ts"
import { Webhooks } from "../../src/hooks/Webhooks.ts"
import { WebhooksRepo } from "../../src/hooks/WebhooksRepo.ts"
import { CommitRoom, type Tx } from "../../src/log/Commit.ts"
import { Hub } from "../../src/log/Hub.ts"
import { SessionsRepo } from "../../src/sessions/SessionsRepo.ts"
import { Home } from "../../src/storage/Home.ts"
import { Database } from "../../src/storage/Sqlite.ts"
import { WebAccess, webAccess } from "../../src/workspace/WebAccess.ts"

export const server = ServerName.make("default")

/** A database of this test's own. */
export const storage = (folder: string) => {
  const base = Layer.mergeAll(
    Layer.succeed(Home, { server, root: folder, folder }),
    Database.layer(join(folder, "harness.db"), "normal"),
    Hub.layer(server)
  )
  return CommitRoom.layer.pipe(Layer.provideMerge(base))
}

export const freshData = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "harness-hooks-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** The webhooks of one server, on a folder that may outlive it. */
export const webhooksLayer = (folder: string) =>
  Layer.mergeAll(Webhooks.layer, Deliveries.layer).pipe(
    Layer.provideMerge(Layer.mergeAll(WebhooksRepo.layer, OutboxRepo.layer, SessionsRepo.layer)),
    Layer.provideMerge(storage(folder)),
    Layer.provide(Layer.succeed(WebAccess, webAccess(true)))
  )

/** A turn of a session started or ended: the row of the log, and with it what webhooks are to be told. */
export const happened = (
  session: string,
  turn: string,
  type: "turn.started" | "turn.completed",
  more: { readonly parent?: string; readonly outcome?: object } = {}
) =>
  Effect.flatMap(CommitRoom, (room) =>
    room.commit<number, never>((tx) =>
      Effect.gen(function* () {
        const sessionId = SessionId.make(session)
        const turnId = TurnId.make(turn)
        if ((yield* SessionsRepo.find(tx, sessionId)) === undefined) yield* insertSession(tx, sessionId, more.parent)
        const cursor = yield* SessionsRepo.advance(tx, sessionId, 1)
        const row = type === "turn.started" ? "turn.started" : "turn.terminal"
        const state = type === "turn.started" ? "running" : "completed"
        const outcome = { steps: [], usage: {}, ...more.outcome }
        yield* tx.append(
          { sessionId, cursor, turnId, revision: cursor, type: row },
          { attempt: 1 },
          { turn: { state, ...outcome } }
        )
        yield* enqueueTurnEvent(tx, { sessionId, turnId, state, outcome: JSON.stringify(outcome) }, type)
        return cursor
      })
    )
  )

const insertSession = (tx: Tx, sessionId: SessionId, parent: string | undefined) =>
  SessionsRepo.insert(tx, {
    sessionId,
    requestHash: "",
    title: "",
    workdir: ".",
    depth: 0,
    configuration: { systemPrompt: "", agent: "general", permissions: [], tools: {}, externalTools: [] },
    ...(parent === undefined
      ? {}
      : {
          spawnedFrom: {
            sessionId: SessionId.make(parent),
            turnId: TurnId.make("t"),
            callId: CallId.make("call_01ARZ3NDEKTSV4RRFFQ69G5FAV")
          }
        })
  })

/** The hooks of one server; receivers are on this machine, so private addresses are allowed unless said otherwise. */
export const hooksLayer = (options: { readonly allowPrivate?: boolean } = {}) =>
  Layer.unwrapScoped(
    Effect.map(freshData, (folder) =>
      Layer.mergeAll(Hooks.layer, HookAdmin.layer).pipe(
        Layer.provideMerge(Layer.mergeAll(HooksRepo.layer, LocalHooks.layer)),
        Layer.provideMerge(storage(folder)),
        Layer.provide(Layer.succeed(WebAccess, webAccess(options.allowPrivate ?? true)))
      )
    )
  )
