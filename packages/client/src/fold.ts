import {
  applyChange,
  applyDelta,
  type SessionStreamEventValue,
  type TurnChange,
  type TurnSnapshot,
  type TurnStreamEventValue
} from "@harness/protocol"

/** What a turn can be folded from: its own stream, or its part of its session's. */
export type TurnEvent = TurnStreamEventValue | SessionStreamEventValue

const growing = {
  "turn.text.delta": "text",
  "turn.reasoning.delta": "reasoning",
  "turn.refusal.delta": "refusal",
  "session.turn.text.delta": "text",
  "session.turn.reasoning.delta": "reasoning",
  "session.turn.refusal.delta": "refusal"
} as const

/** A turn's first row holds all there is of it, its prompt included, unless that is too long for a row. */
const first = (change: TurnChange): TurnSnapshot | undefined =>
  change.prompt === undefined || change.revision !== 1 ? undefined : { ...change, prompt: change.prompt }

const changed = (held: TurnSnapshot | undefined, change: TurnChange): TurnSnapshot | undefined => {
  if (held === undefined) return first(change)
  return change.turnId === held.turnId && change.revision > held.revision ? applyChange(held, change) : held
}

const whole = (held: TurnSnapshot | undefined, turn: TurnSnapshot): TurnSnapshot =>
  held !== undefined && turn.revision < held.revision ? held : turn

/**
 * A turn as it is after one more event. Undefined while nothing whole has been seen of it: begin with `turns.get`, with a
 * stream that opens live, or at the turn's first row.
 *
 * On a session's stream only events of the held turn count; a turn's own stream is believed when it goes over to another
 * turn. A preview above what is held waits for the next row, whose text is whole.
 */
export const foldTurn = (held: TurnSnapshot | undefined, event: TurnEvent): TurnSnapshot | undefined => {
  switch (event.type) {
    case "turn.terminal": {
      const { prompt, ...turn } = event.turn
      // A turn too long for one event is told without its prompt and oldest parts.
      if (prompt === undefined) return held?.turnId === turn.turnId ? changed(held, turn) : undefined
      return whole(held?.turnId === turn.turnId ? held : undefined, { ...turn, prompt })
    }
    case "turn.snapshot":
    case "session.turn.snapshot": {
      if ("at" in event) return changed(held, event.turn)
      const { turn } = event
      if (held === undefined || held.turnId === turn.turnId) return whole(held, turn)
      return event.type === "turn.snapshot" ? turn : held
    }
    case "turn.text.delta":
    case "turn.reasoning.delta":
    case "turn.refusal.delta":
    case "session.turn.text.delta":
    case "session.turn.reasoning.delta":
    case "session.turn.refusal.delta":
      return held === undefined || held.turnId !== event.turnId || event.attempt < held.attempt
        ? held
        : applyDelta(held, growing[event.type], event)
    default:
      return "at" in event && "revision" in event && event.turnId === held?.turnId && event.revision > held.revision
        ? { ...held, revision: event.revision }
        : held
  }
}
