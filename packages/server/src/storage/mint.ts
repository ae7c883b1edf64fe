import { randomInt } from "node:crypto"
import { ulid } from "ulid"

// Node keeps a pool for these; on its own, ulid asks the system for every letter, which costs more than the row it names.
const letter = () => randomInt(32) / 32

/** A new name, in the order of its time: 26 characters. */
export const mint = (now: number): string => ulid(now, letter)
