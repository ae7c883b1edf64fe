import {
  type Actor,
  MAX_STEPS_DEFAULT,
  type SessionId,
  type SubmitPromptReceipt,
  type SubmitPromptRequestValue,
  type TurnId,
  type TurnOptions,
  ValidationError
} from "@harness/protocol"
import { Clock, Context, Effect, Either, Layer } from "effect"
import { GENERAL } from "../agents/Agent.ts"
import { Limits } from "../config/Limits.ts"
import { CommitRoom } from "../log/Commit.ts"
import { Hub } from "../log/Hub.ts"
import { Models } from "../models/Models.ts"
import { validateLayer } from "../permissions/policy.ts"
import { mismatch, sessionDeleted, sessionNotFound, tooLong } from "../sessions/refusals.ts"
import { establish, Sessions, sessionDefaults } from "../sessions/Sessions.ts"
import { configurationOf, type SessionRow, SessionsRepo } from "../sessions/SessionsRepo.ts"
import { requestHash } from "../storage/columns.ts"
import { Home } from "../storage/Home.ts"
import { outputCheck } from "../tools/outputSchema.ts"
import { Bell } from "./Bell.ts"
import { toParts } from "./content.ts"
import { decideSubmit } from "./decide.ts"
import { newTurn, type PreparedTurn } from "./newTurn.ts"
import type { Held } from "./Progress.ts"
import { fitsRow, record } from "./record.ts"
import { markCancelled } from "./settle.ts"
import { addSteer } from "./steer.ts"
import { type InnerOptions, type TurnRow, TurnsRepo } from "./TurnsRepo.ts"

/** The same prompt asked twice has the same hash, whatever was left to its default. */
const submitHash = (request: SubmitPromptRequestValue): string =>
  requestHash({
    role: "user",
    whenBusy: "queue",
    ...request,
    content: toParts(request.content),
    options: { ...optionDefaults, ...request.options },
    ...(request.session === undefined ? {} : { session: { ...sessionDefaults, ...request.session } })
  })

const optionDefaults = { maxSteps: MAX_STEPS_DEFAULT, mode: "agent", output: { type: "text" }, tools: {}, budget: {} }

/** What is said of a prompt's turn without its model. */
type Spoken = Pick<InnerOptions, "line" | "apology">

