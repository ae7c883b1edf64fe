import { type Ahead, HOLD_MAX, MORE, type More } from "./ahead.ts"
import { isWord } from "./characters.ts"

const TAG = /^<\/?[A-Za-z][\w:-]*(\s+[\w:-]+\s*=\s*("[^"]*"|'[^']*'|[^\s"'=<>`]+))*\s*\/?>$/
const KNOWN =
  /^<\/?(a|abbr|b|big|blockquote|br|code|del|div|em|h[1-6]|hr|i|img|ins|kbd|li|mark|ol|p|pre|q|s|samp|small|span|strike|strong|sub|sup|table|tbody|td|th|thead|tr|tt|u|ul|var)\b/i
const COMMENT = /^<!--.*-->$/
const AUTOLINK = /^<([a-z][a-z0-9+.-]*:\S+|[^\s@<>]+@[^\s@<>]+)>$/i
const BREAKS = /^<\/?(blockquote|div|h[1-6]|hr|li|ol|p|pre|table|tr|ul)\b/i

/** A tag, a comment, or an address in angle brackets. */
export const angleAt = (
  look: Ahead,
  before: string
): { readonly kind: "tag" | "line" | "block" | "address"; readonly length: number } | undefined | More => {
  const next = look.unit(1)
  if (next === undefined) return MORE
  if (!/^[A-Za-z/!]$/.test(next)) return undefined
  const comment = next === "!"
  for (let offset = 2; offset < HOLD_MAX; offset++) {
    const unit = look.unit(offset)
    if (unit === undefined) return MORE
    if (unit === "" || unit === "\n" || unit === "<") return undefined
    if (unit !== ">") continue
    const text = look.slice(0, offset + 1)
    if (comment && !text.endsWith("-->")) continue
    if (AUTOLINK.test(text)) return { kind: "address", length: offset + 1 }
    if (!COMMENT.test(text) && !(TAG.test(text) && (KNOWN.test(text) || !isWord(before)))) return undefined
    const kind = /^<br\b/i.test(text) ? "line" : BREAKS.test(text) ? "block" : "tag"
    return { kind, length: offset + 1 }
  }
  return undefined
}

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " }

/** `&amp;` and its like: the character, and its length. */
export const entityAt = (look: Ahead): { readonly text: string; readonly length: number } | undefined | More => {
  for (let offset = 1; offset < 10; offset++) {
    const unit = look.unit(offset)
    if (unit === undefined) return MORE
    if (unit === ";") {
      const name = look.slice(1, offset)
      const number = /^#x([0-9a-f]+)$/i.exec(name)?.[1] ?? /^#(\d+)$/.exec(name)?.[1]
      const point = number === undefined ? undefined : Number.parseInt(number, /^#x/i.test(name) ? 16 : 10)
      const text =
        point === undefined
          ? Object.hasOwn(NAMED, name)
            ? NAMED[name]
            : undefined
          : point > 31 && point < 0x110000 && !(point >= 0xd800 && point < 0xe000)
            ? String.fromCodePoint(point)
            : undefined
      return text === undefined ? undefined : { text, length: offset + 1 }
    }
    if (!/^[#A-Za-z0-9]$/.test(unit)) return undefined
  }
  return undefined
}
