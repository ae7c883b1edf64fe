import type { Actor, PermissionRequest, Question, SessionId, TurnId } from "@harness/protocol"
import type { CallSid, Inbound } from "@harness/protocol/jambonz"
import { Clock, Effect } from "effect"
import type { Permissions } from "../asks/Permissions.ts"
import type { Questions } from "../asks/Questions.ts"
import type { Resolutions } from "../asks/Resolutions.ts"
import type { History } from "../history/History.ts"
import type { CommitRoom } from "../log/Commit.ts"
import type { Hub } from "../log/Hub.ts"
import type { Beside } from "../loop/Beside.ts"
import type { Detached, Late } from "../loop/Detached.ts"
import type { Drafts } from "../loop/Drafts.ts"
import type { Sessions } from "../sessions/Sessions.ts"
import { mint } from "../storage/mint.ts"
import type { Bell } from "../turns/Bell.ts"
import type { PendingRepo } from "../turns/PendingRepo.ts"
import type { Submissions } from "../turns/Submissions.ts"
import type { Turns } from "../turns/Turns.ts"
import type { SpendingRepo } from "../usage/SpendingRepo.ts"
import type { RequestRow } from "../voice/VoiceRepo.ts"
import type { Voice } from "../voice/voiceOf.ts"
import type { Control } from "./control.ts"
import type { Reply, Speaker, Wire } from "./Speaker.ts"

/** Who the log says did what the call asked for. */
export const CALLER: Actor = { actorId: "jambonz" }

/** What a call's one fiber is told, in order. */
export type Input =
  | { readonly _tag: "Frame"; readonly frame: Inbound }
  /** A turn of the session began that no turn of the call asked for. */
  | { readonly _tag: "Started"; readonly reply: Reply }
  | { readonly _tag: "Late"; readonly late: LateOwn }
  /** A turn asks somebody something. */
  | { readonly _tag: "Asked"; readonly asking: Asking }
  /** A call of the turn waits for something outside. */
  | { readonly _tag: "Waits"; readonly turnId: TurnId }
  /** A call of a tool begins or ends. */
  | { readonly _tag: "Tool"; readonly news: ToolNews }
  | { readonly _tag: "Settled"; readonly turnId: TurnId }
  | { readonly _tag: "Timer"; readonly name: TimerName }
  | { readonly _tag: "Attached"; readonly wire: Wire; readonly lastTurn: number | undefined }
  | { readonly _tag: "Gone"; readonly wire: Wire }
  /** The session was deleted. */
  | { readonly _tag: "Deleted" }

/** A call of a tool begins, or has its result. */
export type ToolNews =
  | { readonly _tag: "Begins"; readonly turnId: TurnId; readonly callId: string; readonly name: string }
  | { readonly _tag: "Ends"; readonly turnId: TurnId; readonly callId: string; readonly isError: boolean }

/** What a call waits for. A second wait of a name takes the place of the first. */
export type TimerName =
  | "delivered"
  | "draft"
  | "filler"
  | "resume"
  | "speech"
  | "parting"
  | "keys"
  | "limit"
  | `request:${string}`
  | `cut:${string}`
  | `delayed:${string}`

/** A question or a permission that the caller was asked aloud. */
export type Asking =
  | { readonly _tag: "Question"; readonly question: Question }
  | { readonly _tag: "Permission"; readonly request: PermissionRequest }

/** What comes of asking the other side. */
export interface Outcome {
  readonly content: string
  readonly isError: boolean
  readonly code?: string
}

/** What came of a tool of ours that went on without its turn. */
export type LateOwn = Pick<Late, "callId" | "name" | "result">
/** What the caller says before it is a turn. */
export interface Utterance {
  readonly turnNumber: number
  /** When the first of it was heard. */
  readonly since: number
  text: string
  language: string | undefined
  /** The words are final, or have not changed for a while. */
  steady: boolean
  /** Answers that were begun to it. */
  drafts: number
}

/** One call: what its fiber knows, and nobody else changes. */
export interface Scene {
  readonly sessionId: SessionId
  readonly callSid: CallSid
  readonly agent: string
  readonly direction: string
  readonly voice: Voice
  readonly speaker: Speaker
  readonly timers: {
    readonly set: (name: TimerName, millis: number) => void
    readonly clear: (name: TimerName) => void
  }
  readonly startedAt: number
  readonly control: Control
  language: string | undefined
  /** The newest turn the other side started, what it asked, and what answers it. */
  lastTurn: number
  lastInput: string
  reply: Reply | undefined
  callerSpeaks: boolean
  utterance: Utterance | undefined
  /** What the caller did not hear of the reply that was cut off last. */
  unheard: string
  /** The reply nobody asked for that is being said; more of them wait. */
  unprompted: Reply | undefined
  readonly waiting: Array<Reply>
  /** What was asked of the other side and not answered, by its id there. */
  readonly requests: Map<string, RequestRow>
  /** Results of calls that went on without their turn, come while the caller spoke. */
  readonly late: Array<readonly [RequestRow, Outcome]>
  readonly lateOwn: Array<LateOwn>
  /** What the turn wants to know from the caller before it goes on. */
  asking: Asking | undefined
  fillers: number
  ended: boolean
}

/** What of its server a call works with. */
export type CallNeeds =
  | Bell
  | Beside
  | CommitRoom
  | Detached
  | Drafts
  | History
  | Hub
  | PendingRepo
  | Permissions
  | Questions
  | Resolutions
  | Sessions
  | SpendingRepo
  | Submissions
  | Turns

/** What a call does about something. */
export type Work = Effect.Effect<void, never, CallNeeds>

/** A name for something on the call: never given twice, also after a restart. */
export const mintId: Effect.Effect<string> = Effect.map(Clock.currentTimeMillis, mint)

/** A reply that has not said anything. */
export const newReply = (
  of: Pick<Reply, "replyId" | "turnId" | "turnNumber" | "model" | "startedAt"> &
    Partial<Pick<Reply, "interrupts" | "uninterruptible" | "state" | "restored">>
): Reply => ({
  interrupts: false,
  uninterruptible: false,
  state: "open",
  over: false,
  cutAt: undefined,
  text: "",
  from: 0,
  sent: 0,
  delivered: 0,
  kept: 0,
  closed: false,
  resumedAt: undefined,
  firstChunkAt: undefined,
  firstTokenAt: undefined,
  restored: false,
  part: undefined,
  partAt: 0,
  answers: 0,
  lines: [],
  record: undefined,
  ...of
})

/** Something came that the protocol does not have. The call goes on. */
export const overlooked = (scene: Pick<Scene, "sessionId">, what: string) =>
  Effect.logWarning(`voice: ${what}`).pipe(Effect.annotateLogs({ sessionId: scene.sessionId }))
