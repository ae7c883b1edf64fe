import { isIdeographic, isSpace } from "./markup/characters.ts"

/** Characters a voice speaks in a second, its pauses included: a fair middle of today's voices at their usual pace. */
const PER_SECOND = { alphabet: 15, ideograph: 6, hangul: 6, digit: 5 } as const

const DIGIT = /^\p{Nd}$/u
const HANGUL = /^\p{Script=Hangul}$/u
const MARK = /^\p{M}$/u

const millisOf = (character: string): number => {
  if (MARK.test(character)) return 0
  if (DIGIT.test(character)) return 1_000 / PER_SECOND.digit
  if (HANGUL.test(character)) return 1_000 / PER_SECOND.hangul
  if (isIdeographic(character)) return 1_000 / PER_SECOND.ideograph
  return 1_000 / PER_SECOND.alphabet
}

const sum = (text: string): number => {
  let millis = 0
  for (const character of text) millis += millisOf(character)
  return millis
}

/** How long a text takes to say, in whole milliseconds. An estimate, for voices that do not tell. */
export const speakingMillis = (text: string): number => Math.round(sum(text.trim()))

const words = new Intl.Segmenter("en", { granularity: "word" })

/** A voice begins to speak about so long after its text came. */
export const VOICE_BEGINS_MILLIS = 700

/** What of a text a voice has said after so many milliseconds, up to the end of a word and its punctuation. An estimate. */
export const spokenAfter = (text: string, millis: number): string => {
  if (millis >= speakingMillis(text)) return text
  const lead = text.length - text.trimStart().length
  let end = 0
  let said = 0
  // Punctuation belongs to the word before it: a place counts when a gap or another word follows.
  for (const { index, isWordLike, segment } of words.segment(text)) {
    const begins = isWordLike === true || isSpace(segment.slice(0, 1))
    if (begins && index > lead && Math.round(said) <= millis) end = index
    if (index >= lead) said += sum(segment)
    if (Math.round(said) > millis) break
  }
  return text.slice(0, end).trimEnd()
}
