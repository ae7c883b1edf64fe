import type { IncomingMessage, ServerResponse } from "node:http"
import { setImmediate as breath, setTimeout as sleep } from "node:timers/promises"
import { now } from "../measure.ts"
import { markOf, type Wish } from "../wish.ts"
import { serve } from "./child.ts"

interface Message {
  readonly role: string
  readonly content: string | ReadonlyArray<{ readonly text?: string }>
}

interface Asked extends Wish {
  /** The call has been made. */
  readonly called: boolean
}

const wishOf = (body: string): Asked => {
  const { messages }: { messages: ReadonlyArray<Message> } = JSON.parse(body)
  const content = messages.findLast(({ role }) => role === "user")?.content ?? ""
  const wish: Wish = JSON.parse(typeof content === "string" ? content : (content[0]?.text ?? ""))
  return { ...wish, called: messages.at(-1)?.role === "tool" }
}

const chunk = (choices: ReadonlyArray<unknown>, usage?: object): string =>
  `data: ${JSON.stringify({ id: "bench", object: "chat.completion.chunk", created: 0, model: "bench", choices, usage })}\n\n`

const delta = (content: string, reason: string | null = null): string =>
  chunk([{ index: 0, delta: reason === null ? { role: "assistant", content } : {}, finish_reason: reason }])

const callChunks = ({ name, arguments: args }: NonNullable<Wish["call"]>): string => {
  const call = { index: 0, id: "call_0", type: "function", function: { name, arguments: JSON.stringify(args) } }
  return (
    chunk([{ index: 0, delta: { role: "assistant", tool_calls: [call] }, finish_reason: null }]) +
    chunk([{ index: 0, delta: {}, finish_reason: "tool_calls" }])
  )
}

const play = async (response: ServerResponse, wish: Asked) => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  response.flushHeaders()
  if (wish.hold === true) return
  if (wish.firstMillis !== undefined) await sleep(wish.firstMillis)
  if (wish.call !== undefined && !wish.called) {
    response.write(callChunks(wish.call))
    response.end("data: [DONE]\n\n")
    return
  }
  for (let index = 0; index < wish.deltas; index++) {
    if (index > 0) await (wish.gapMillis === undefined ? breath() : sleep(wish.gapMillis))
    const end = wish.mark !== undefined && index === wish.deltas - 1 ? markOf(wish.mark) : ""
    response.write(delta(wish.stamp === true ? `${now().toFixed(3)} ` : `word${index % 10} ${end}`))
  }
  response.write(delta("", "stop"))
  response.write(chunk([], { prompt_tokens: 10, completion_tokens: wish.deltas, total_tokens: 10 + wish.deltas }))
  response.end("data: [DONE]\n\n")
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let body = ""
  for await (const part of request.setEncoding("utf8")) body += part
  return body
}

/** A model that speaks Chat Completions and does what its prompt wishes. */
serve((request, response) => {
  bodyOf(request)
    .then((body) => play(response, wishOf(body)))
    .catch((error) => response.writeHead(400).end(String(error)))
})
