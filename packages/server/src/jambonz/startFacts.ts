import type { JsonObject, SessionId } from "@harness/protocol"
import type { SessionStart } from "@harness/protocol/jambonz"
import { Effect } from "effect"
import type { Tx } from "../log/Commit.ts"
import { SessionsRepo } from "../sessions/SessionsRepo.ts"
import { fromColumn } from "../storage/columns.ts"

/** As much of a caller's name as fits a title. */
const FROM_MAX = 256

/** What a call's session is called. */
export const titleOf = ({ from }: SessionStart): string =>
  from === undefined ? "Call" : `Call from ${from.slice(0, FROM_MAX)}`

/** What is known of a call when it begins. */
export const startFactsOf = (start: SessionStart): JsonObject => {
  const { account_sid, application_sid, call_sid, direction, from, language, metadata, sip_headers, to } = start
  const facts = { call_sid, account_sid, application_sid, direction, from, to, language, sip_headers, metadata }
  return Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  )
}

/** The notice of a call that goes on and was not known here. */
export const UNKNOWN_CALL = {
  code: "call.unknown",
  message:
    "The call was under way and is not known here: its session begins anew, and what was said before is not in it."
} as const

/** A call that had ended goes on: its session says nothing of an end. */
export const forgetEnd = (tx: Tx, sessionId: SessionId) =>
  Effect.gen(function* () {
    const session = yield* SessionsRepo.find(tx, sessionId)
    if (session === undefined || session.deletedAt !== null || session.metadata === null) return
    const { end: _, ...rest } = fromColumn<JsonObject>(session.metadata)
    yield* SessionsRepo.setMetadata(tx, sessionId, rest)
  })
