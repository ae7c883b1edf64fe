import type { Part, PromptPart } from "@harness/protocol"
import type { StoredEntry } from "../history/HistoryRepo.ts"
import { CONTINUE_NUDGE, type ModelMessage } from "../providers/Model.ts"

type CallPart = Extract<Part, { readonly type: "call" }>
type ResultPart = Extract<Part, { readonly type: "result" }>

const lost: ReadonlyArray<PromptPart> = [{ type: "text", text: "No result of this call was recorded." }]

const isPrompt = (part: Part): part is PromptPart =>
  part.type === "text" || part.type === "image" || part.type === "file"

/** What a model can be shown: no empty text, and reasoning only to the provider that signed it. */
const shownTo = (provider: string, entry: StoredEntry): ReadonlyArray<Part> =>
  entry.content.filter((part) => {
    if (part.type === "text") return part.text !== ""
    if (part.type === "reasoning" || part.type === "redacted_reasoning") return entry.provider === provider
    return true
  })

const SUMMARY = "What was said before, as a summary:"

const userMessage = (entry: StoredEntry): ReadonlyArray<ModelMessage> => {
  const content = entry.content.filter(isPrompt).filter((part) => part.type !== "text" || part.text !== "")
  if (content.length === 0) return []
  const lead: ReadonlyArray<PromptPart> = entry.role === "system" ? [{ type: "text", text: SUMMARY }] : []
  return [{ role: "user", content: [...lead, ...content] }]
}

/**
 * A history as a request that every provider takes: each call is followed directly by its one result, nothing is orphaned,
 * nothing is empty. A call whose result is missing gets one that says so.
 */
export const toMessages = (
  entries: ReadonlyArray<StoredEntry>,
  provider: string,
  modelName: (fullName: string) => string = (name) => name
): ReadonlyArray<ModelMessage> => {
  const results = new Map<string, ResultPart>()
  for (const entry of entries) {
    for (const part of entry.content) if (part.type === "result") results.set(part.callId, part)
  }
  return entries.flatMap((entry): ReadonlyArray<ModelMessage> => {
    if (entry.role === "tool") return []
    if (entry.role !== "assistant") return userMessage(entry)
    const content = shownTo(provider, entry).map((part) =>
      part.type === "call" ? { ...part, name: modelName(part.name) } : part
    )
    if (!content.some((part) => part.type === "call" || part.type === "text")) return []
    const calls = content.filter((part): part is CallPart => part.type === "call")
    const answers = calls.map(({ callId, name }): ModelMessage => {
      const result = results.get(callId)
      return { role: "tool", callId, name, content: result?.content ?? lost, isError: result?.isError ?? true }
    })
    return [{ role: "assistant", content }, ...answers]
  })
}

/** Asks the model to go on from an answer that was cut off; without one, just to answer. */
export const withPartial = (messages: ReadonlyArray<ModelMessage>, partial: string): ReadonlyArray<ModelMessage> =>
  partial.trim() === ""
    ? messages
    : [
        ...messages,
        { role: "assistant", content: [{ type: "text", text: partial }] },
        { role: "user", content: [{ type: "text", text: CONTINUE_NUDGE }] }
      ]

const MODE_PROMPTS = {
  agent: [],
  plan: ["You may only read. Work out what you would do, and answer with a plan."],
  ask: ["You may only read. Answer in a few sentences."]
}

/** The system message: the turn's own prompt, else the session's, else the agent's; then what the mode adds. */
export const systemPrompt = (options: {
  readonly agent: string
  readonly turn: string | undefined
  readonly session: string
  readonly mode: keyof typeof MODE_PROMPTS
  readonly instructions: ReadonlyArray<string>
}): string => {
  const own = options.turn ?? (options.session === "" ? options.agent : options.session)
  return [own, ...MODE_PROMPTS[options.mode], ...options.instructions].join("\n\n")
}
