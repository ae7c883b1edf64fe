import type { EndReason, ToHarness, TurnInput } from "./frames.ts"
import type { CallSettings, ToolAnswer, TransferOutcome } from "./settings.ts"

/** Something with a voice: a reply of the harness, or a line of jambonz's own. */
export interface Reply {
  readonly kind: "reply" | "holding" | "announce" | "failure"
  readonly id: string
  readonly turnId: number | undefined
  /** All that was received of it, of which the caller heard as much as `offset` says. */
  readonly text: string
  readonly offset: number
  readonly words: number
  /** No more text will come. */
  readonly done: boolean
  readonly interruptible: boolean
  /** Cuts off what is playing, as soon as the caller does not speak. */
  readonly urgent: boolean
}

/** What the caller truly heard of a reply, or of a line of jambonz's own. */
export interface Heard {
  readonly at: number
  readonly kind: Reply["kind"]
  readonly replyId: string | undefined
  readonly turnId: number | undefined
  readonly text: string
  /** It was not heard to its end. */
  readonly cut: boolean
}

/** The turn that was started last. */
export interface Turn {
  readonly id: number
  readonly state: "open" | "answered" | "cancelled"
  /** How far the wait for the first chunk is: in its first, its second, or held up by a tool. */
  readonly wait: { readonly stage: 1 | 2; readonly until: number | "tool" } | undefined
}

/** The caller, speaking: what will be the next turn. */
export interface Speech {
  readonly turnId: number
  /** What was said before, while nothing could be interrupted. */
  readonly before: string
  /** It cut something off. */
  readonly interrupted: boolean
  /** Nothing is said any more: at that time it is a turn without input. */
  readonly silentUntil: number | undefined
  /** Said to its end, and held until the reply that may not be interrupted has played. */
  readonly held: TurnInput | undefined
}

/** A tool of the application at work. */
export interface ToolAtWork {
  readonly callId: string
  readonly until: number
  readonly answer: ToolAnswer
}

/** A transfer under way: its announcement first, then the dialling. */
export interface Transfer {
  readonly commandId: string
  readonly outcome: TransferOutcome
  readonly until: number | undefined
}

/** The socket: opening, up, or gone until `by`, with the next try at `openAt`. */
export type Connection =
  | { readonly _tag: "Opening" }
  | { readonly _tag: "Up" }
  | { readonly _tag: "Gone"; readonly by: number; readonly openAt: number | undefined }

/** Why On failure ran. */
export interface HarnessFailure {
  readonly reason: "connect" | "no_reply" | "disconnected"
  readonly message: string
}

/** One call, as feature-server keeps it. */
export interface PhoneCall {
  readonly settings: CallSettings
  readonly now: number
  readonly startedAt: number
  /** `failing`: On failure is being carried out, without the harness. */
  readonly phase: "live" | "failing" | "ended"
  readonly connection: Connection
  readonly drops: number
  readonly lastTurn: number
  readonly turn: Turn | undefined
  readonly speech: Speech | undefined
  readonly playing: (Reply & { readonly since: number; readonly wordUntil: number | undefined }) | undefined
  readonly queue: ReadonlyArray<Reply>
  /** The one unprompted reply that waits for the floor. */
  readonly held: Reply | undefined
  /** What became of every reply id: `done` by the harness, or `gone`, so that what still comes for it is dropped. */
  readonly replies: ReadonlyMap<string, "open" | "done" | "gone" | "closed">
  readonly callIds: ReadonlySet<string>
  readonly commandIds: ReadonlySet<string>
  readonly tools: ReadonlyArray<ToolAtWork>
  readonly toolAnswers: Readonly<Record<string, ToolAnswer>>
  readonly nextTransfer: TransferOutcome
  readonly transfer: Transfer | undefined
  readonly bargeIn: boolean
  readonly language: string
  readonly recording: "off" | "on" | "paused"
  readonly silence: { readonly since: number | undefined; readonly streak: number }
  readonly heard: ReadonlyArray<Heard>
  readonly ended: { readonly reason: EndReason; readonly durationMs: number } | undefined
  readonly failure: HarnessFailure | undefined
}

/** What happens because of a step: frames, orders to the socket, and what there is to hear. */
export type Output = { readonly at: number } & (
  | { readonly _tag: "Sent"; readonly frame: ToHarness }
  /** It had to be said, and there was no socket. */
  | { readonly _tag: "Lost"; readonly frame: ToHarness }
  /** A frame of the harness came too late to matter, which is nobody's fault. */
  | { readonly _tag: "Dropped"; readonly why: string; readonly ref: string }
  | { readonly _tag: "Open" }
  | { readonly _tag: "Cut"; readonly halfOpen: boolean }
  | { readonly _tag: "Close" }
  | { readonly _tag: "Began"; readonly reply: Reply }
  | { readonly _tag: "Word"; readonly reply: Reply; readonly word: string }
  | { readonly _tag: "Finished"; readonly heard: Heard }
  | { readonly _tag: "Failed"; readonly failure: HarnessFailure }
)

/** A call that is about to be opened. */
export const newCall = (settings: CallSettings, at: number): PhoneCall => ({
  settings,
  now: at,
  startedAt: at,
  phase: "live",
  connection: { _tag: "Opening" },
  drops: 0,
  lastTurn: 0,
  turn: undefined,
  speech: undefined,
  playing: undefined,
  queue: [],
  held: undefined,
  replies: new Map(),
  callIds: new Set(),
  commandIds: new Set(),
  tools: [],
  toolAnswers: settings.toolAnswers,
  nextTransfer: settings.transfer,
  transfer: undefined,
  bargeIn: settings.bargeIn,
  language: settings.language,
  recording: "off",
  silence: { since: undefined, streak: 0 },
  heard: [],
  ended: undefined,
  failure: undefined
})

/** Nothing is said and nothing is owed: the caller is to speak. */
export const isFree = (call: PhoneCall): boolean =>
  call.phase === "live" &&
  call.playing === undefined &&
  call.queue.length === 0 &&
  call.turn?.state !== "open" &&
  call.speech === undefined &&
  call.transfer === undefined

/** What has been heard until now, also of the reply that is playing. */
export const heardSoFar = (call: PhoneCall): ReadonlyArray<Heard> =>
  call.playing === undefined || call.playing.offset === 0
    ? call.heard
    : [...call.heard, heardOf(call.playing, call.playing.since, true)]

/** What was heard of a reply. */
export const heardOf = (reply: Reply, at: number, cut: boolean): Heard => ({
  at,
  kind: reply.kind,
  replyId: reply.kind === "reply" ? reply.id : undefined,
  turnId: reply.turnId,
  text: reply.text.slice(0, reply.offset),
  cut
})
