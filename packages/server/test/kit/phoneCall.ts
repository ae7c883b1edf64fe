import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Harness } from "./harness.ts"
import { isDone, openLine, saidIn } from "./line.ts"
import type { Step } from "./scriptedModel.ts"
import { wire } from "./wire.ts"

/** Writes an agent that answers the telephone; `voice` are lines of its settings. */
export const writeAgent = (root: string, name: string, voice: ReadonlyArray<string> = [], more = ""): void => {
  mkdirSync(join(root, ".harness/agents"), { recursive: true })
  const settings = ["filler: []", ...voice].map((line) => `  ${line}`).join("\n")
  writeFileSync(
    join(root, `.harness/agents/${name}.md`),
    `---\ndescription: Answers the telephone.\n${more}voice:\n${settings}\n---\nYou answer calls.\n`
  )
}

/** A message of a request, as the provider sees it. */
export interface Message {
  readonly role: string
  readonly content: unknown
}

export const messagesOf = (body: unknown): ReadonlyArray<Message> =>
  (body as { messages: ReadonlyArray<Message> }).messages

export const sayWords = (...texts: ReadonlyArray<string>): ReadonlyArray<Step> => [
  ...texts.map((text) => ({ type: "text" as const, text })),
  { type: "finish", reason: "stop" }
]

export const callTool = (name: string, args: object = {}): ReadonlyArray<Step> => [
  { type: "toolCall", id: "t", name, arguments: JSON.stringify(args) },
  { type: "finish", reason: "tool_calls" }
]

/** A call that has begun, seen from the other side. */
export const beginPhoneCall = async (
  server: Harness,
  call_sid: string,
  options: { readonly agent?: string; readonly start?: object } = {}
) => {
  const line = await openLine(server, options.agent === undefined ? {} : { query: `?agent=${options.agent}` })
  line.say({ type: "session:start", call_sid, protocol: 1, direction: "inbound", tools: [], ...options.start })
  let turn = 0
  const api = wire(server)
  const session = `/sessions/call-${call_sid}`
  return {
    line,
    api,
    session,
    /** The caller says something; answers its turn's number. */
    speak: (text: string) => {
      turn++
      line.say({ type: "turn:start", call_sid, turn_id: turn, input: { type: "speech", text } })
      return turn
    },
    /** The next reply that is done, with all it said. */
    answer: async () => {
      const done = await line.hear(isDone)
      return { ...done, said: saidIn(line.frames, done.reply_id).trim() }
    },
    event: (name: string, fields: object) => line.say({ type: "event", call_sid, name, ...fields }),
    /** What the history says was spoken, entry by entry. */
    spokenHistory: async (): Promise<ReadonlyArray<string>> => {
      const { body } = await api.get(`${session}/history`)
      return body.entries
        .filter(({ role }: { role: string }) => role === "assistant")
        .flatMap(({ content }: { content: ReadonlyArray<{ text?: string }> }) => content)
        .flatMap(({ text }: { text?: string }) => (text === undefined ? [] : [text]))
    }
  }
}
