import { type Ahead, HOLD_MAX, MORE, type More, runOf } from "./ahead.ts"
import { opensFence } from "./blocks.ts"
import { isGap, isJoint, isPicture, isSpace, isUnheard, isWestern } from "./characters.ts"
import { type Marks, starsAt, underscoresAt } from "./emphasis.ts"
import { addressAt, linkAt } from "./links.ts"
import { angleAt, entityAt } from "./tags.ts"
import type { Token, Where } from "./token.ts"

type Found = Token | undefined | More

const fence = (mark: string, length: number): Token => ({
  length,
  part: "sentence",
  enter: { in: "fence", mark, length }
})

const backticks = (look: Ahead, where: Where): Found => {
  const length = runOf(look, "`")
  if (length === MORE) return MORE
  if (where.code > 0) return { length, code: length === where.code ? 0 : where.code }
  const fenced = length >= 3 && opensFence(look, length, "`")
  if (fenced === MORE) return MORE
  return fenced ? fence("`", length) : { length, code: length }
}

const tildes = (look: Ahead, where: Where): Found => {
  const length = runOf(look, "~")
  if (length === MORE) return MORE
  if (length === 1) return undefined
  return where.fresh && length >= 3 ? fence("~", length) : { length }
}

/** `1️⃣`: the digit is part of the picture. */
const keycap = (look: Ahead): Found => {
  const next = look.unit(1)
  if (next === undefined) return MORE
  if (next === "\u20E3") return { length: 2, picture: true }
  if (next !== "\uFE0F") return undefined
  const last = look.unit(2)
  if (last === undefined) return MORE
  return last === "\u20E3" ? { length: 3, picture: true } : undefined
}

const address = (look: Ahead, before: string): Found => {
  if (isWestern(before) || before === "_" || before === "@") return undefined
  const found = addressAt(look)
  if (found === MORE || found === undefined) return found
  const { goesOn, host, length } = found
  return { length, say: host, ...(goesOn ? { enter: { in: "path", depth: 0 } } : {}) }
}

const emphasis = (look: Ahead, marks: Marks | More, open: number): Found => {
  if (marks === MORE) return MORE
  const { as, length } = marks
  if (as === "text") return { length, say: look.slice(0, length) }
  return { length, emphases: Math.max(0, open + (as === "opening" ? 1 : -1)) }
}

/** `## Title ##`: those at the end. */
const closingHashes = (look: Ahead, where: Where): Found => {
  if (where.line !== "heading" || !isSpace(where.before)) return undefined
  for (let length = 1; length < HOLD_MAX; length++) {
    const unit = look.unit(length)
    if (unit === undefined) return MORE
    if (unit === "" || unit === "\n") return { length }
    if (!/^[# \t\r]$/.test(unit)) return undefined
  }
  return undefined
}

const escaped = (look: Ahead): Found => {
  const next = look.unit(1)
  if (next === undefined) return MORE
  if (next === "\n") return { length: 1 }
  return /^[!-/:-@[-`{-~]$/.test(next) ? { length: 2, say: next } : undefined
}

const pipe = (look: Ahead, where: Where): Found => {
  const next = look.unit(1)
  if (next === undefined) return MORE
  if (where.line !== "row" && !(isGap(where.before) && isGap(next))) return undefined
  return { length: 1, part: "comma", line: "row" }
}

/** `from`: 1 where a `!` makes a picture of it. */
const bracket = (look: Ahead, before: string, from: number): Found => {
  const mark = look.unit(from + 1)
  if (mark === undefined) return MORE
  const link = linkAt(look, before, from)
  if (link === MORE) return MORE
  if (link === undefined) return undefined
  const { close, tail, target } = link
  return { length: from + 1, closing: { at: close, length: tail, target } }
}

const image = (look: Ahead): Found => {
  const next = look.unit(1)
  if (next === undefined) return MORE
  return next === "[" ? bracket(look, "", 1) : undefined
}

const angle = (look: Ahead, before: string): Found => {
  const found = angleAt(look, before)
  if (found === MORE || found === undefined) return found
  const { kind, length } = found
  if (kind === "address") return { length: 1, closing: { at: length - 1, length: 1, target: false } }
  return { length, ...(kind === "tag" ? {} : { part: kind === "line" ? "space" : "sentence" }) }
}

const entity = (look: Ahead): Found => {
  const found = entityAt(look)
  if (found === MORE || found === undefined) return found
  const { length, text } = found
  return isSpace(text) ? { length, part: "space" } : { length, say: text }
}

const outsideCode = (look: Ahead, character: string, where: Where): Found => {
  switch (character) {
    case "*":
      return emphasis(look, starsAt(look, where.before, where.emphases), where.emphases)
    case "_":
      return emphasis(look, underscoresAt(look, where.before), where.emphases)
    case "~":
      return tildes(look, where)
    case "#":
      return closingHashes(look, where)
    case "\\":
      return escaped(look)
    case "|":
      return pipe(look, where)
    case "!":
      return image(look)
    case "[":
      return bracket(look, where.before, 0)
    case "<":
      return angle(look, where.before)
    case "&":
      return entity(look)
    default:
      return undefined
  }
}

/** What is markup, or not to be spoken, wherever it stands. */
export const inlineAt = (look: Ahead, character: string, where: Where): Found => {
  if (isJoint(character) || isUnheard(character)) return { length: character.length }
  if (isPicture(character)) return { length: character.length, picture: true }
  if (where.picture && character === "\u200D") return { length: 1, picture: true }
  const special = /^[0-9#*]$/.test(character)
    ? keycap(look)
    : /^[hwf]$/i.test(character)
      ? address(look, where.before)
      : undefined
  if (special !== undefined) return special
  if (character === "`") return backticks(look, where)
  return where.code > 0 ? undefined : outsideCode(look, character, where)
}
