import {
  type Actor,
  ConflictError,
  GrantId,
  NotFoundError,
  type PermissionReplyRequestValue,
  type PermissionReplyResponseValue,
  type PermissionRequest,
  type PermissionRequestId,
  type SavedPermissionResponseValue,
  type SessionId,
  ValidationError
} from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import { CommitRoom, type Tx } from "../log/Commit.ts"
import { PermissionsRepo, type Settlement } from "../permissions/PermissionsRepo.ts"
import { living, Sessions } from "../sessions/Sessions.ts"
import { mint } from "../storage/mint.ts"
import { errorResult } from "../tools/results.ts"
import { Bell } from "../turns/Bell.ts"
import { PendingRepo } from "../turns/PendingRepo.ts"
import { deliverCall, releaseCall } from "../turns/pending.ts"

const requestNotFound = (requestId: string) =>
  new NotFoundError({ code: "permission.not_found", message: `there is no permission request ${requestId}` })

const answerOf = (requestId: PermissionRequestId, settlement: Settlement): PermissionReplyResponseValue => ({
  requestId,
  reply: settlement.reply,
  alsoSettled: settlement.alsoSettled,
  ...(settlement.grantId === undefined ? {} : { grantId: settlement.grantId })
})

/** The same answer again is fine, and so is rejecting what a cancel or the time rejected. */
const again = (request: PermissionRequest, settlement: Settlement, reply: PermissionReplyRequestValue["reply"]) =>
  settlement.reply === reply
    ? Effect.succeed(answerOf(request.requestId, settlement))
    : Effect.fail(
        new ConflictError({
          code: "permission.settled",
          message: `the request was already answered: ${settlement.reply}`,
          details: { requestId: request.requestId, reply: settlement.reply, by: settlement.by }
        })
      )

const covers = (granted: PermissionRequest, other: PermissionRequest): boolean =>
  other.permission === granted.permission &&
  other.always.length > 0 &&
  other.patterns.every((pattern) => granted.always.includes(pattern))

/** A message to the model, in UTF-8 bytes. */
const MESSAGE_MAX = 65_536

const messageTooLong = () =>
  new ValidationError({
    code: "request.invalid",
    message: `message must hold at most ${MESSAGE_MAX} bytes`,
    details: { issues: [{ path: "message", reason: `must hold at most ${MESSAGE_MAX} bytes` }] }
  })

const page = (query: { readonly after?: string | undefined; readonly limit: number }) => ({
  after: query.after ?? "",
  limit: query.limit
})

const nextOf = <A>(rows: ReadonlyArray<A>, limit: number, id: (row: A) => string): string | null => {
  const last = rows.at(-1)
  return rows.length < limit || last === undefined ? null : id(last)
}

