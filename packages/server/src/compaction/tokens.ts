import type { Part } from "@harness/protocol"
import { isReadable } from "../providers/prompt.ts"

/** ASCII characters of one token, roughly; any other character may be a token of its own. */
const CHARACTERS_PER_TOKEN = 4
/** A picture costs about this many tokens, whatever its bytes. */
const IMAGE_TOKENS = 1_000
/** What a call has beside its arguments, and any other part beside its text. */
const CALL_TOKENS = 8
const PART_TOKENS = 4

/** Roughly how many tokens a text is, and rather too many than too few. */
export const tokensOfText = (text: string): number => {
  let wide = 0
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) wide++
  return wide + Math.ceil((text.length - wide) / CHARACTERS_PER_TOKEN)
}

const tokensOfPart = (part: Part): number => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return tokensOfText(part.text) + PART_TOKENS
    case "redacted_reasoning":
      return tokensOfText(part.data) + PART_TOKENS
    case "call":
      return tokensOfText(part.name) + tokensOfText(JSON.stringify(part.arguments) ?? "") + CALL_TOKENS
    case "result":
      return tokensOf(part) + PART_TOKENS
    case "image":
      return IMAGE_TOKENS
    case "file":
      // A text file is read to the model: three of its bytes are four characters of base64, and may be one token.
      return isReadable(part.mime) ? tokensOfText(part.name) + Math.ceil(part.data.length / 4) : IMAGE_TOKENS
  }
}

/** Roughly how many tokens an entry or a message costs. */
export const tokensOf = ({ content }: { readonly content: ReadonlyArray<Part> }): number =>
  content.reduce((sum, part) => sum + tokensOfPart(part), 0)

export const totalTokens = (entries: ReadonlyArray<{ readonly content: ReadonlyArray<Part> }>): number =>
  entries.reduce((sum, entry) => sum + tokensOf(entry), 0)

/** Left free beside the answer: counting is only rough. */
const RESERVE_TOKENS = 512
/** An answer is left this much room when nobody says how long it may be. */
const ANSWER_TOKENS = 4_096

/**
 * How many tokens a request may have: the window without the longest answer and a reserve. Undefined when nobody knows the
 * window.
 */
export const roomOf = (model: {
  readonly contextWindow?: number
  readonly maxOutputTokens?: number
}): number | undefined => {
  const { contextWindow, maxOutputTokens } = model
  if (contextWindow === undefined) return undefined
  const answer =
    maxOutputTokens === undefined
      ? Math.min(ANSWER_TOKENS, Math.floor(contextWindow / 4))
      : Math.min(maxOutputTokens, Math.floor(contextWindow / 2))
  return contextWindow - answer - Math.min(RESERVE_TOKENS, Math.floor(contextWindow / 16))
}
