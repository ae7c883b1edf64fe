import type {
  Actor,
  AppendConversationReceiptResponseValue,
  AppendConversationRequestValue,
  EntryId,
  HistoryEntry,
  SessionId
} from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import { CommitRoom } from "../log/Commit.ts"
import { fitsEvent } from "../log/fact.ts"
import { mismatch, tooLong, unknownPlace } from "../sessions/refusals.ts"
import { living, Sessions } from "../sessions/Sessions.ts"
import { SessionsRepo } from "../sessions/SessionsRepo.ts"
import { requestHash } from "../storage/columns.ts"
import { cutPage } from "../storage/paging.ts"
import { HistoryRepo, type StoredEntry } from "./HistoryRepo.ts"

const shown = ({ ord: _, provider: __, ...entry }: StoredEntry): HistoryEntry => entry

const make = Effect.gen(function* () {
  const room = yield* CommitRoom
  const repo = yield* HistoryRepo
  const sessions = yield* Sessions

  const page = Effect.fn("History.page")(function* (
    sessionId: SessionId,
    { after, limit }: { readonly after?: string | undefined; readonly limit: number }
  ) {
    yield* sessions.row(sessionId)
    const place = after === undefined ? 0 : yield* repo.ordOf(sessionId, after)
    if (place === undefined) return yield* unknownPlace()
    const cut = cutPage(yield* repo.page(sessionId, place, limit + 1), limit, (entry) => entry.entryId)
    return { entries: cut.page.map(shown), next: cut.next }
  })

  /** Adds to a conversation without a turn. Behind a running turn it takes its place when that has ended. */
  const append = Effect.fn("History.append")(function* (
    sessionId: SessionId,
    entryId: EntryId,
    request: AppendConversationRequestValue,
    actor: Actor
  ) {
    const content: HistoryEntry["content"] =
      typeof request.content === "string" ? [{ type: "text", text: request.content }] : request.content
    if (!fitsEvent({ content, custom: request.custom })) return yield* tooLong()
    const hash = requestHash({ ...request, content })
    return yield* room.commit((tx) =>
      Effect.gen(function* () {
        const session = yield* living(tx, sessionId)
        const receipt = (
          cursor: number,
          disposition: AppendConversationReceiptResponseValue["disposition"]
        ): AppendConversationReceiptResponseValue => ({ sessionId, entryId, cursor, disposition })
        const known = yield* HistoryRepo.find(tx, sessionId, entryId)
        if (known !== undefined) {
          if (known.requestHash !== hash) return yield* mismatch("entry", entryId)
          return receipt(known.acceptedCursor ?? session.cursor, "deduplicated")
        }
        const cursor = yield* SessionsRepo.advance(tx, sessionId, 1)
        const body = { content, custom: request.custom }
        yield* HistoryRepo.appendOwn(tx, {
          sessionId,
          entryId,
          role: request.role,
          body,
          requestHash: hash,
          audience: request.audience,
          acceptedCursor: cursor,
          behind: session.activeTurn !== null
        })
        const entry = { entryId, role: request.role, ...body }
        yield* tx.append({ sessionId, cursor, type: "entry" }, { actor }, { entry })
        return receipt(cursor, "accepted")
      })
    )
  })

  return { page, append }
})

/** A session's history, as the model would be sent it. */
export class History extends Context.Tag("@harness/server/History")<History, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(History, make)
}
