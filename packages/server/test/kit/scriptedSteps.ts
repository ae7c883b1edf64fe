/** A door a script waits at until the test opens it. */
export interface Gate {
  readonly open: () => void
  readonly opened: Promise<void>
  /** Called by the script when it stands at the door. */
  readonly reached: () => void
  /** Settles when the script stands at the door. */
  readonly isReached: Promise<void>
}

const latch = () => {
  let open = () => {}
  const promise = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, promise }
}

export const makeGate = (): Gate => {
  const door = latch()
  const there = latch()
  return { open: door.open, opened: door.promise, reached: there.open, isReached: there.promise }
}

/** How events are put on the wire from here on. */
export interface Framing {
  /** Default "\n". */
  readonly eol?: "\n" | "\r\n" | "\r"
  /** One byte a write. */
  readonly perByte?: boolean
  /** Everything in a single write at the end. */
  readonly oneWrite?: boolean
  /** The last event comes without its blank line; needs `oneWrite`. */
  readonly noFinalBlank?: boolean
  /** JSON over several `data:` lines. */
  readonly multiLine?: boolean
  /** No space after `data:`. */
  readonly noSpace?: boolean
  /** A comment line before each event. */
  readonly comments?: boolean
}

/** One thing the scripted model does. Without a `finish` the answer has no end, as when a provider is cut off. */
export type Step =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string; readonly signature?: string }
  | { readonly type: "refusal"; readonly text: string }
  /** Arguments in one piece or in several; `id` may be empty or come twice, as providers do. */
  | {
      readonly type: "toolCall"
      readonly id: string
      readonly name: string
      readonly arguments: string | ReadonlyArray<string>
      /** Place among the calls; counted when left out. */
      readonly index?: number
    }
  | { readonly type: "usage"; readonly usage: Readonly<Record<string, unknown>> }
  /** In the provider's own words: `stop`, `length`, `tool_calls`, `content_filter`; `end_turn`, …; `STOP`, …. */
  | { readonly type: "finish"; readonly reason: string }
  /** One event of any JSON. */
  | { readonly type: "event"; readonly data: unknown }
  /** Bytes as they are. */
  | { readonly type: "raw"; readonly bytes: string | Uint8Array }
  | { readonly type: "framing"; readonly framing: Framing }
  /** Status and headers go out now, not with the first byte. */
  | { readonly type: "head" }
  | { readonly type: "pause"; readonly gate: Gate }
  | {
      readonly type: "status"
      readonly status: number
      readonly body: string
      readonly headers?: Readonly<Record<string, string>>
    }
  /** The connection is reset. */
  | { readonly type: "reset" }
  /** The answer ends cleanly, whatever is missing. */
  | { readonly type: "cut" }
  /** Nothing more, for ever; without `headers` not even those. */
  | { readonly type: "stall"; readonly headers: boolean }

/** A whole answer of text, in the given deltas. */
export const says = (...deltas: ReadonlyArray<string>): ReadonlyArray<Step> => [
  ...deltas.map((text): Step => ({ type: "text", text })),
  { type: "finish", reason: "stop" },
  { type: "usage", usage: { prompt_tokens: 10, completion_tokens: deltas.length, total_tokens: 10 + deltas.length } }
]

/** A whole answer that asks for tools: name and arguments of each. */
export const callsFor = (
  ...calls: ReadonlyArray<readonly [name: string, args: unknown, id?: string]>
): ReadonlyArray<Step> => [
  ...calls.map(
    ([name, args, id], index): Step => ({
      type: "toolCall",
      id: id ?? `call_${index}`,
      name,
      arguments: typeof args === "string" ? args : JSON.stringify(args)
    })
  ),
  { type: "finish", reason: "tool_calls" },
  { type: "usage", usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }
]

/** An error answer in the shape of OpenAI's. */
export const fails = (
  status: number,
  error: { readonly message: string; readonly type?: string; readonly code?: string },
  headers: Readonly<Record<string, string>> = {}
): ReadonlyArray<Step> => [{ type: "status", status, body: JSON.stringify({ error }), headers }]
