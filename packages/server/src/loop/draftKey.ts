import { createHash } from "node:crypto"
import type { GenerateRequest, ModelMessage, ResolvedModel } from "../providers/Model.ts"
import { promptOf, type TurnRow } from "../turns/TurnsRepo.ts"
import { folded } from "../voice/folded.ts"

/** What a turn's prompt says, where it says nothing but one text. */
export const wordsOf = (turn: TurnRow): string | undefined => {
  const [part, ...more] = promptOf(turn).content
  return part?.type === "text" && more.length === 0 ? part.text : undefined
}

/** The messages with the prompt's words folded; all else stays as it is. */
const withFolded = (messages: ReadonlyArray<ModelMessage>, words: string | undefined): ReadonlyArray<ModelMessage> => {
  const at = messages.findLastIndex(
    ({ content, role }) =>
      role === "user" && content.length === 1 && content[0]?.type === "text" && content[0].text === words
  )
  if (at < 0 || words === undefined) return messages
  return messages.with(at, { role: "user", content: [{ type: "text", text: folded(words) }] })
}

/**
 * What two requests have in common that the same answer would do for: who is asked, and everything it is asked with, the
 * prompt's words folded. Whatever was heard, added, configured or said by a hook meanwhile makes another key.
 */
export const draftKey = (
  turn: TurnRow,
  model: ResolvedModel,
  language: string | undefined,
  request: GenerateRequest
): string =>
  createHash("sha256")
    .update(
      JSON.stringify([
        model.name,
        language ?? null,
        { ...request, messages: withFolded(request.messages, wordsOf(turn)) }
      ])
    )
    .digest("base64url")
