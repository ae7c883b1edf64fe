import { insideWord, type Letter, lettersOf } from "./letters.ts"
import { characterAt, characterBefore } from "./markup/characters.ts"

/** Between the steps of a reply, as they are spoken. */
const BETWEEN = " "

/** Where the last whole word ends, of a place that may be inside one: a place in the text. */
const wholeWords = (text: string, letters: ReadonlyArray<Letter>, heard: number): number => {
  for (let count = heard; count > 0; count--) {
    const letter = letters[count - 1]
    if (letter?.last === true && !insideWord(characterBefore(text, letter.to), characterAt(text, letter.to))) {
      return letter.to
    }
  }
  return 0
}

/** `place`, and what of the punctuation there was spoken too. */
const withPunctuation = (text: string, place: number, punctuation: string): number => {
  let end = place
  for (const mark of punctuation.replace(/\s/g, "")) {
    if (characterAt(text, end) !== mark) break
    end += mark.length
  }
  return end
}

/** How much of a text was spoken, up to the end of a word; nothing when what was spoken is not its beginning. */
const heardUntil = (text: string, spoken: string): number | undefined => {
  if (spoken.trim() === "") return 0
  const letters = lettersOf(text)
  const said = lettersOf(spoken)
  if (said.length > letters.length || said.some(({ letter }, index) => letter !== letters[index]?.letter)) {
    return undefined
  }
  if (said.length === letters.length) return text.length
  const place = wholeWords(text, letters, said.length)
  // A beginning of the first word alone says nothing of what was spoken.
  if (place === 0 && said.length > 0) return undefined
  const whole = letters[said.length - 1]?.to === place
  return whole || said.length === 0 ? withPunctuation(text, place, spoken.slice(said.at(-1)?.to ?? 0)) : place
}

/**
 * What of a reply's steps was heard. Steps that were heard stay whole, the one in which `spoken` ends is cut after its last
 * whole word, later ones are empty. Case, punctuation and spaces aside; where a script does not part its words, by
 * characters. Nothing when `spoken` is no beginning of the reply.
 */
export const alignSpoken = (pieces: ReadonlyArray<string>, spoken: string): ReadonlyArray<string> | undefined => {
  const until = heardUntil(pieces.join(BETWEEN), spoken)
  if (until === undefined) return undefined
  let from = 0
  return pieces.map((piece) => {
    const heard = piece.slice(0, Math.max(0, until - from))
    from += piece.length + BETWEEN.length
    // What is left of a step may be nothing that is heard.
    return heard !== "" && lettersOf(piece.slice(heard.length)).length === 0 ? piece : heard
  })
}

const CLAUSE_END =
  /[.!?;:,…—–]["'”’»)\]]*(?=\s)|[\u3001\u3002\uFF01\uFF0C\uFF1A\uFF1B\uFF1F\u060C\u061B\u061F\u06D4\u0964]["'”’»)\u300D\u300F\uFF09]*|\n/g

/**
 * What of a reply was not heard, from the beginning of the clause it was interrupted in; empty when all was. Nothing when
 * `spoken` is no beginning of the reply.
 */
export const remainderOf = (pieces: ReadonlyArray<string>, spoken: string): string | undefined => {
  const text = pieces.join(BETWEEN)
  const until = heardUntil(text, spoken)
  if (until === undefined) return undefined
  // The punctuation after the last word ends its clause, heard or not.
  const next = lettersOf(text.slice(until))[0]
  if (next === undefined) return ""
  const from = [...text.matchAll(CLAUSE_END)]
    .map(({ 0: end, index }) => index + end.length)
    .filter((end) => end <= until + next.from)
    .at(-1)
  return text.slice(from ?? 0).trim()
}
