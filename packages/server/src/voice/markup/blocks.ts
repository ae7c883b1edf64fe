import { type Ahead, HOLD_MAX, MORE, type More } from "./ahead.ts"
import { isDigit, isGap } from "./characters.ts"

/** A line of marks alone: a rule, an underlining, or what parts a table's head from its body. Its length, or 0. */
export const ruleLine = (look: Ahead): number | More => {
  for (let length = 0; length < HOLD_MAX; length++) {
    const unit = look.unit(length)
    if (unit === undefined) return MORE
    if (unit === "" || unit === "\n") {
      const line = look.slice(0, length)
      const marks = line.replace(/\s/g, "")
      const table = /^[|:-]+$/.test(marks) && marks.includes("|") && marks.includes("--")
      return table || /^(-{3,}|\*{3,}|_{3,}|={3,})$/.test(marks) ? length : 0
    }
    if (!/[-*_=:| \t\r]/.test(unit)) return 0
  }
  return 0
}

/** `- `, with the box of a task after it. Its length, or 0. */
export const bullet = (look: Ahead): number | More => {
  const next = look.unit(1)
  if (next === undefined) return MORE
  if (!isGap(next)) return 0
  if (next !== " ") return 1
  const open = look.unit(2)
  if (open === undefined) return MORE
  if (open !== "[") return 1
  const box = look.unit(3)
  if (box === undefined) return MORE
  if (!/^[ xX]$/.test(box)) return 1
  const close = look.unit(4)
  if (close === undefined) return MORE
  return close === "]" ? 5 : 1
}

/**
 * `1. ` or `2) `, when it begins a list or goes on with one, has words after it, and is no year or day of the month. The
 * number and the length; 0 for none.
 */
export const numbered = (look: Ahead, last: number): { readonly number: number; readonly length: number } | More => {
  const none = { number: 0, length: 0 }
  let digits = 0
  for (; digits < 3; digits++) {
    const unit = look.unit(digits)
    if (unit === undefined) return MORE
    if (!isDigit(unit)) break
  }
  if (digits === 0 || digits > 2) return none
  const mark = look.unit(digits)
  if (mark !== "." && mark !== ")") return none
  const number = Number(look.slice(0, digits))
  if (number !== 1 && number !== last + 1) return none
  const space = look.unit(digits + 1)
  if (space === undefined) return MORE
  if (space !== " " && space !== "\t") return none
  const words = look.unit(digits + 2)
  if (words === undefined) return MORE
  return words === "" || words === "\n" ? none : { number, length: digits + 1 }
}

/** Whether a row of three or more marks begins a block of code: no such mark follows on its line. */
export const opensFence = (look: Ahead, run: number, mark: string): boolean | More => {
  for (let offset = run; offset < HOLD_MAX; offset++) {
    const unit = look.unit(offset)
    if (unit === undefined) return MORE
    if (unit === "" || unit === "\n") return true
    if (unit === mark && mark === "`") return false
  }
  return true
}
