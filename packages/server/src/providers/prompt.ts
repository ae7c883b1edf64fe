import type {
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3TextPart,
  LanguageModelV3ToolResultPart
} from "@ai-sdk/provider"
import type { PromptPart } from "@harness/protocol"
import { assistantParts, toolName } from "./assistant.ts"
import type { Family, ModelFacts } from "./facts.ts"
import type { GenerateRequest, ModelMessage } from "./Model.ts"
import { isBlank, wellFormed } from "./text.ts"

/** Whom a prompt is for. */
export interface Target {
  readonly family: Family
  readonly facts: ModelFacts
}

const readable = /^(text\/|application\/(json|xml|yaml|x-yaml|toml|javascript|typescript|sql|x-sh)\b|.*\+(json|xml)$)/i

/** Whether a file is text, which any model is read to. */
export const isReadable = (mime: string): boolean => readable.test(mime)

const text = (value: string): LanguageModelV3TextPart => ({ type: "text", text: wellFormed(value) })

const left = (what: string): LanguageModelV3TextPart => text(`[${what} left out: this model does not take it]`)

/** A part as this model takes it: text files become text, what it cannot take becomes a note. */
const promptPart = (part: PromptPart, { facts }: Target): LanguageModelV3TextPart | LanguageModelV3FilePart => {
  switch (part.type) {
    case "text":
      return text(part.text)
    case "image":
      return facts.takesImages ? { type: "file", mediaType: part.mime, data: part.data } : left(`image ${part.mime}`)
    case "file": {
      const name = wellFormed(part.name)
      if (isReadable(part.mime)) {
        return text(
          `<file name=${JSON.stringify(name)}>\n${Buffer.from(part.data, "base64").toString("utf8")}\n</file>`
        )
      }
      const takes = part.mime.startsWith("image/")
        ? facts.takesImages
        : part.mime === "application/pdf" && facts.takesPdf
      return takes
        ? { type: "file", mediaType: part.mime, data: part.data, filename: name }
        : left(`file ${JSON.stringify(name)} ${part.mime}`)
    }
  }
}

const promptParts = (content: ReadonlyArray<PromptPart>, target: Target) =>
  content.map((part) => promptPart(part, target)).filter((part) => part.type !== "text" || !isBlank(part.text))

type ToolMessage = Extract<ModelMessage, { role: "tool" }>

interface Result {
  readonly part: LanguageModelV3ToolResultPart
  /** Images for families whose tool results are text only. */
  readonly after: ReadonlyArray<LanguageModelV3TextPart | LanguageModelV3FilePart>
}

const resultOf = (message: ToolMessage, target: Target): Result => {
  const parts = promptParts(message.content, target)
  const said = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
  const files = parts.filter((part) => part.type === "file")
  const answer = said !== "" ? said : files.length > 0 ? "(see the attachment)" : "(no output)"
  const name = toolName(message.name)
  const base = { type: "tool-result", toolCallId: message.callId, toolName: name } as const
  if (files.length === 0 || target.family === "chat") {
    return {
      part: { ...base, output: { type: message.isError ? "error-text" : "text", value: answer } },
      after: files.length === 0 ? [] : [text(`[attached by the tool ${name}]`), ...files]
    }
  }
  const attached = files.map(({ data, mediaType }) => ({
    type: mediaType.startsWith("image/") ? ("image-data" as const) : ("file-data" as const),
    data: typeof data === "string" ? data : "",
    mediaType
  }))
  const first = { type: "text", text: message.isError ? `The tool failed: ${answer}` : answer } as const
  return { part: { ...base, output: { type: "content", value: [first, ...attached] } }, after: [] }
}

const jsonWish = "Answer with one JSON value and nothing else: no prose, no code fence."

/** Without a schema some providers have no native JSON, and others want the word in the prompt. */
const systemText = (request: GenerateRequest, target: Target): string =>
  request.output !== undefined && request.output.schema === undefined && target.family !== "google"
    ? [request.system, jsonWish].filter((part) => part !== "").join("\n\n")
    : request.system

const needsUserFirst = (family: Family): boolean => family === "anthropic" || family === "google"

/** The conversation as a provider package takes it: nothing empty, results in one message behind their calls. */
export const toPrompt = (request: GenerateRequest, target: Target): LanguageModelV3Prompt => {
  const system = wellFormed(systemText(request, target))
  const prompt: Array<LanguageModelV3Message> = system === "" ? [] : [{ role: "system", content: system }]
  const lastUser = request.messages.findLastIndex((message) => message.role === "user")
  let results: Array<Result> = []
  const flush = () => {
    if (results.length === 0) return
    prompt.push({ role: "tool", content: results.map((result) => result.part) })
    const after = results.flatMap((result) => result.after)
    if (after.length > 0) prompt.push({ role: "user", content: after })
    results = []
  }
  request.messages.forEach((message, index) => {
    if (message.role === "tool") {
      results.push(resultOf(message, target))
      return
    }
    flush()
    if (message.role === "user") {
      const content = promptParts(message.content, target)
      if (content.length > 0) prompt.push({ role: "user", content })
      return
    }
    const content = assistantParts(message.content, target.family, index > lastUser)
    if (content.length === 0) return
    const isFirst = prompt.every(({ role }) => role === "system")
    if (isFirst && needsUserFirst(target.family)) prompt.push({ role: "user", content: [text("(no message)")] })
    prompt.push({ role: "assistant", content })
  })
  flush()
  return prompt
}
