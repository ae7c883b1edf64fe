import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { HarnessApi, PAGE_DEFAULT } from "@harness/protocol"
import { Effect } from "effect"
import { actor, onSession } from "../servers/on.ts"
import { Compactions } from "./Compactions.ts"

/** Handlers of compactions: they translate, and decide nothing. */
export const CompactionsHandlers = HttpApiBuilder.group(HarnessApi, "compactions", (handlers) =>
  handlers
    .handle("listCompactions", ({ path, urlParams }) =>
      onSession(
        path,
        Effect.flatMap(Compactions, (room) =>
          room.list(path.sessionId, {
            after: "after" in urlParams ? urlParams.after : undefined,
            before: "before" in urlParams ? urlParams.before : undefined,
            limit: urlParams.limit ?? PAGE_DEFAULT
          })
        )
      )
    )
    .handle("submitCompaction", ({ path, payload }) =>
      Effect.gen(function* () {
        const who = yield* actor
        const receipt = yield* onSession(
          path,
          Effect.flatMap(Compactions, (room) =>
            room.submit(path.sessionId, path.compactionId, payload?.instructions ?? "", who)
          )
        )
        return HttpServerResponse.unsafeJson(receipt, { status: 202 })
      })
    )
    .handle("getCompaction", ({ path }) =>
      onSession(
        path,
        Effect.flatMap(Compactions, (room) => room.get(path.sessionId, path.compactionId))
      )
    )
    .handle("cancelCompaction", ({ path }) =>
      Effect.flatMap(actor, (who) =>
        onSession(
          path,
          Effect.flatMap(Compactions, (room) => room.cancel(path.sessionId, path.compactionId, who))
        )
      )
    )
)
