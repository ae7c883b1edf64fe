import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import { HarnessApi, PAGE_DEFAULT } from "@harness/protocol"
import { Effect, Layer } from "effect"
import { actor, onSession } from "../servers/on.ts"
import { Permissions } from "./Permissions.ts"
import { Questions } from "./Questions.ts"
import { Resolutions } from "./Resolutions.ts"

const pageOf = (query: { readonly after?: string | undefined; readonly limit?: number | undefined }) => ({
  after: query.after,
  limit: query.limit ?? PAGE_DEFAULT
})

const permissions = HttpApiBuilder.group(HarnessApi, "permissions", (handlers) =>
  handlers
    .handle("listPermissions", ({ path, urlParams }) =>
      onSession(
        path,
        Effect.flatMap(Permissions, (room) => room.open(path.sessionId, pageOf(urlParams)))
      )
    )
    .handle("replyPermission", ({ path, payload }) =>
      Effect.flatMap(actor, (who) =>
        onSession(
          path,
          Effect.flatMap(Permissions, (room) => room.reply(path.sessionId, path.requestId, payload, who))
        )
      )
    )
    .handle("listGrants", ({ path, urlParams }) =>
      onSession(
        path,
        Effect.flatMap(Permissions, (room) => room.grants(path.sessionId, pageOf(urlParams)))
      )
    )
    .handle("removeGrant", ({ path }) =>
      onSession(
        path,
        Effect.flatMap(Permissions, (room) => room.removeGrant(path.sessionId, path.grantId))
      )
    )
    .handle("listDescendantPermissions", ({ path, urlParams }) =>
      onSession(
        path,
        Effect.flatMap(Permissions, (room) => room.open(path.sessionId, pageOf(urlParams), true))
      )
    )
)

const questions = HttpApiBuilder.group(HarnessApi, "questions", (handlers) =>
  handlers
    .handle("listQuestions", ({ path, urlParams }) =>
      onSession(
        path,
        Effect.flatMap(Questions, (room) => room.open(path.sessionId, pageOf(urlParams)))
      )
    )
    .handle("replyQuestion", ({ path, payload }) =>
      Effect.flatMap(actor, (who) =>
        onSession(
          path,
          Effect.flatMap(Questions, (room) => room.reply(path.sessionId, path.questionId, payload.answers, who))
        )
      )
    )
    .handle("rejectQuestion", ({ path }) =>
      Effect.flatMap(actor, (who) =>
        onSession(
          path,
          Effect.flatMap(Questions, (room) => room.reject(path.sessionId, path.questionId, who))
        )
      )
    )
    .handle("listDescendantQuestions", ({ path, urlParams }) =>
      onSession(
        path,
        Effect.flatMap(Questions, (room) => room.open(path.sessionId, pageOf(urlParams), true))
      )
    )
)

const calls = HttpApiBuilder.group(HarnessApi, "calls", (handlers) =>
  handlers.handle("resolveCall", ({ path, payload }) =>
    Effect.flatMap(actor, (who) =>
      onSession(
        path,
        Effect.flatMap(Resolutions, (room) => room.resolve(path.sessionId, path.turnId, path.callId, payload, who))
      )
    )
  )
)

/** Handlers of what waits for somebody: permission requests, grants, questions, calls. They translate, and decide nothing. */
export const AsksHandlers = Layer.mergeAll(permissions, questions, calls)
