/** A letter or digit as it is compared: without case, width or composition. Of one source character, each part ends where it ends. */
export interface Letter {
  readonly letter: string
  /** Where its source character begins and ends. */
  readonly from: number
  readonly to: number
  /** The last part of its source character. */
  readonly last: boolean
}

const COUNTS = /^[\p{L}\p{N}\p{M}]$/u

/** What of a text is heard, letter by letter: spaces, punctuation, signs and case aside. */
export const lettersOf = (text: string): ReadonlyArray<Letter> => {
  const letters: Array<Letter> = []
  let from = 0
  for (const character of text) {
    const to = from + character.length
    const parts = [...character.normalize("NFKD").toLowerCase().normalize("NFKD")].filter((part) => COUNTS.test(part))
    parts.forEach((letter, index) => {
      letters.push({ letter, from, to, last: index === parts.length - 1 })
    })
    from = to
  }
  return letters
}

const UNSPACED =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]$/u

/** Whether a place is inside a word; where a script does not part its words, whether it is inside a character and its marks. */
export const insideWord = (before: string, after: string): boolean => {
  if (/^\p{M}$/u.test(after)) return COUNTS.test(before)
  return COUNTS.test(before) && COUNTS.test(after) && !UNSPACED.test(before) && !UNSPACED.test(after)
}
