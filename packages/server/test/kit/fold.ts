import { applyChange, applyDelta, type TurnSnapshot } from "@harness/protocol"
import type { WireEvent } from "./wire.ts"

const KINDS = ["text", "reasoning", "refusal"] as const

/**
 * What a client makes of a session's or a turn's stream: every turn as its snapshots, changes and previews say. Without
 * crashes a preview begins exactly where the text so far ends; one that does not is a problem.
 */
export class Fold {
  readonly turns = new Map<string, TurnSnapshot>()
  readonly problems: Array<string> = []

  take({ data, id, type }: WireEvent): void {
    const { turnId } = data
    if (typeof turnId !== "string") return
    const held = this.turns.get(turnId)
    if (data.turn !== undefined) {
      // Without an id it is whole; the first row of a turn is, too.
      const whole = id === undefined || held === undefined
      this.turns.set(turnId, whole ? data.turn : applyChange(held, data.turn))
      return
    }
    if (held === undefined) return
    const kind = KINDS.find((name) => type.endsWith(`${name}.delta`))
    if (kind !== undefined) {
      const part = held.parts.findLast(({ partId }) => partId === data.partId)
      const length = part !== undefined && "text" in part ? part.text.length : 0
      if (data.offset !== length) this.problems.push(`${turnId} ${data.partId}: ${data.offset} after ${length}`)
      this.turns.set(turnId, applyDelta(held, kind, data))
    } else if (id !== undefined) this.turns.set(turnId, { ...held, revision: data.revision })
  }
}
