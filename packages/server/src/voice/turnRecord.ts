import type { TurnSnapshot } from "@harness/protocol"
import type { TurnRecord } from "@harness/protocol/jambonz"
export const turnRecordOf = (
  turn: TurnSnapshot,
  _times: { readonly startedAt: number; readonly firstChunkAt?: number }
): TurnRecord => ({
  route: turn.steps.length === 0 ? "line" : turn.agent,
  procedures: [],
  model_calls: turn.steps.map((step) => ({ model: step.model, purpose: "reply" }))
})
