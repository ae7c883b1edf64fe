import type { Draft } from "./Draft.ts"
import type { ToolAtWork } from "./phoneCall.ts"
import type { ToolCall } from "./reading.ts"
import type { ToolAnswer } from "./settings.ts"

const unknown = (name: string): ToolAnswer => ({ error: `there is no tool ${name}` })

/** Runs a tool of the application, which answers as it was scripted to. */
export const toolCall = (draft: Draft, frame: ToolCall) => {
  const { callIds, lastTurn, now, toolAnswers, tools, turn } = draft.call
  const { call_id: callId, name, turn_id: turnId } = frame
  if (callIds.has(callId)) return draft.refuse("duplicate_id", "there was a tool call of this id", callId)
  if (turnId !== undefined && turnId > lastTurn) {
    return draft.refuse("turn_not_started", `turn ${turnId} has not started`, callId)
  }
  draft.set({ callIds: new Set(callIds).add(callId) })
  if (turnId !== undefined && (turnId < lastTurn || turn?.state === "cancelled")) {
    return draft.happen({ _tag: "Dropped", why: "its turn is over", ref: callId })
  }
  const answer = (Object.hasOwn(toolAnswers, name) ? toolAnswers[name] : undefined) ?? unknown(name)
  const work: ToolAtWork = { callId, until: now + (answer.afterMs ?? 0), answer }
  draft.set({ tools: [...tools, work] })
  if (answer.afterMs === undefined || answer.afterMs === 0) toolAnswered(draft, work)
}

/** A tool has its result. A wait for the harness that the tool held up begins anew. */
export const toolAnswered = (draft: Draft, work: ToolAtWork): void => {
  const { answer, callId } = work
  const tools = draft.call.tools.filter((one) => one.callId !== callId)
  draft.set({ tools })
  const { error, result } = answer
  draft.send({
    type: "tool:result",
    call_id: callId,
    ...(error === undefined ? { result: result ?? null } : { error })
  })
  const { now, settings, turn } = draft.call
  if (tools.length > 0 || turn?.wait?.until !== "tool") return
  draft.set({ turn: { ...turn, wait: { stage: 2, until: now + settings.firstChunkTimeoutMs * settings.speed } } })
}
