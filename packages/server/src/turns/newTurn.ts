import type { Actor, Prompt, SubmitPromptRequestValue, TurnId, TurnMode, TurnOptions } from "@harness/protocol"
import type { Tx } from "../log/Commit.ts"
import type { PreparedSession } from "../sessions/Sessions.ts"
import type { SessionRow } from "../sessions/SessionsRepo.ts"
import { toParts } from "./content.ts"
import type { InnerOptions, TurnRow } from "./TurnsRepo.ts"

/** What is known of a prompt before its commit. */
export interface PreparedTurn {
  readonly hash: string
  readonly model: string
  readonly agent: string
  readonly mode: TurnMode
  readonly options: TurnOptions & InnerOptions
  readonly ignored: ReadonlyArray<string>
  readonly session: PreparedSession | undefined
}

const promptFrom = (request: SubmitPromptRequestValue): Prompt => ({
  role: request.role ?? "user",
  content: toParts(request.content),
  ...(request.custom === undefined ? {} : { custom: request.custom })
})

/** A turn as it is accepted: queued, with everything that is known of how it will run. */
export const newTurn = (
  tx: Pick<Tx, "now">,
  session: SessionRow,
  turnId: TurnId,
  request: SubmitPromptRequestValue,
  prepared: PreparedTurn,
  actor: Actor
): TurnRow => ({
  sessionId: session.sessionId,
  turnId,
  seq: session.nextSeq,
  rank: session.nextSeq,
  state: "queued",
  revision: 0,
  attempt: 1,
  requestHash: prepared.hash,
  prompt: JSON.stringify(promptFrom(request)),
  options: JSON.stringify(prepared.options),
  model: prepared.model,
  agent: prepared.agent,
  mode: prepared.mode,
  outcome: JSON.stringify({ steps: [], usage: {} }),
  cancel: null,
  joined: null,
  actor: JSON.stringify(actor),
  acceptedCursor: session.cursor,
  acceptedAt: tx.now,
  startedAt: null,
  settledAt: null
})
