import { Schema } from "effect"
import { CompactionId, Cursor, EntryId, TurnId } from "../ids.ts"
import { strict } from "../strict.ts"
import { SafeFailure } from "./Failure.ts"

/** Asks for a summary of the head of the history. `instructions` tell the model what to keep. */
export const SubmitContextCompactionRequest = Schema.Struct({
  instructions: Schema.optional(Schema.String)
}).annotations({ identifier: "SubmitContextCompactionRequest", ...strict })
export type SubmitContextCompactionRequestValue = typeof SubmitContextCompactionRequest.Type

/** How a compaction was taken in. */
export const ContextCompactionReceiptResponse = Schema.Struct({
  compactionId: CompactionId,
  disposition: Schema.Literal("accepted", "deduplicated"),
  cursor: Cursor
}).annotations({ identifier: "ContextCompactionReceiptResponse" })
export type ContextCompactionReceiptResponseValue = typeof ContextCompactionReceiptResponse.Type

/** Stops a compaction that has not ended. */
export const CancelContextCompactionRequest = Schema.Struct({
  reason: Schema.optional(Schema.String)
}).annotations({ identifier: "CancelContextCompactionRequest", ...strict })
export type CancelContextCompactionRequestValue = typeof CancelContextCompactionRequest.Type

/** queued → running → completed | failed | cancelled */
export const SessionCompactionState = Schema.Literal(
  "queued",
  "running",
  "completed",
  "failed",
  "cancelled"
).annotations({ identifier: "SessionCompactionState" })
export type SessionCompactionState = typeof SessionCompactionState.Type

/** The last turn or entry a summary stands for. */
export const SessionCompactionHistoryBoundary = Schema.Union(
  Schema.Struct({ turnId: TurnId }),
  Schema.Struct({ entryId: EntryId })
).annotations({ identifier: "SessionCompactionHistoryBoundary" })
export type SessionCompactionHistoryBoundaryValue = typeof SessionCompactionHistoryBoundary.Type

/** Where in the session's log a compaction last changed. */
export const SessionCompactionPosition = Schema.Struct({ cursor: Cursor }).annotations({
  identifier: "SessionCompactionPosition"
})
export type SessionCompactionPositionValue = typeof SessionCompactionPosition.Type

/** What a compaction is and what it came to, wherever it is shown. */
export const compactionFields = {
  compactionId: CompactionId,
  state: SessionCompactionState,
  boundary: Schema.optional(SessionCompactionHistoryBoundary),
  tokensBefore: Schema.optional(Schema.NonNegativeInt),
  tokensAfter: Schema.optional(Schema.NonNegativeInt),
  failure: Schema.optional(SafeFailure)
}

/** One compaction of a session's context. */
export const ContextCompactionResponse = Schema.Struct({
  ...compactionFields,
  position: SessionCompactionPosition
}).annotations({ identifier: "ContextCompactionResponse" })
export type ContextCompactionResponseValue = typeof ContextCompactionResponse.Type

/** A session's compactions, oldest first. */
export const SessionCompactionsResponse = Schema.Struct({
  compactions: Schema.Array(ContextCompactionResponse),
  next: Schema.NullOr(Schema.String)
}).annotations({ identifier: "SessionCompactionsResponse" })
export type SessionCompactionsResponseValue = typeof SessionCompactionsResponse.Type