const make = Effect.gen(function* () {
  const room = yield* CommitRoom
  const bell = yield* Bell
  const repo = yield* PermissionsRepo
  const sessions = yield* Sessions

  /** Settles one request and lets its call go on, or tells the model no. */
  const settleOne = (tx: Tx, request: PermissionRequest, settlement: Settlement, actor: Actor | undefined) =>
    Effect.gen(function* () {
      const { callId, requestId, sessionId } = request
      yield* PermissionsRepo.settle(tx, requestId, settlement)
      const pending = yield* PendingRepo.find(tx, sessionId, callId)
      if (pending === undefined) return
      const { message, reply } = settlement
      const facts = [["approval.resolved", { requestId, reply, message, actor }] as const]
      if (reply !== "reject") {
        yield* releaseCall(tx, bell, pending, { passed: { permission: true }, facts, actor })
        return
      }
      const why =
        settlement.by === "time" ? "Nobody answered in time, so this was rejected." : "A person rejected this."
      const text = message === undefined || message === "" ? why : `${why} ${message}`
      yield* deliverCall(tx, bell, pending, {
        state: "rejected",
        result: errorResult("permission.rejected", text),
        facts,
        actor
      })
    })

  /** Saves what was shown, and settles what else it covers. */
  const grant = (tx: Tx, request: PermissionRequest, actor: Actor) =>
    Effect.gen(function* () {
      if (request.always.length === 0) return { alsoSettled: [] }
      const grantId = GrantId.make(`grt_${mint(tx.now)}`)
      const { permission, sessionId, always } = request
      yield* PermissionsRepo.insertGrant(tx, sessionId, { grantId, permission, patterns: always, actor })
      const others = (yield* PermissionsRepo.openOf(tx, sessionId)).filter(
        (other) => other.requestId !== request.requestId && covers(request, other)
      )
      for (const other of others) {
        yield* settleOne(tx, other, { reply: "always", grantId, alsoSettled: [], by: "actor" }, actor)
      }
      return { grantId, alsoSettled: others.map(({ requestId }) => requestId) }
    })

  const reply = Effect.fn("Permissions.reply")(function* (
    sessionId: SessionId,
    requestId: PermissionRequestId,
    { message, reply }: PermissionReplyRequestValue,
    actor: Actor
  ) {
    if (message !== undefined && Buffer.byteLength(message) > MESSAGE_MAX) return yield* messageTooLong()
    return yield* room.commit((tx) =>
      Effect.gen(function* () {
        yield* living(tx, sessionId)
        const row = yield* PermissionsRepo.find(tx, sessionId, requestId)
        if (row === undefined) return yield* requestNotFound(requestId)
        if (row.settlement !== undefined) return yield* again(row.request, row.settlement, reply)
        const saved = reply === "always" ? yield* grant(tx, row.request, actor) : { alsoSettled: [] }
        const settlement: Settlement = { reply, message, ...saved, by: "actor" }
        yield* settleOne(tx, row.request, settlement, actor)
        return answerOf(requestId, settlement)
      })
    )
  })

  /** Nobody answered: a reject that says so. */
  const expire = (tx: Tx, sessionId: string, requestId: string) =>
    Effect.gen(function* () {
      const row = yield* PermissionsRepo.find(tx, sessionId, requestId)
      if (row === undefined || row.settlement !== undefined) return
      yield* settleOne(tx, row.request, { reply: "reject", alsoSettled: [], by: "time" }, undefined)
    })

  const open = Effect.fn("Permissions.open")(function* (
    sessionId: SessionId,
    query: { readonly after?: string | undefined; readonly limit: number },
    below = false
  ) {
    yield* sessions.row(sessionId)
    const { after, limit } = page(query)
    const permissions = yield* below ? repo.openBelow(sessionId, after, limit) : repo.open(sessionId, after, limit)
    return { permissions, next: nextOf(permissions, limit, ({ requestId }) => requestId) }
  })

  const grants = Effect.fn("Permissions.grants")(function* (
    sessionId: SessionId,
    query: { readonly after?: string | undefined; readonly limit: number }
  ) {
    yield* sessions.row(sessionId)
    const { after, limit } = page(query)
    const saved = yield* repo.grants(sessionId, after, limit)
    return { grants: saved, next: nextOf(saved, limit, ({ grantId }) => grantId) }
  })

  const removeGrant = Effect.fn("Permissions.removeGrant")(function* (sessionId: SessionId, grantId: GrantId) {
    return yield* room.commit((tx) =>
      Effect.gen(function* () {
        yield* living(tx, sessionId)
        const saved = yield* PermissionsRepo.removeGrant(tx, sessionId, grantId)
        const gone: SavedPermissionResponseValue = { grantId, ...saved, removed: saved !== undefined }
        return gone
      })
    )
  })

  return { reply, expire, open, grants, removeGrant }
})

/** What people are asked before a call may run, and what they said. */
export class Permissions extends Context.Tag("@harness/server/Permissions")<
  Permissions,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(Permissions, make)
}
