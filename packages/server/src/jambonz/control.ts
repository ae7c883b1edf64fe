import type { CallId, TurnId } from "@harness/protocol"
import type { ControlName } from "../voice/controlTools.ts"
import type { Wanted } from "./controls.ts"
import type { Reply } from "./Speaker.ts"

/** The call is about to be ended or handed on: as soon as what was said before has been heard. */
export interface Parting {
  /** The turn whose words are waited for. */
  readonly turnId: TurnId
  readonly name: Extract<ControlName, "hangup" | "transfer">
  readonly command: Wanted
  /** The call that asked for it; a goodbye of our own has none. */
  readonly callId: CallId | undefined
  /** Whatever the caller says meanwhile. */
  readonly isFinal: boolean
}

/** How a reply is begun that nobody asked for. */
export type Manner = Partial<Pick<Reply, "interrupts" | "uninterruptible">>

/** What a call knows of its ends, its silences and its keys. */
export interface Control {
  parting: Parting | undefined
  /** The caller is with somebody else, or on the way there: nothing is said. */
  isAway: boolean
  /** Keys pressed, and not told yet. */
  keys: string
  /** The streak of silences that had been counted when the caller last did something. */
  streak: number
  streakBefore: number
  /** For turns that were submitted and have not started. */
  readonly manners: Map<string, Manner>
  /** What was heard of replies that we cut off ourselves, as long as nobody says: a guess. */
  readonly cuts: Map<string, string>
  /** Calls whose tools the agent has something to say of. */
  readonly working: Map<string, { readonly turnId: TurnId; readonly name: string }>
  /** Since when nobody has the floor whom a reply that nobody asked for would wait for. */
  floorFreeAt: number
  /** The call's last words are on their way, or said. */
  isEnding: boolean
}

export const newControl = (): Control => ({
  parting: undefined,
  isAway: false,
  keys: "",
  streak: 0,
  streakBefore: 0,
  manners: new Map(),
  cuts: new Map(),
  working: new Map(),
  floorFreeAt: 0,
  isEnding: false
})
