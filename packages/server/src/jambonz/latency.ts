import type { SessionId } from "@harness/protocol"
import { Effect } from "effect"
import type { Tx } from "../log/Commit.ts"
import { FactsRepo } from "../voice/FactsRepo.ts"
import type { Reply } from "./Speaker.ts"

/** Keeps how long a turn of the call was waited for: until its model began, where one was asked, and until we did. */
export const keepLatency = (tx: Tx, sessionId: SessionId, reply: Reply, isModels: boolean) =>
  Effect.gen(function* () {
    const { firstChunkAt, firstTokenAt, restored, startedAt, turnNumber } = reply
    if (restored || turnNumber === undefined || firstChunkAt === undefined) return
    const body = {
      ...(isModels && firstTokenAt !== undefined ? { model_first_token_ms: firstTokenAt - startedAt } : {}),
      first_chunk_ms: firstChunkAt - startedAt
    }
    yield* FactsRepo.put(tx, sessionId, { kind: "latency", turn: turnNumber, body })
  })
