/** Chance that a seed repeats. */
export interface Chance {
  /** At least 0, below 1. */
  readonly next: () => number
  /** A whole number, both ends included. */
  readonly whole: (from: number, to: number) => number
  readonly pick: <A>(among: readonly [A, ...ReadonlyArray<A>]) => A
  /** A chance of its own, that goes on apart from this one. */
  readonly fork: () => Chance
}

/** The mulberry32 generator. */
export const chance = (seed: number): Chance => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    next,
    whole: (from, to) => from + Math.floor(next() * (to - from + 1)),
    pick: (among) => among[Math.floor(next() * among.length)] ?? among[0],
    fork: () => chance(Math.floor(next() * 4_294_967_296))
  }
}
