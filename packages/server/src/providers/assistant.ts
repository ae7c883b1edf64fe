import type {
  LanguageModelV3ReasoningPart,
  LanguageModelV3TextPart,
  LanguageModelV3ToolCallPart
} from "@ai-sdk/provider"
import type { Part } from "@harness/protocol"
import { Predicate } from "effect"
import type { Family } from "./facts.ts"
import { isBlank, wellFormed, wellFormedJson } from "./text.ts"

type AssistantPart = LanguageModelV3TextPart | LanguageModelV3ReasoningPart | LanguageModelV3ToolCallPart

/** A name every provider takes, also for tools a model made up. */
export const toolName = (name: string): string => {
  const safe = name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64)
  return safe === "" ? "_" : safe
}

/** Arguments are an object for every provider; what a model wrote instead is kept inside one. */
const inputOf = (value: unknown): unknown =>
  Predicate.isRecord(value) ? wellFormedJson(value) : value === undefined ? {} : { unreadable: wellFormedJson(value) }

type Reasoning = Extract<Part, { type: "reasoning" }>

/**
 * Reasoning as its own provider wants it back, or nothing. Chat Completions has no signatures; servers that reason
 * want the text back while the turn goes on.
 */
const reasoningPart = (part: Reasoning, family: Family, inTurn: boolean): LanguageModelV3ReasoningPart | undefined => {
  const { signature } = part
  const base = { type: "reasoning", text: wellFormed(part.text) } as const
  if (family === "chat") return inTurn && base.text !== "" ? base : undefined
  if (signature === undefined) return undefined
  switch (family) {
    case "anthropic":
      return { ...base, providerOptions: { anthropic: { signature } } }
    case "responses":
      return { ...base, providerOptions: { openai: { reasoningEncryptedContent: signature } } }
    case "google":
      return base.text === "" ? undefined : { ...base, providerOptions: { google: { thoughtSignature: signature } } }
  }
}

/** A signature without text: Google's, of the call that follows. */
const carried = (part: Reasoning, family: Family): string | undefined =>
  part.text === "" && (family === "google" || family === "chat") ? part.signature : undefined

/** What an assistant message said, without empty text, and never ending in reasoning. */
export const assistantParts = (content: ReadonlyArray<Part>, family: Family, inTurn: boolean): Array<AssistantPart> => {
  const parts: Array<AssistantPart> = []
  let signature: string | undefined
  for (const part of content) {
    if (part.type === "text" && !isBlank(part.text)) parts.push({ type: "text", text: wellFormed(part.text) })
    if (part.type === "reasoning") {
      signature = carried(part, family)
      const reasoning = signature === undefined ? reasoningPart(part, family, inTurn) : undefined
      if (reasoning !== undefined) parts.push(reasoning)
    }
    if (part.type === "redacted_reasoning" && family === "anthropic") {
      parts.push({ type: "reasoning", text: "", providerOptions: { anthropic: { redactedData: part.data } } })
    }
    if (part.type === "call") {
      parts.push({
        type: "tool-call",
        toolCallId: part.callId,
        toolName: toolName(part.name),
        input: inputOf(part.arguments),
        ...(signature === undefined ? {} : { providerOptions: { google: { thoughtSignature: signature } } })
      })
      signature = undefined
    }
  }
  while (parts.at(-1)?.type === "reasoning") parts.pop()
  return parts
}
