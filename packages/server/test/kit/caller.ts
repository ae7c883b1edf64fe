import type { Harness } from "./harness.ts"
import { isDone, type Line, openLine, saidIn } from "./line.ts"
import { type ScriptedModel, type ScriptedRequest, type Step, says } from "./scriptedModel.ts"
import { wire } from "./wire.ts"

/** A message as the scripted model reads it. */
export interface Message {
  readonly role: string
  readonly content: unknown
}

export const messagesOf = ({ body }: Pick<ScriptedRequest, "body">): ReadonlyArray<Message> =>
  (body as { messages: ReadonlyArray<Message> }).messages

export const textOf = ({ content }: Message): string => {
  if (typeof content === "string") return content
  return Array.isArray(content) ? content.map((part) => part?.text ?? "").join("") : ""
}

/** What the caller said last, as the model reads it. */
export const wordsIn = (request: Pick<ScriptedRequest, "body">): string =>
  textOf(messagesOf(request).findLast(({ role }) => role === "user") ?? { role: "", content: "" })

/** A model that answers each text as it was told to; several answers to one text in order, the last again and again. */
export const answering = (model: ScriptedModel) => {
  const answers = new Map<string, Array<ReadonlyArray<Step>>>()
  model.script((request) => {
    const words = wordsIn(request)
    const known = answers.get(words)
    return (known !== undefined && known.length > 1 ? known.shift() : known?.[0]) ?? says(`You said: ${words}`)
  })
  return {
    on: (words: string, ...steps: ReadonlyArray<ReadonlyArray<Step>>) => void answers.set(words, [...steps]),
    /** Requests that ask for an answer to these words. */
    asked: (words: string): ReadonlyArray<ScriptedRequest> =>
      model.requests.filter((request) => wordsIn(request) === words),
    /** The n-th request for these words, waiting for it. */
    ask: async (words: string, n = 0): Promise<ScriptedRequest> => {
      for (let index = 0, found = 0; ; index++) {
        const request = await model.request(index)
        if (wordsIn(request) === words && found++ === n) return request
      }
    }
  }
}

const tools = [
  {
    type: "function",
    function: { name: "get_hours", description: "Opening hours", parameters: { type: "object", properties: {} } }
  }
]

/** A call as the other side of it makes it, frame by frame. */
export const callTo = async (server: Harness, call_sid: string, agent: string, start: object = {}) => {
  const line: Line = await openLine(server, { query: `?agent=${agent}` })
  const api = wire(server)
  const session = `/sessions/call-${call_sid}`
  line.say({ type: "session:start", call_sid, protocol: 1, direction: "inbound", language: "en-US", tools, ...start })
  return {
    line,
    session,
    turn: (n: number) => api.get(`${session}/turns/call-${call_sid}-${n}`),
    history: async (): Promise<ReadonlyArray<Message>> => (await api.get(`${session}/history`)).body.entries,
    speaks: (turn_id: number) => line.say({ type: "speech:start", call_sid, turn_id }),
    hears: (turn_id: number, text: string, final = true) =>
      line.say({ type: "transcript", call_sid, turn_id, text, final }),
    commits: (turn_id: number, text: string, more: object = {}) =>
      line.say({
        type: "turn:start",
        call_sid,
        turn_id,
        input: { type: "speech", text, language: "en-US", ...more }
      }),
    cancels: (turn_id: number, reason = "barge_in") => line.say({ type: "turn:cancel", call_sid, turn_id, reason }),
    ends: () => line.say({ type: "session:end", call_sid, reason: "caller_hangup", duration_ms: 1 }),
    event: (name: string, fields: object) => line.say({ type: "event", name, call_sid, ...fields }),
    result: (call_id: string, result: unknown) => line.say({ type: "tool:result", call_sid, call_id, result }),
    /** The next reply to its end. */
    reply: async () => {
      const done = await line.hear(isDone)
      return { ...done, said: saidIn(line.frames, done.reply_id).trim() }
    }
  }
}
