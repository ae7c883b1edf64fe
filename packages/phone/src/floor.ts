import { CLOSE_PROTOCOL } from "@harness/protocol/jambonz"
import { interrupts, presses, recognized, speaks, startTurn, stops } from "./caller.ts"
import { command } from "./commands.ts"
import { gone, opened, refused } from "./connection.ts"
import { Draft } from "./Draft.ts"
import { end, fail } from "./ending.ts"
import type { EndReason } from "./frames.ts"
import { isFree, type Output, type PhoneCall } from "./phoneCall.ts"
import { cut, play } from "./playing.ts"
import { refOf, understand } from "./reading.ts"
import { replyChunk, replyDone } from "./replies.ts"
import type { ToolAnswer, TransferOutcome } from "./settings.ts"
import { toolCall } from "./tools.ts"
import { nextWait } from "./waits.ts"

/** What comes to a call from outside. */
export type Input =
  | { readonly _tag: "Opened" }
  | { readonly _tag: "Refused"; readonly message: string }
  /** The socket closed under us. */
  | { readonly _tag: "Dropped"; readonly code: number; readonly message: string }
  /** We close it ourselves, or go away without a word. */
  | { readonly _tag: "Drop"; readonly again: "never" | { readonly afterMs: number }; readonly halfOpen: boolean }
  /** What the harness sent, as JSON; undefined when it was none. */
  | { readonly _tag: "Frame"; readonly frame: unknown }
  | { readonly _tag: "Speaks" }
  | { readonly _tag: "Interrupts" }
  | { readonly _tag: "Recognized"; readonly text: string; readonly final: boolean; readonly confidence?: number }
  | { readonly _tag: "Stops"; readonly text: string; readonly language?: string; readonly confidence?: number }
  | { readonly _tag: "Presses"; readonly digits: string; readonly durationMs?: number }
  | { readonly _tag: "Update"; readonly updateType: string; readonly data: unknown }
  | { readonly _tag: "HangsUp"; readonly reason: EndReason }
  | { readonly _tag: "Tools"; readonly answers: Readonly<Record<string, ToolAnswer>> }
  | { readonly _tag: "NextTransfer"; readonly outcome: TransferOutcome }

/** A call after a step, and what happened. */
export interface Stepped {
  readonly call: PhoneCall
  readonly out: ReadonlyArray<Output>
}

const fromHarness = (draft: Draft, given: unknown) => {
  const ref = refOf(given)
  const frame = understand(given)
  if (frame._tag === "None") {
    const why = ref === undefined ? "invalid_id" : "invalid_message"
    return draft.refuse(given === undefined ? "invalid_message" : why, "the message cannot be understood", ref)
  }
  switch (frame.value.type) {
    case "reply:chunk":
      return replyChunk(draft, frame.value)
    case "reply:done":
      return replyDone(draft, frame.value)
    case "tool:call":
      return toolCall(draft, frame.value)
    case "command":
      return command(draft, frame.value)
  }
}

const fromCaller = (draft: Draft, input: Input) => {
  switch (input._tag) {
    case "Speaks":
      return void speaks(draft)
    case "Interrupts":
      speaks(draft)
      return interrupts(draft)
    case "Recognized":
      return recognized(draft, input)
    case "Stops":
      return stops(draft, input)
    case "Presses":
      return presses(draft, input.digits, input.durationMs)
  }
}

const take = (draft: Draft, input: Input) => {
  if (draft.call.phase === "failing") {
    if (input._tag === "HangsUp") cut(draft)
    return
  }
  switch (input._tag) {
    case "Opened":
      return opened(draft)
    case "Refused":
      return refused(draft, input.message)
    case "Dropped":
      if (input.code !== CLOSE_PROTOCOL) return gone(draft, { again: "at once", message: input.message })
      return fail(draft, { reason: "connect", message: input.message })
    case "Drop":
      if (draft.call.connection._tag === "Up") draft.happen({ _tag: "Cut", halfOpen: input.halfOpen })
      return gone(draft, { again: input.again, message: "the socket was dropped" })
    case "Frame":
      return draft.call.connection._tag === "Up" ? fromHarness(draft, input.frame) : undefined
    case "Update":
      return draft.event({ name: "application_update", update_type: input.updateType, data: input.data })
    case "HangsUp":
      return end(draft, input.reason)
    case "Tools":
      return draft.set({ toolAnswers: { ...draft.call.toolAnswers, ...input.answers } })
    case "NextTransfer":
      return draft.set({ nextTransfer: input.outcome })
    default:
      // While somebody is dialled the caller is not listened to.
      return draft.call.transfer === undefined ? fromCaller(draft, input) : undefined
  }
}

/** Gives the floor to whoever is to have it. Nothing begins while the caller speaks, or while somebody is dialled. */
const next = (draft: Draft): boolean => {
  const { held, now, phase, playing, queue, speech, transfer } = draft.call
  if (phase === "failing" && playing === undefined) {
    draft.set({ phase: "ended" })
    return true
  }
  if (phase !== "live") return false
  if (transfer !== undefined) {
    if (transfer.until !== undefined || playing !== undefined) return false
    draft.set({ transfer: { ...transfer, until: now + (transfer.outcome.afterMs ?? 0) } })
    return true
  }
  if (speech?.held !== undefined && playing?.interruptible !== false) {
    startTurn(draft, speech.held)
    return true
  }
  if (speech !== undefined) return false
  if (held?.urgent === true) {
    cut(draft)
    draft.set({ held: undefined })
    play(draft, held)
    return true
  }
  const [first, ...rest] = queue
  if (playing === undefined && first !== undefined) {
    draft.set({ queue: rest })
    play(draft, first)
    return true
  }
  if (held === undefined || !isFree(draft.call)) return false
  draft.set({ held: undefined })
  play(draft, held)
  return true
}

const settled = (draft: Draft): Stepped => {
  while (next(draft)) {}
  const { held, silence } = draft.call
  if (!isFree(draft.call) || held !== undefined) draft.set({ silence: { ...silence, since: undefined } })
  else if (silence.since === undefined) draft.set({ silence: { ...silence, since: draft.at } })
  return { call: draft.call, out: draft.out }
}

/** When something happens on this call by itself. */
export const dueAt = (call: PhoneCall): number | undefined => nextWait(call)?.at

/** Lets the one thing happen that is due next. */
export const elapse = (call: PhoneCall): Stepped => {
  const wait = nextWait(call)
  if (wait === undefined) return { call, out: [] }
  const draft = new Draft({ ...call, now: Math.max(call.now, wait.at) })
  wait.happens(draft)
  return settled(draft)
}

/** Takes something from outside, after all that was due before it. */
export const step = (call: PhoneCall, at: number, input: Input): Stepped => {
  const { call: then, out } = advance(call, at)
  if (then.phase === "ended") return { call: then, out }
  const draft = new Draft({ ...then, now: Math.max(then.now, at) })
  take(draft, input)
  const stepped = settled(draft)
  return { call: stepped.call, out: [...out, ...stepped.out] }
}

/** Lets time pass. */
export const advance = (call: PhoneCall, to: number): Stepped => {
  const out: Array<Output> = []
  let then = call
  for (let due = dueAt(then); due !== undefined && due <= to; due = dueAt(then)) {
    const stepped = elapse(then)
    then = stepped.call
    out.push(...stepped.out)
  }
  return { call: { ...then, now: Math.max(then.now, to) }, out }
}
