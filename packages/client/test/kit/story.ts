import { applyChange, applyDelta, type TurnChange, type TurnPart, type TurnSnapshot } from "@harness/protocol"
import * as fc from "effect/FastCheck"
import { snapshot, text } from "./log.ts"

/** What may happen to a turn next. */
export type Step =
  | { readonly kind: "grow"; readonly chars: string }
  | { readonly kind: "close" }
  | { readonly kind: "note" }
  | { readonly kind: "crash"; readonly kept: number }

/** Any steps a turn may take. */
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("grow" as const),
      chars: fc.fullUnicodeString({ minLength: 1, maxLength: 6 })
    })
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("close" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("note" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("crash" as const),
      kept: fc.double({ min: 0, max: 1, noNaN: true })
    })
  }
)

/** One thing a server says of a turn, and the turn as the server has it then. */
export interface Told {
  readonly row?: TurnChange
  readonly delta?: {
    readonly attempt: number
    readonly partId: string
    readonly offset: number
    readonly delta: string
  }
  readonly turn: TurnSnapshot
}

/** A server's side of a turn: its rows and previews, in order. */
export const tell = (steps: ReadonlyArray<Step>): ReadonlyArray<Told> => {
  let turn = snapshot(1)
  const told: Array<Told> = [{ row: turn, turn }]
  const durable = (more: Partial<TurnSnapshot>, parts: ReadonlyArray<TurnPart>) => {
    const { prompt: _, ...row } = { ...turn, ...more, revision: turn.revision + 1, parts }
    turn = applyChange(turn, row)
    told.push({ row, turn })
  }
  let open: string | undefined
  let parts = 0
  for (const step of steps) {
    const growing = turn.parts.find((part) => part.partId === open)
    const shown = growing?.type === "text" ? growing.text : ""
    if (step.kind === "grow") {
      open ??= `p${++parts}`
      const delta = { attempt: turn.attempt, partId: open, offset: shown.length, delta: step.chars }
      turn = applyDelta(turn, "text", delta)
      told.push({ delta, turn })
    } else if (step.kind === "close" && open !== undefined) {
      durable({}, [text(open, shown, true)])
      open = undefined
    } else if (step.kind === "note") {
      const note: TurnPart = { type: "notice", partId: `p${++parts}`, code: "n", message: "m" }
      // Text that grew since the row before has changed, too: a reader of rows alone learns its place in the order.
      durable({}, open === undefined ? [note] : [text(open, shown), note])
    } else if (step.kind === "crash") {
      const kept = shown.slice(0, Math.floor(shown.length * step.kept))
      durable({ attempt: turn.attempt + 1 }, open === undefined ? [] : [text(open, kept)])
    }
  }
  return told
}
