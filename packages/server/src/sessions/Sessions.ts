import { join } from "node:path"
import {
  type Actor,
  ConflictError,
  type CreateSessionRequestValue,
  type ReplaceSessionConfigurationRequestValue,
  type Session,
  type SessionConfiguration,
  type SessionId,
  ValidationError
} from "@harness/protocol"
import { Context, Effect, Layer, Option } from "effect"
import { GENERAL } from "../agents/Agent.ts"
import { Agents } from "../agents/Agents.ts"
import { CommitRoom, type Tx } from "../log/Commit.ts"
import { fitsEvent } from "../log/fact.ts"
import { Models } from "../models/Models.ts"
import { validateLayer } from "../permissions/policy.ts"
import { requestHash } from "../storage/columns.ts"
import { Home } from "../storage/Home.ts"
import { cutPage } from "../storage/paging.ts"
import { resolveWorkdir } from "../workspace/paths.ts"
import { mismatch, sessionDeleted, sessionNotFound, tooLong, unknownPlace } from "./refusals.ts"
import {
  configurationOf,
  type NewSession,
  type SessionFilter,
  type SessionRow,
  SessionsRepo,
  type StoredConfiguration,
  toConfiguration,
  toSession
} from "./SessionsRepo.ts"

/** A page of sessions; `next` names the last one while more may follow. */
export interface SessionPage {
  readonly sessions: ReadonlyArray<Session>
  readonly next: string | null
}

/** A request that may make a session, checked; what is left needs the database alone. */
export interface PreparedSession extends Omit<NewSession, "sessionId"> {
  readonly defaultModel: string
}

const make = Effect.gen(function* () {
  const home = yield* Home
  const room = yield* CommitRoom
  const repo = yield* SessionsRepo
  const models = yield* Models
  const agents = yield* Agents

  const shown = (row: SessionRow) => Effect.map(models.defaultModel, (model) => toSession(row, home.server, model))
  const present = (sessionId: string) =>
    Effect.flatMap(repo.find(sessionId), (row) =>
      row === undefined || row.deletedAt !== null ? Effect.fail(sessionNotFound(sessionId)) : Effect.succeed(row)
    )

  /** The agent of that name, as a folder has it. */
  const agentFor = (workdir: string, name: string) =>
    Effect.flatMap(
      agents.find(join(home.root, workdir), name),
      Option.match({
        onNone: () =>
          Effect.fail(new ValidationError({ code: "agent.unknown", message: "there is no agent of that name here" })),
        onSome: Effect.succeed
      })
    )

  /** Checks what a configuration names: its model, its agent, its globs. */
  const checkConfiguration = (
    workdir: string,
    request: {
      readonly model?: string | undefined
      readonly agent?: string | undefined
      readonly tools?: StoredConfiguration["tools"] | undefined
      readonly systemPrompt?: string | undefined
      readonly permissions?: StoredConfiguration["permissions"] | undefined
      readonly externalTools?: StoredConfiguration["externalTools"] | undefined
    }
  ): Effect.Effect<StoredConfiguration, ValidationError | ConflictError> =>
    Effect.gen(function* () {
      if (request.model !== undefined) yield* models.check(request.model)
      const agent = request.agent ?? GENERAL
      yield* agentFor(workdir, agent)
      const issues = validateLayer(request.tools ?? {})
      if (issues.length > 0) {
        return yield* new ValidationError({
          code: "policy.invalid_glob",
          message: "the tool policy holds a glob that cannot be meant",
          details: { issues }
        })
      }
      const checked: StoredConfiguration = {
        ...(request.model === undefined ? {} : { model: request.model }),
        systemPrompt: request.systemPrompt ?? "",
        agent,
        permissions: request.permissions ?? [],
        tools: request.tools ?? {},
        externalTools: request.externalTools ?? []
      }
      return fitsEvent(checked) ? checked : yield* tooLong()
    })

  /** Everything that is checked before a session's first commit. */
  const prepare = Effect.fn("Sessions.prepare")(function* (request: CreateSessionRequestValue) {
    const workdir = yield* resolveWorkdir(home.root, request)
    const configuration = yield* checkConfiguration(workdir, request)
    if (!fitsEvent({ workdir, title: request.title, metadata: request.metadata })) return yield* tooLong()
    const defaultModel = yield* models.defaultModel
    const prepared: PreparedSession = {
      requestHash: createHash(request),
      title: request.title ?? "",
      workdir,
      metadata: request.metadata,
      depth: 0,
      configuration,
      defaultModel
    }
    return prepared
  })

  const create = Effect.fn("Sessions.create")(function* (
    sessionId: SessionId,
    request: CreateSessionRequestValue,
    actor: Actor
  ) {
    const again = (row: SessionRow): Effect.Effect<Created, ConflictError> => {
      if (row.deletedAt !== null) return Effect.fail(sessionDeleted(sessionId))
      if (row.requestHash !== createHash(request)) return Effect.fail(mismatch("session", sessionId))
      return Effect.map(shown(row), (session) => ({ created: false, session }))
    }
    // A repeated request is answered from what it made, whatever became of its folder or its model since.
    const before = yield* repo.find(sessionId)
    if (before !== undefined) return yield* again(before)
    const prepared = yield* prepare(request)
    return yield* room.commit((tx) =>
      Effect.gen(function* () {
        const row = yield* SessionsRepo.find(tx, sessionId)
        if (row !== undefined) return yield* again(row)
        const session = yield* establish(tx, home.server, { ...prepared, sessionId }, actor)
        return { created: true, session: toSession(session, home.server, prepared.defaultModel) }
      })
    )
  })

  const list = Effect.fn("Sessions.list")(function* (
    filter: SessionFilter,
    page: { readonly after?: string | undefined; readonly limit: number }
  ) {
    const place = page.after === undefined ? undefined : yield* repo.find(page.after)
    if (page.after !== undefined && place === undefined) return yield* unknownPlace()
    const rows = yield* repo.list(filter, place?.ord ?? 0, page.limit + 1)
    const cut = cutPage(rows, page.limit, (row) => row.sessionId)
    const result: SessionPage = { sessions: yield* Effect.forEach(cut.page, shown), next: cut.next }
    return result
  })

  const retitle = Effect.fn("Sessions.retitle")(function* (sessionId: SessionId, title: string, actor: Actor) {
    yield* present(sessionId)
    const row = yield* room.commit((tx) =>
      Effect.gen(function* () {
        const held = yield* living(tx, sessionId)
        if (held.title === title) return held
        yield* tx.query("UPDATE session SET title = ? WHERE session_id = ?", [title, sessionId])
        const cursor = yield* SessionsRepo.advance(tx, sessionId, 1)
        yield* tx.append({ sessionId, cursor, type: "title" }, { actor }, { title })
        return { ...held, title, cursor }
      })
    )
    return yield* shown(row)
  })

  const configure = Effect.fn("Sessions.configure")(function* (
    sessionId: SessionId,
    request: ReplaceSessionConfigurationRequestValue,
    actor: Actor
  ) {
    const { expectedRevision, ...wanted } = request
    const before = yield* present(sessionId)
    const defaultModel = yield* models.defaultModel
    const configuration = yield* repeats(before, expectedRevision, wanted)
      ? Effect.succeed(configurationOf(before))
      : checkConfiguration(before.workdir, wanted)
    return yield* room.commit((tx) =>
      Effect.gen(function* () {
        const row = yield* living(tx, sessionId)
        if (row.configurationRevision !== expectedRevision) {
          if (repeats(row, expectedRevision, wanted)) return toConfiguration(row, defaultModel)
          return yield* staleRevision(toConfiguration(row, defaultModel))
        }
        const revision = expectedRevision + 1
        const stored = JSON.stringify(configuration)
        yield* tx.query("UPDATE session SET configuration = ?, configuration_revision = ? WHERE session_id = ?", [
          stored,
          revision,
          sessionId
        ])
        const next = toConfiguration({ ...row, configuration: stored, configurationRevision: revision }, defaultModel)
        const cursor = yield* SessionsRepo.advance(tx, sessionId, 1)
        yield* tx.append({ sessionId, cursor, type: "configuration" }, { actor }, { configuration: next })
        return next
      })
    )
  })

  return {
    prepare,
    create,
    list,
    retitle,
    configure,
    agentFor,
    /** The row, for rooms that go on from it. */
    row: present,
    get: Effect.fn("Sessions.get")((sessionId: SessionId) => Effect.flatMap(present(sessionId), shown)),
    configuration: Effect.fn("Sessions.configuration")((sessionId: SessionId) =>
      Effect.zipWith(present(sessionId), models.defaultModel, toConfiguration)
    ),
    show: shown
  }
})

