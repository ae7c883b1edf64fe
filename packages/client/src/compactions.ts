import {
  CancelContextCompactionRequest,
  SessionCompactionsQuery,
  SubmitContextCompactionRequest
} from "@harness/protocol"
import { Effect } from "effect"
import type { Api, Call } from "./api.ts"
import { type CompactionAt, compactionPath, parted, partedOptional, type SessionAt, sessionPath } from "./input.ts"

/** A page of a session's compactions: the oldest, or those `after` or `before` a known one. */
export interface ListCompactions extends SessionAt {
  readonly limit?: number | undefined
  readonly after?: string | undefined
  readonly before?: string | undefined
}

const urlParams = {}
const inputs = {
  list: parted(sessionPath, SessionCompactionsQuery),
  submit: partedOptional(compactionPath, SubmitContextCompactionRequest),
  at: partedOptional(compactionPath, CancelContextCompactionRequest)
}

/** Summaries that stand for the head of a history. */
export const compactions = (api: Api, call: Call) => ({
  /** Asks for one; it starts between turns. The same again names the same compaction. */
  submit: (input: CompactionAt & typeof SubmitContextCompactionRequest.Encoded) =>
    Effect.flatMap(inputs.submit(input), ({ path, rest }) =>
      call("compactions.submit", api.compactions().submitCompaction({ path, urlParams, payload: rest }))
    ),
  get: (input: CompactionAt) =>
    Effect.flatMap(inputs.at(input), ({ path }) =>
      call("compactions.get", api.compactions().getCompaction({ path, urlParams }))
    ),
  /** One page, oldest first. */
  list: (input: ListCompactions) =>
    Effect.flatMap(inputs.list(input), ({ path, rest }) =>
      call("compactions.list", api.compactions().listCompactions({ path, urlParams: rest }))
    ),
  /** Stops one that has not ended; the history stays as it was. */
  cancel: (input: CompactionAt & typeof CancelContextCompactionRequest.Encoded) =>
    Effect.flatMap(inputs.at(input), ({ path, rest }) =>
      call("compactions.cancel", api.compactions().cancelCompaction({ path, urlParams, payload: rest }))
    )
})
