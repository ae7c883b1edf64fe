// Scripts that put no spaces between words are spoken sign by sign.
const alone = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}"
const word = new RegExp(`\\s*(?:[${alone}]|[^\\s${alone}]+)`, "uy")

/**
 * The next word of a text from an offset on, with the space before it; what a text ends with belongs to its last word.
 * Undefined: no word is complete yet.
 */
export const wordAt = (text: string, offset: number, complete: boolean): string | undefined => {
  word.lastIndex = offset
  const [found] = word.exec(text) ?? []
  if (found === undefined) return undefined
  const end = offset + found.length
  const rest = text.slice(end)
  if (rest === "") return complete ? found : undefined
  return complete && rest.trim() === "" ? found + rest : found
}

/** How many words a text has. */
export const wordCount = (text: string): number => {
  let [count, offset] = [0, 0]
  for (let next = wordAt(text, offset, true); next !== undefined; next = wordAt(text, offset, true)) {
    count += 1
    offset += next.length
  }
  return count
}
