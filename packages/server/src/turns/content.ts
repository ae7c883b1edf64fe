import type { Content, PromptPart } from "@harness/protocol"

/** Content in its long form. */
export const toParts = (content: Content): ReadonlyArray<PromptPart> =>
  typeof content === "string" ? [{ type: "text", text: content }] : content
