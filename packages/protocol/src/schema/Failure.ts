import { Schema } from "effect"

/** Why a turn, a refresh or a compaction failed, without secrets. `retryable`: the same may work later. */
export const SafeFailure = Schema.Struct({
  kind: Schema.Literal("auth_expired", "rate_limited", "context_overflow", "transient", "permanent"),
  code: Schema.String,
  message: Schema.String,
  retryable: Schema.Boolean
}).annotations({ identifier: "SafeFailure" })
export type SafeFailure = typeof SafeFailure.Type
