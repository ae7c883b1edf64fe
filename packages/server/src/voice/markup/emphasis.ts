import { type Ahead, HOLD_MAX, MORE, type More, runOf } from "./ahead.ts"
import { isDigit, isGap, isWestern, isWord } from "./characters.ts"

/** What a row of marks is: text, or the beginning or end of emphasis. */
export interface Marks {
  readonly length: number
  readonly as: "text" | "opening" | "closing"
}

/** Whether `*` before a number begins emphasis: `*5*`, and not `*67`, which is a code to be dialled. */
const emphasizesNumber = (look: Ahead): boolean | More => {
  for (let offset = 1; offset < HOLD_MAX; offset++) {
    const unit = look.unit(offset)
    if (unit === undefined) return MORE
    if (unit === "*") {
      const after = look.unit(offset + 1)
      if (after === undefined) return MORE
      return isGap(after) || /^[.,;:!?)]$/.test(after)
    }
    if (!/^[\d.,:%]$/.test(unit)) return false
  }
  return false
}

/** `open`: how many emphases are. A mark between spaces or digits is text, and so is one that is said on the telephone. */
export const starsAt = (look: Ahead, before: string, open: number): Marks | More => {
  const length = runOf(look, "*")
  if (length === MORE) return MORE
  const next = look.character(length)
  if (next === undefined) return MORE
  const text: Marks = { length, as: "text" }
  // Emphasis that was begun when the text ended.
  if (length > 1 && next === "") return { length, as: "closing" }
  if (isGap(before) && isGap(next)) return text
  if (isDigit(before) && isDigit(next)) return text
  if (length === 1 && open === 0) {
    if (isWestern(before) && isWestern(next)) return text
    if (isDigit(before)) return text
    if (!isWord(before) && /^[.,;:!?)]$/.test(next)) return text
    if (isDigit(next)) {
      const emphasis = emphasizesNumber(look)
      if (emphasis === MORE) return MORE
      if (!emphasis) return text
    }
  }
  if (isGap(before)) return { length, as: "opening" }
  if (isGap(next)) return { length, as: "closing" }
  return { length, as: open > 0 ? "closing" : "opening" }
}

/** Of `_`: inside a word, a name or an address it is text. */
export const underscoresAt = (look: Ahead, before: string): Marks | More => {
  const length = runOf(look, "_")
  if (length === MORE) return MORE
  const next = look.character(length)
  if (next === undefined) return MORE
  const inside = (isWord(before) && isWord(next)) || /^[@/.\\#=-]$/.test(before)
  const alone = isGap(before) && isGap(next) && length < 3
  return { length, as: inside || alone ? "text" : "closing" }
}
