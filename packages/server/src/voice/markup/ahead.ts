import { characterAt } from "./characters.ts"

/** The most characters that are held back for one construct; a longer one is no construct, but text. */
export const HOLD_MAX = 200

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

/** What is to come will decide. */
export const MORE = Symbol("more")
export type More = typeof MORE

/**
 * Text from a place on. Whoever looks further than has come must answer `MORE`, so that an answer never depends on where
 * the text was cut; and nobody looks further than `HOLD_MAX`.
 */
export interface Ahead {
  /** The code unit `offset` on: "" after the end, `undefined` when it has not come yet. */
  readonly unit: (offset: number) => string | undefined
  /** As `unit`, and never half a pair. */
  readonly character: (offset: number) => string | undefined
  readonly slice: (from: number, to: number) => string
}

export const ahead = (text: string, at: number, ended: boolean): Ahead => {
  const unit = (offset: number) => text[at + offset] ?? (ended ? "" : undefined)
  return {
    unit,
    character: (offset) => {
      const first = unit(offset)
      if (first === undefined || !isHighSurrogate(first.charCodeAt(0))) return first
      return unit(offset + 1) === undefined ? undefined : characterAt(text, at + offset)
    },
    slice: (from, to) => text.slice(at + from, at + to)
  }
}

/** How many of `mark` stand here in a row, up to the limit. */
export const runOf = (look: Ahead, mark: string, from = 0): number | More => {
  for (let length = 0; length < HOLD_MAX; length++) {
    const unit = look.unit(from + length)
    if (unit === undefined) return MORE
    if (unit !== mark) return length
  }
  return HOLD_MAX
}
