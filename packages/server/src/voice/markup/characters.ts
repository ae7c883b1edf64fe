/** The whole character at a place, or half a pair where it is cut. */
export const characterAt = (text: string, at: number): string => {
  const point = text.codePointAt(at)
  return point === undefined ? "" : String.fromCodePoint(point)
}

/** The whole character that ends before a place. */
export const characterBefore = (text: string, at: number): string => {
  const pair = text.slice(Math.max(0, at - 2), at)
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(pair) ? pair : pair.slice(-1)
}

const SPACE = /^\s$/
const WORD = /^[\p{L}\p{N}\p{M}]$/u
const WESTERN = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Nd}]$/u
const UNSPACED =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\u3000-\u303F\uFF00-\uFFEF]$/u
const IDEOGRAPHIC = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]$/u

/** White space, or the edge of the text. */
export const isGap = (character: string): boolean => character === "" || SPACE.test(character)
export const isSpace = (character: string): boolean => SPACE.test(character)
export const isDigit = (character: string): boolean => /^[0-9]$/.test(character)
/** Part of a word in any script. */
export const isWord = (character: string): boolean => WORD.test(character)
/** Part of a word in a script that parts words by spaces, where a mark inside a word is part of it. */
export const isWestern = (character: string): boolean => WESTERN.test(character)
/** Of a script, or with a punctuation, that no address is written in. */
export const isUnspaced = (character: string): boolean => UNSPACED.test(character)
/** Its sentences end in an ideographic full stop. */
export const isIdeographic = (character: string): boolean => IDEOGRAPHIC.test(character)

// Of the pictographs these are words of their own.
const SPOKEN_SIGNS = /^[©®™‼⁉]$/u
const PICTOGRAPH =
  /^[\p{Extended_Pictographic}\p{Emoji_Presentation}\p{Emoji_Modifier}\p{Regional_Indicator}\u{E0020}-\u{E007F}\u25A0-\u266C\u2670-\u26FF\u2701-\u275A\u2761-\u2775\u2794-\u27BF]$/u
const JOINTS = /^[\uFE00-\uFE0F\u20E3]$/
const UNHEARD = /^[\p{Cc}\u200B\u2060\uFEFF\u00AD\p{Surrogate}]$/u

/** Emoji and other pictures, with each part a picture may be made of but the joiner. */
export const isPicture = (character: string): boolean => PICTOGRAPH.test(character) && !SPOKEN_SIGNS.test(character)
/** What only says how the character before it looks. */
export const isJoint = (character: string): boolean => JOINTS.test(character)
/** Control characters, and what has no width. */
export const isUnheard = (character: string): boolean => UNHEARD.test(character) && !SPACE.test(character)
