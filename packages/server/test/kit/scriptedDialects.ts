import type { Framing, Step } from "./scriptedSteps.ts"

/** The API a request was made to. */
export type Dialect = "chat" | "responses" | "anthropic" | "google"

export const dialectOf = (path: string): Dialect => {
  if (path.includes(":streamGenerateContent")) return "google"
  if (path.endsWith("/messages")) return "anthropic"
  return path.endsWith("/responses") ? "responses" : "chat"
}

/** What has an encoding: the rest of the steps are acts of the connection. */
export type Spoken =
  | Extract<Step, { type: "text" | "reasoning" | "refusal" | "toolCall" | "usage" | "finish" | "event" }>
  | { readonly type: "done" }

/** One server-sent event, framed. */
const frame = (data: string, framing: Framing, event?: string): Uint8Array => {
  const eol = framing.eol ?? "\n"
  const prefix = framing.noSpace === true ? "data:" : "data: "
  const lines = [
    ...(framing.comments === true ? [": a comment"] : []),
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...data.split("\n").map((line) => prefix + line)
  ]
  return Buffer.from(lines.map((line) => line + eol).join("") + eol, "utf8")
}

const json = (value: unknown, framing: Framing): string =>
  framing.multiLine === true ? JSON.stringify(value, null, 1) : JSON.stringify(value)

const chatChunk = (choice: unknown, rest: object = {}) => ({
  id: "chatcmpl-scripted",
  object: "chat.completion.chunk",
  created: 1_700_000_000,
  model: "scripted",
  choices: choice === undefined ? [] : [choice],
  ...rest
})

const chatDelta = (delta: unknown) => chatChunk({ index: 0, delta, finish_reason: null })

const pieces = (args: string | ReadonlyArray<string>): ReadonlyArray<string> =>
  typeof args === "string" ? [args] : args

const counter = () => {
  let next = 0
  return () => next++
}

const chat = (step: Spoken, index: () => number): ReadonlyArray<unknown> => {
  switch (step.type) {
    case "text":
      return [chatDelta({ role: "assistant", content: step.text })]
    case "reasoning":
      return [chatDelta({ reasoning_content: step.text })]
    case "refusal":
      return [chatDelta({ refusal: step.text })]
    case "toolCall": {
      const at = step.index ?? index()
      const [first = "", ...rest] = pieces(step.arguments)
      const start = { index: at, id: step.id, type: "function", function: { name: step.name, arguments: first } }
      return [
        chatDelta({ tool_calls: [start] }),
        ...rest.map((piece) => chatDelta({ tool_calls: [{ index: at, function: { arguments: piece } }] }))
      ]
    }
    case "usage":
      return [chatChunk(undefined, { usage: step.usage })]
    case "finish":
      return [chatChunk({ index: 0, delta: {}, finish_reason: step.reason })]
    case "event":
      return [step.data]
    case "done":
      return []
  }
}

const anthropicBlock = (at: number, start: unknown, deltas: ReadonlyArray<unknown>) => [
  { type: "content_block_start", index: at, content_block: start },
  ...deltas.map((delta) => ({ type: "content_block_delta", index: at, delta })),
  { type: "content_block_stop", index: at }
]

const anthropic = (step: Spoken, index: () => number): ReadonlyArray<unknown> => {
  switch (step.type) {
    case "text":
      return anthropicBlock(index(), { type: "text", text: "" }, [{ type: "text_delta", text: step.text }])
    case "reasoning":
      return anthropicBlock(index(), { type: "thinking", thinking: "" }, [
        { type: "thinking_delta", thinking: step.text },
        ...(step.signature === undefined ? [] : [{ type: "signature_delta", signature: step.signature }])
      ])
    case "toolCall":
      return anthropicBlock(
        index(),
        { type: "tool_use", id: step.id, name: step.name, input: {} },
        pieces(step.arguments).map((piece) => ({ type: "input_json_delta", partial_json: piece }))
      )
    case "usage": {
      const message = { id: "msg_scripted", type: "message", role: "assistant", model: "scripted", content: [] }
      return [{ type: "message_start", message: { ...message, usage: step.usage } }]
    }
    case "finish":
      return [
        {
          type: "message_delta",
          delta: { stop_reason: step.reason, stop_sequence: null },
          usage: { output_tokens: 7 }
        },
        { type: "message_stop" }
      ]
    case "event":
      return [step.data]
    default:
      return []
  }
}

const googlePart = (part: unknown) => ({ candidates: [{ content: { role: "model", parts: [part] } }] })

const google = (step: Spoken): ReadonlyArray<unknown> => {
  switch (step.type) {
    case "text":
      return [googlePart({ text: step.text })]
    case "reasoning":
      return [
        googlePart({
          text: step.text,
          thought: true,
          ...(step.signature === undefined ? {} : { thoughtSignature: step.signature })
        })
      ]
    case "toolCall":
      return [
        googlePart({
          functionCall: { id: step.id, name: step.name, args: JSON.parse(pieces(step.arguments).join("")) }
        })
      ]
    case "usage":
      return [{ usageMetadata: step.usage }]
    case "finish":
      return [{ candidates: [{ finishReason: step.reason }] }]
    case "event":
      return [step.data]
    default:
      return []
  }
}

const eventName = (dialect: Dialect, value: unknown): string | undefined =>
  dialect === "anthropic" && typeof value === "object" && value !== null && "type" in value
    ? String(value.type)
    : undefined

/** Encodes the steps of one answer, counting calls and blocks as it goes. */
export const makeEncoder = (dialect: Dialect) => {
  const index = counter()
  const values = (step: Spoken): ReadonlyArray<unknown> => {
    switch (dialect) {
      case "anthropic":
        return anthropic(step, index)
      case "google":
        return google(step)
      case "responses":
        return step.type === "event" ? [step.data] : []
      case "chat":
        return chat(step, index)
    }
  }
  return (step: Spoken, framing: Framing): ReadonlyArray<Uint8Array> => {
    if (step.type === "done") return dialect === "chat" ? [frame("[DONE]", framing)] : []
    return values(step).map((value) => frame(json(value, framing), framing, eventName(dialect, value)))
  }
}
