const WORD = 1
const OTHER = 2
/** A letter that an address may begin with. */
const BEGINS = 3
const DIGIT = 4

const kinds = new Uint8Array(128)
const are = (characters: string, kind: number) => {
  for (let at = 0; at < characters.length; at++) kinds[characters.charCodeAt(at)] = kind
}
are("abcdegijklmnopqrstuvxyzABCDEGIJKLMNOPQRSTUVXYZ", WORD)
are("hwfHWF", BEGINS)
are("0123456789", DIGIT)
are(" .,;:'\"()?$%+-/=@{}]>^", OTHER)

/** By its code unit; 0 for every other. */
const kindOf = (unit: number): number => kinds[unit] ?? 0

/**
 * Whether a character of ASCII is text, whatever stands around it: no mark, no part of a picture, no beginning of an address.
 * `NaN` stands for no code unit. It holds within a line, where no bracket's end is awaited.
 */
export const isPlain = (before: number, unit: number, next: number): boolean => {
  switch (kindOf(unit)) {
    case WORD:
    case OTHER:
      return true
    // No address begins within a word; a digit and what comes after it may be one picture.
    case BEGINS: {
      const kind = kindOf(before)
      return kind === WORD || kind === BEGINS || kind === DIGIT
    }
    case DIGIT:
      return next < 128
    default:
      return false
  }
}