interface Created {
  readonly created: boolean
  readonly session: Session
}

/** What a request that makes a session may leave out. */
export const sessionDefaults = {
  title: "",
  agent: GENERAL,
  systemPrompt: "",
  permissions: [],
  tools: {},
  externalTools: []
}

const createHash = (request: CreateSessionRequestValue): string => requestHash({ ...sessionDefaults, ...request })

/** The row of a session that is there, for a command. */
export const living = (tx: Tx, sessionId: string) =>
  Effect.flatMap(SessionsRepo.find(tx, sessionId), (row) =>
    row === undefined || row.deletedAt !== null ? Effect.fail(sessionNotFound(sessionId)) : Effect.succeed(row)
  )

/** A new session's row and the first row of its log. */
export const establish = (
  tx: Tx,
  server: Session["server"],
  session: NewSession & { defaultModel: string },
  actor: Actor
) =>
  Effect.gen(function* () {
    const row = yield* SessionsRepo.insert(tx, session)
    yield* tx.append(
      { sessionId: row.sessionId, cursor: 1, type: "created" },
      { actor },
      { session: toSession(row, server, session.defaultModel) }
    )
    return row
  })

/** The same replacement, sent again after it was made. */
const repeats = (
  row: SessionRow,
  expectedRevision: number,
  wanted: Omit<ReplaceSessionConfigurationRequestValue, "expectedRevision">
): boolean =>
  row.configurationRevision === expectedRevision + 1 &&
  requestHash({ ...sessionDefaults, title: undefined, ...wanted }) ===
    requestHash({ title: undefined, ...configurationOf(row) })

const staleRevision = (current: SessionConfiguration) =>
  new ConflictError({
    code: "revision.stale",
    message: `the configuration is at revision ${current.revision}`,
    details: { ...current }
  })

/** Sessions of one server: made, read, renamed, configured. */
export class Sessions extends Context.Tag("@harness/server/Sessions")<Sessions, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(Sessions, make)
}