const make = Effect.gen(function* () {
  const home = yield* Home
  const room = yield* CommitRoom
  const hub = yield* Hub
  const bell = yield* Bell
  const repo = yield* TurnsRepo
  const sessions = yield* Sessions
  const sessionRows = yield* SessionsRepo
  const models = yield* Models
  const limits = yield* Limits

  const checkOptions = (options: TurnOptions) =>
    Effect.gen(function* () {
      if (options.output?.type === "json") {
        const check = outputCheck(options.output.schema)
        if (Either.isLeft(check)) {
          return yield* new ValidationError({
            code: "schema.invalid",
            message: `options.output.schema ${check.left}`,
            details: { issues: [{ path: "options.output.schema", reason: check.left }] }
          })
        }
      }
      const issues = validateLayer(options.tools ?? {}, "options.tools")
      if (issues.length === 0) return
      return yield* new ValidationError({
        code: "policy.invalid_glob",
        message: "the tool policy holds a glob that cannot be meant",
        details: { issues }
      })
    })

  /** Everything that is checked before a prompt's commit, its session's included where it may have to be made. */
  const prepare = (session: SessionRow | undefined, request: SubmitPromptRequestValue, inner: Spoken) =>
    Effect.gen(function* () {
      const options = request.options ?? {}
      yield* checkOptions(options)
      const fresh = session === undefined && request.session !== undefined
      const prepared = fresh ? yield* sessions.prepare(request.session ?? {}) : undefined
      const configured = session === undefined ? prepared?.configuration : configurationOf(session)
      const workdir = session?.workdir ?? prepared?.workdir ?? "."
      const agent = yield* sessions.agentFor(workdir, request.agent ?? configured?.agent ?? GENERAL)
      const model = request.model ?? configured?.model ?? agent.model ?? (yield* models.defaultModel)
      const resolved = yield* models.resolve(model)
      const ignored =
        options.thinking !== undefined && !resolved.thinkingLevels.includes(options.thinking) ? ["thinking"] : []
      const maxSteps = options.maxSteps ?? agent.steps ?? (yield* limits).maxSteps
      const turn: PreparedTurn = {
        hash: submitHash(request),
        model,
        agent: agent.name,
        mode: options.mode ?? agent.mode,
        options: {
          ...options,
          ...(maxSteps === undefined ? {} : { maxSteps }),
          // No generation, so no steer is taken either.
          ...(inner.line === undefined ? {} : { line: inner.line, maxSteps: 0 }),
          ...(inner.apology === undefined ? {} : { apology: inner.apology }),
          ...(request.whenBusy === "interrupt" ? { interrupts: true as const } : {})
        },
        ignored,
        session: prepared
      }
      return turn
    })

  const receiptAgain = (session: SessionRow, turn: TurnRow, queue: ReadonlyArray<TurnRow>): SubmitPromptReceipt => {
    const position = queue.findIndex((queued) => queued.turnId === turn.turnId) + 1
    return {
      turnId: turn.turnId,
      sessionId: session.sessionId,
      disposition: "deduplicated",
      ...(session.activeTurn === null ? {} : { activeTurnId: session.activeTurn }),
      ...(position === 0 ? {} : { position }),
      cursor: session.cursor
    }
  }

  const submit = Effect.fn("Submissions.submit")(function* (
    sessionId: SessionId,
    turnId: TurnId,
    request: SubmitPromptRequestValue,
    actor: Actor,
    inner: Spoken & { readonly detach?: true } = {}
  ) {
    const seen = yield* sessionRows.find(sessionId)
    if (seen !== undefined && seen.deletedAt !== null) return yield* sessionDeleted(sessionId)
    const known = seen === undefined ? undefined : yield* repo.find(sessionId, turnId)
    if (seen !== undefined && known !== undefined) {
      if (known.requestHash !== submitHash(request)) return yield* mismatch("turn", turnId)
      return receiptAgain(seen, known, yield* repo.queue(sessionId))
    }
    if (seen === undefined && request.session === undefined) return yield* sessionNotFound(sessionId)
    const prepared = yield* prepare(seen, request, inner)
    const whenBusy = request.whenBusy ?? "queue"

    return yield* room.commit((tx) =>
      Effect.gen(function* () {
        const held = yield* SessionsRepo.find(tx, sessionId)
        if (held !== undefined && held.deletedAt !== null) return yield* sessionDeleted(sessionId)
        const existing = held === undefined ? undefined : yield* TurnsRepo.find(tx, sessionId, turnId)
        const activeTurn = held?.activeTurn ?? undefined
        const active =
          activeTurn === undefined || (whenBusy !== "steer" && whenBusy !== "interrupt")
            ? undefined
            : yield* TurnsRepo.find(tx, sessionId, activeTurn)
        const head = whenBusy === "interrupt" ? yield* TurnsRepo.head(tx, sessionId) : undefined
        const admission = decideSubmit(
          { session: held ?? { activeTurn: null, queued: 0, nextSeq: 1 }, existing, active, head },
          { turnId, requestHash: prepared.hash, whenBusy }
        )
        if (admission._tag === "Refused") return yield* admission.error
        if (admission._tag === "Deduplicated" && held !== undefined && existing !== undefined) {
          return receiptAgain(held, existing, [])
        }
        if (held === undefined && prepared.session === undefined) return yield* sessionNotFound(sessionId)
        if (admission._tag === "Steered" && !fitsRow(toParts(request.content))) return yield* tooLong()
        const session =
          held ??
          (prepared.session === undefined
            ? yield* sessionNotFound(sessionId)
            : yield* establish(tx, home.server, { ...prepared.session, sessionId }, actor))
        const row = newTurn(tx, session, turnId, request, prepared, actor)
        const ignored = prepared.ignored.length === 0 ? {} : { ignored: prepared.ignored }
        if (admission._tag === "Steered") {
          yield* tx.query("UPDATE session SET next_seq = next_seq + 1, turns = turns + 1 WHERE session_id = ?", [
            sessionId
          ])
          const cursor = yield* addSteer(tx, hub, admission.into, {
            entryId: turnId,
            content: toParts(request.content),
            requestHash: prepared.hash,
            alias: row,
            actor
          })
          tx.after(() => bell.wake(sessionId))
          return steeredReceipt(row, admission.into.turnId, cursor, ignored)
        }
        if (admission._tag !== "Accepted") return yield* Effect.dieMessage("an admission that is none")
        const turn = yield* record(tx, { turn: { ...row, rank: admission.rank }, actor })
        const { interrupts } = admission
        if (interrupts !== undefined) {
          const { detach } = inner
          const mark = { stopReason: "interrupted" as const, ...(detach === undefined ? {} : { detach }) }
          yield* markCancelled(tx, bell, interrupts, mark, actor)
        }
        tx.after(() => bell.wake(sessionId))
        tx.point("accepted", sessionId)
        const receipt: SubmitPromptReceipt = {
          turnId,
          sessionId,
          disposition: admission.disposition,
          ...(activeTurn === undefined ? {} : { activeTurnId: activeTurn }),
          ...(admission.disposition === "queued"
            ? { position: whenBusy === "interrupt" ? 1 : session.queued + 1 }
            : {}),
          cursor: turn.acceptedCursor,
          ...ignored
        }
        return receipt
      })
    )
  })

  /** The turn a prompt would be if it were submitted now, and started; undefined where it could not start at once. */
  const foresee = Effect.fn("Submissions.foresee")(function* (
    sessionId: SessionId,
    turnId: TurnId,
    request: SubmitPromptRequestValue,
    actor: Actor
  ) {
    const session = yield* sessionRows.find(sessionId)
    if (session === undefined || session.deletedAt !== null) return undefined
    if (session.activeTurn !== null || session.queued > 0) return undefined
    const now = yield* Clock.currentTimeMillis
    const turn = newTurn({ now }, session, turnId, request, yield* prepare(session, request, {}), actor)
    const held: Held = { turn, session, parts: [] }
    return held
  })

  return { submit, foresee }
})

const steeredReceipt = (row: TurnRow, into: TurnId, cursor: number, ignored: { ignored?: ReadonlyArray<string> }) => {
  const receipt: SubmitPromptReceipt = {
    turnId: row.turnId,
    sessionId: row.sessionId,
    disposition: "steered",
    activeTurnId: into,
    cursor,
    ...ignored
  }
  return receipt
}

/** Taking prompts in. */
export class Submissions extends Context.Tag("@harness/server/Submissions")<
  Submissions,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(Submissions, make)
}
