import type { StoredEntry } from "../history/HistoryRepo.ts"
import { tokensOfText } from "./tokens.ts"

/** How much is shown of one call or result; how much of any text, when all of it is too long. */
const SHOWN_MAX = 4_000
const SHOWN_MIN = 250

/** The beginning and the end of a text, when it is longer than `most` characters. */
const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most / 2)} … ${text.slice(text.length - most / 2)}`

const lineOf = ({ content }: Pick<StoredEntry, "content">, shown: number, said: number): string =>
  content
    .map((part): string => {
      switch (part.type) {
        case "text":
          return cut(part.text, said)
        case "call":
          return `(calls ${part.name} with ${cut(JSON.stringify(part.arguments) ?? "", shown)})`
        case "result":
          return `(${part.isError ? "error" : "result"}: ${cut(lineOf(part, shown, shown), shown)})`
        case "image":
          return `(an image: ${part.mime})`
        case "file":
          return `(a file: ${cut(part.name, SHOWN_MIN)}, ${part.mime})`
        default:
          return ""
      }
    })
    .filter((text) => text.trim() !== "")
    .join("\n")

const speakers: Record<StoredEntry["role"], string> = {
  system: "Summary of what came before",
  user: "User",
  custom: "Note",
  assistant: "Assistant",
  tool: "Tool"
}

const written = (entries: ReadonlyArray<StoredEntry>, shown: number, said: number): string =>
  entries
    .map((entry) => ({ entry, line: lineOf(entry, shown, said) }))
    .filter(({ line }) => line !== "")
    .map(({ entry, line }) => `${speakers[entry.role]}:\n${line}`)
    .join("\n\n")

/** The beginning and the end of a text that has at most so many tokens. */
const cutToTokens = (text: string, tokens: number): string => {
  let most = text.length
  let short = text
  while (most > 1 && tokensOfText(short) > tokens) {
    most = Math.floor(most / 4) * 2
    short = cut(text, most)
  }
  return short
}

/**
 * A history as plain text: to be summarised by any model, calls and results included, without tools on offer. At most
 * `room` tokens long: what is long is shown in part, the shorter the less room there is.
 */
export const transcriptOf = (entries: ReadonlyArray<StoredEntry>, room = Number.POSITIVE_INFINITY): string => {
  const whole = written(entries, SHOWN_MAX, Number.POSITIVE_INFINITY)
  if (tokensOfText(whole) <= room) return whole
  let short = whole
  for (let most = SHOWN_MAX; most >= SHOWN_MIN; most /= 2) {
    short = written(entries, most, most)
    if (tokensOfText(short) <= room) return short
  }
  return cutToTokens(short, room)
}
