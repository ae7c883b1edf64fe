import type { TurnPart, TurnSnapshot } from "@harness/protocol"

/** From `offset` on, in UTF-16 code units, the part's text is now `text`; what was shown after it is gone. */
export interface TextChange {
  readonly kind: "text" | "reasoning" | "refusal"
  readonly partId: string
  readonly offset: number
  readonly text: string
}

const textOf = (part: TurnPart | undefined): string => (part !== undefined && "text" in part ? part.text : "")

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff

const common = (a: string, b: string): number => {
  if (b.startsWith(a)) return a.length
  let same = 0
  while (same < a.length && same < b.length && a.charCodeAt(same) === b.charCodeAt(same)) same++
  // Never between the halves of a character.
  return same > 0 && isHighSurrogate(a.charCodeAt(same - 1)) ? same - 1 : same
}

/** What a screen that shows one snapshot's text has to do to show a later one's. */
export const textChanges = (before: TurnSnapshot | undefined, after: TurnSnapshot): ReadonlyArray<TextChange> =>
  after.parts.flatMap((part, place) => {
    if (part.type !== "text" && part.type !== "reasoning" && part.type !== "refusal") return []
    const near = before?.parts[place]
    const held = near?.partId === part.partId ? near : before?.parts.find((other) => other.partId === part.partId)
    if (held === part) return []
    const shown = textOf(held)
    const offset = common(shown, part.text)
    return offset === shown.length && offset === part.text.length
      ? []
      : [{ kind: part.type, partId: part.partId, offset, text: part.text.slice(offset) }]
  })
