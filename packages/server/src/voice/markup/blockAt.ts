import { type Ahead, MORE, type More, runOf } from "./ahead.ts"
import { bullet, numbered, ruleLine } from "./blocks.ts"
import { isDigit } from "./characters.ts"
import type { Token, Where } from "./token.ts"

const marker = (length: number | More): Token | undefined | More =>
  length === MORE ? MORE : length === 0 ? undefined : { length, part: "sentence" }

const heading = (look: Ahead): Token | undefined | More => {
  const length = runOf(look, "#")
  if (length === MORE) return MORE
  const next = look.unit(length)
  if (next === undefined) return MORE
  if (length > 6 || !/^[ \t]$/.test(next)) return undefined
  return { length, line: "heading", part: "sentence" }
}

const quote = (look: Ahead): Token | undefined | More => {
  const next = look.unit(1)
  if (next === undefined) return MORE
  // A comparison, and no quotation.
  return next === "=" || isDigit(next) ? undefined : { length: 1 }
}

const item = (look: Ahead, last: number): Token | undefined | More => {
  const found = numbered(look, last)
  if (found === MORE) return MORE
  return found.length === 0 ? undefined : { length: found.length, number: found.number, part: "sentence" }
}

/** What only means something at the beginning of a line. */
export const blockAt = (look: Ahead, character: string, where: Where): Token | undefined | More => {
  const rule = /^[-*_=:|]$/.test(character) ? marker(ruleLine(look)) : undefined
  if (rule !== undefined) return rule
  switch (character) {
    case "#":
      return heading(look)
    case "•":
    case "‣":
    case "◦":
      return marker(1)
    case "-":
    case "*":
    case "+":
      return marker(bullet(look))
    case ">":
      return quote(look)
    case "|":
      return { length: 1, line: "row" }
    default:
      return isDigit(character) ? item(look, where.number) : undefined
  }
}
