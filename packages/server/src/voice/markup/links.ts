import { type Ahead, HOLD_MAX, MORE, type More } from "./ahead.ts"
import { isGap, isUnspaced, isWord } from "./characters.ts"

/** Where a bracket's words end, and what of its tail goes with them: `](` begins a target, `][…]` is passed over whole. */
export interface Link {
  readonly close: number
  readonly tail: number
  readonly target: boolean
}

const closingBracket = (look: Ahead, from: number): number | More => {
  let depth = 0
  for (let offset = from; offset < HOLD_MAX; offset++) {
    const unit = look.unit(offset)
    if (unit === undefined) return MORE
    if (unit === "" || unit === "\n") return -1
    if (unit === "\\") offset++
    else if (unit === "[") depth++
    else if (unit === "]" && --depth === 0) return offset
  }
  return -1
}

/** `[words](target)`, `[words][name]`; nothing for a bracket that is only one. `before`: the character in front. */
export const linkAt = (look: Ahead, before: string, from = 0): Link | undefined | More => {
  const close = closingBracket(look, from)
  if (close === MORE) return MORE
  if (close < 0) return undefined
  const next = look.unit(close + 1)
  if (next === undefined) return MORE
  if (next === "(") return { close, tail: 2, target: true }
  if (next !== "[" || isWord(before)) return undefined
  const end = closingBracket(look, close + 1)
  if (end === MORE) return MORE
  return end < 0 ? undefined : { close, tail: end - close + 1, target: false }
}

const SCHEMES = ["https://", "http://", "ftp://", "www."]

/** An address that stands alone: its host, and how much of the text that is. What follows it of the address is not in it. */
export const addressAt = (
  look: Ahead
): { readonly host: string; readonly length: number; readonly goesOn: boolean } | undefined | More => {
  let start = 0
  let candidates: ReadonlyArray<string> = SCHEMES
  for (; start < 8; start++) {
    const unit = look.unit(start)
    if (unit === undefined) return MORE
    candidates = candidates.filter((scheme) => scheme[start] === unit.toLowerCase())
    const [only] = candidates
    if (only === undefined) return undefined
    if (candidates.length === 1 && only.length === start + 1) break
  }
  start++
  for (let end = start; ; end++) {
    const character = end < HOLD_MAX ? look.character(end) : ""
    if (character === undefined) return MORE
    if (character !== "" && !isUnspaced(character) && (isWord(character) || /[-._:@%~]/.test(character))) {
      if (character.length > 1) end++
      continue
    }
    const authority = look.slice(start, end).replace(/[-._:@%~]+$/, "")
    const host = authority
      .slice(authority.lastIndexOf("@") + 1)
      .replace(/:\d*$/, "")
      .replace(/^www\./i, "")
    if (host === "") return undefined
    const length = start + authority.length
    const goesOn = end >= HOLD_MAX || (length === end && /^[/?#]$/.test(character))
    return { host, length, goesOn }
  }
}

/** Where an address that stands alone may stop: marks that end a sentence, or emphasis, when a gap comes after them. */
const TRAILING = /^[.,!?;:'"*_~]$/
const BEYOND = /^[<>"`|[\]{}\\^]$/

/** What of an address's path stands here, and the brackets then open; 0 at its end. */
export const pathAt = (look: Ahead, depth: number): { readonly length: number; readonly depth: number } | More => {
  const over = { length: 0, depth }
  const first = look.character(0)
  if (first === undefined) return MORE
  const ends = (character: string) =>
    isGap(character) || isUnspaced(character) || BEYOND.test(character) || (character === ")" && depth === 0)
  if (first === "(") return { length: 1, depth: depth + 1 }
  if (first === ")" && depth > 0) return { length: 1, depth: depth - 1 }
  if (!TRAILING.test(first)) return ends(first) ? over : { length: first.length, depth }
  for (let length = 1; length < HOLD_MAX; length++) {
    const character = look.character(length)
    if (character === undefined) return MORE
    if (ends(character)) return over
    if (!TRAILING.test(character)) return { length, depth }
  }
  return over
}
