import type { TurnChange, TurnPart, TurnSnapshot } from "./schema/Turn.ts"

type Growing = "text" | "reasoning" | "refusal"

const put = (parts: ReadonlyArray<TurnPart>, part: TurnPart): ReadonlyArray<TurnPart> => {
  const at = parts.findLastIndex((held) => held.partId === part.partId)
  return at < 0 ? [...parts, part] : parts.with(at, part)
}

/** A later row of the same turn, folded in: its parts replace those of the same id, everything else is as it says. */
export const applyChange = (turn: TurnSnapshot, change: TurnChange): TurnSnapshot => ({
  ...change,
  prompt: change.prompt ?? turn.prompt,
  parts: change.parts.reduce(put, turn.parts)
})

/**
 * A preview, folded in. An offset below what is held truncates there (a crash took the tail); one above says that frames
 * were missed: nothing changes, and the next durable row brings the text whole.
 */
export const applyDelta = (
  turn: TurnSnapshot,
  kind: Growing,
  delta: { readonly partId: string; readonly offset: number; readonly delta: string }
): TurnSnapshot => {
  const held = turn.parts.findLast((part) => part.partId === delta.partId)
  const text = held !== undefined && held.type === kind ? held.text : ""
  if (delta.offset > text.length) return turn
  const part = { type: kind, partId: delta.partId, text: text.slice(0, delta.offset) + delta.delta, done: false }
  return { ...turn, parts: put(turn.parts, part) }
}
