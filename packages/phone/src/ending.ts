import type { Draft } from "./Draft.ts"
import type { EndReason } from "./frames.ts"
import type { HarnessFailure, Reply } from "./phoneCall.ts"
import { cut, forget, ownLine, play } from "./playing.ts"

/** An unprompted reply that will never be spoken is told of; a turn's own goes with its turn. */
const neverSpoken = (draft: Draft, reply: Reply | undefined) => {
  if (reply === undefined || reply.kind !== "reply") return
  forget(draft, reply)
  if (reply.turnId === undefined) draft.event({ name: "reply_dropped", reply_id: reply.id, reason: "call_ended" })
}

const tellTheEnd = (draft: Draft, reason: EndReason) => {
  const { held, now, queue, startedAt } = draft.call
  for (const reply of [...queue, held]) neverSpoken(draft, reply)
  const durationMs = Math.round(now - startedAt)
  draft.set({ turn: undefined, speech: undefined, queue: [], held: undefined, tools: [], transfer: undefined })
  draft.send({ type: "session:end", reason, duration_ms: durationMs })
  draft.happen({ _tag: "Close" })
  draft.set({ ended: { reason, durationMs } })
}

const byUs: ReadonlySet<EndReason> = new Set(["harness_hangup", "transferred", "error"])

/** The call is over. A turn that is still open is cancelled, unless the harness itself ended the call. */
export const end = (draft: Draft, reason: EndReason): void => {
  if (draft.call.phase !== "live") return
  const { turn } = draft.call
  cut(draft)
  if (turn?.state === "open" && !byUs.has(reason)) {
    draft.send({ type: "turn:cancel", turn_id: turn.id, reason: "call_ended" })
  }
  tellTheEnd(draft, reason)
  draft.set({ phase: "ended" })
}

/** On failure: the harness is out of the call, a line is said, and the call is transferred or hung up. */
export const fail = (draft: Draft, failure: HarnessFailure): void => {
  const { phase, settings } = draft.call
  if (phase !== "live") return
  cut(draft)
  draft.set({ failure })
  draft.happen({ _tag: "Failed", failure })
  tellTheEnd(draft, "error")
  draft.set({ phase: "failing" })
  const { say } = settings.onHarnessFailure
  if (say !== undefined) play(draft, ownLine("failure", say, { interruptible: false }))
}
