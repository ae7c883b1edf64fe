import { afterAll, afterEach } from "vitest"
import type { folders, Harness } from "./harness.ts"
import { isChunk, isCommand, isDone, isToolCall, type Line, openLine, saidIn } from "./line.ts"
import { assertValidRequest, type ScriptedModel, type ScriptedRequest, type Step } from "./scriptedModel.ts"
import { wire } from "./wire.ts"

// biome-ignore lint/suspicious/noExplicitAny: tests look into frames the way the other side does, without our types
type Frame = any

/** One call, as its other side: raw frames, with the ids filled in. */
export interface OnCall extends Line {
  readonly sid: string
  /** The session's path on the wire. */
  readonly session: string
  /** Sends a message of this call. */
  readonly tell: (frame: { readonly type: string; readonly [field: string]: unknown }) => void
  readonly event: (name: string, fields?: object) => void
  /** The caller's next turn. */
  readonly speak: (turnId: number, text: string) => void
  readonly chunk: () => Promise<Frame>
  readonly done: () => Promise<Frame>
  readonly command: () => Promise<Frame>
  readonly toolCall: () => Promise<Frame>
  /** Everything told so far has been dealt with. */
  readonly dealtWith: () => Promise<void>
  /** The next reply that ends, whole: its frames' id, and its text. */
  readonly reply: () => Promise<{
    readonly replyId: string
    readonly turnId: number | undefined
    readonly text: string
  }>
  /** Says the call is over, and waits until the session knows. */
  readonly end: (reason?: string) => Promise<void>
  readonly history: () => Promise<ReadonlyArray<Frame>>
  readonly turns: () => Promise<ReadonlyArray<Frame>>
}

/** After each test of a file every request was valid; after the last one nothing of them is left. */
export const clearUp = (
  places: ReturnType<typeof folders>,
  of: () => { readonly server: Harness; readonly model: ScriptedModel }
): void => {
  afterEach(() => {
    for (const { body } of of().model.requests) assertValidRequest(body)
  })
  afterAll(async () => {
    await of().server.stop()
    await of().model.close()
    places.remove()
  })
}

let calls = 0
let fences = 0

/** Begins a call with an agent of the server. */
export const onCall = async (
  server: Harness,
  options: { readonly agent: string; readonly start?: object; readonly sid?: string }
): Promise<OnCall> => {
  const sid = options.sid ?? `c${++calls}-${options.agent}`
  const line = await openLine(server, { query: `?agent=${options.agent}` })
  const session = `/sessions/call-${sid}`
  const { get } = wire(server)
  const tell = (frame: { readonly type: string }) => line.say({ call_sid: sid, ...frame })
  tell({
    type: "session:start",
    ...{ protocol: 1, direction: "inbound", language: "en-US", tools: [] },
    ...options.start
  })
  return {
    ...line,
    sid,
    session,
    tell,
    event: (name, fields = {}) => tell({ type: "event", ...{ name, ...fields } }),
    speak: (turnId, text) =>
      tell({ type: "turn:start", ...{ turn_id: turnId, input: { type: "speech", text, language: "en-US" } } }),
    chunk: () => line.hear(isChunk),
    done: () => line.hear(isDone),
    command: () => line.hear(isCommand),
    toolCall: () => line.hear(isToolCall),
    reply: async () => {
      const done = await line.hear(isDone)
      return { replyId: done.reply_id, turnId: done.turn_id, text: saidIn(line.frames, done.reply_id) }
    },
    dealtWith: async () => {
      const code = `fence-${sid}-${++fences}`
      tell({ type: "event", ...{ name: "error", code } })
      while (!server.log().includes(code)) await new Promise((again) => setTimeout(again, 10))
    },
    end: async (reason = "caller_hangup") => {
      tell({ type: "session:end", ...{ reason, duration_ms: 1_000 } })
      for (;;) {
        const { body } = await get(session)
        if (body.session?.metadata?.end !== undefined || body.metadata?.end !== undefined) break
        await new Promise((again) => setTimeout(again, 20))
      }
      line.socket.close()
    },
    history: async () => (await get(`${session}/history`)).body.entries,
    turns: async () => (await get(`${session}/turns`)).body.turns
  }
}

/** What a script answers with: words, calls, or both. */
export const answers = (
  text: string,
  ...calls: ReadonlyArray<readonly [name: string, args: object]>
): ReadonlyArray<Step> => [
  ...(text === "" ? [] : [{ type: "text" as const, text }]),
  ...calls.map(([name, args], index) => ({
    type: "toolCall" as const,
    id: `call-${index}`,
    name,
    arguments: JSON.stringify(args)
  })),
  { type: "finish" as const, reason: calls.length > 0 ? ("tool_calls" as const) : ("stop" as const) }
]

/** What the model was asked, as its provider reads it. */
export const bodyOf = (request: ScriptedRequest | undefined): Frame => {
  if (request === undefined) throw new Error("the model was not asked")
  return request.body
}

export const messagesOf = (request: ScriptedRequest | undefined): ReadonlyArray<Frame> => bodyOf(request).messages

/** Answers each request with the next of these; what comes after them breaks the test. */
export const plays = (model: ScriptedModel, ...script: ReadonlyArray<ReadonlyArray<Step>>): void => {
  let at = 0
  model.script(() => script[at++] ?? answers("Nobody should have asked."))
}

/** The tool results a history holds, by their text. */
export const resultsIn = (history: ReadonlyArray<Frame>): ReadonlyArray<string> =>
  history
    .filter(({ role }) => role === "tool")
    .flatMap(({ content }) => content)
    .map((part: Frame) => part.content.map(({ text }: Frame) => text).join(""))

/** What the assistant said, as the history holds it. */
export const wordsIn = (history: ReadonlyArray<Frame>): ReadonlyArray<string> =>
  history
    .filter(({ role }) => role === "assistant")
    .flatMap(({ content }) => content)
    .flatMap((part: Frame) => (part.type === "text" ? [part.text] : []))
