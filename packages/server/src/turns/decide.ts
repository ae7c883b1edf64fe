import type { ConflictError, UnavailableError, WhenBusy } from "@harness/protocol"
import { QUEUE_MAX } from "@harness/protocol"
import { busy, mismatch, overloaded } from "../sessions/refusals.ts"
import type { SessionRow } from "../sessions/SessionsRepo.ts"
import { cancelOf, type TurnRow } from "./TurnsRepo.ts"

/** What a submitted prompt finds. */
export interface Scene {
  readonly session: Pick<SessionRow, "activeTurn" | "queued" | "nextSeq">
  /** A turn of that id. */
  readonly existing: Pick<TurnRow, "requestHash"> | undefined
  /** The turn under way; read where it may be steered or interrupted. */
  readonly active: TurnRow | undefined
  /** The turn that would start next; read where somebody may go before it. */
  readonly head: Pick<TurnRow, "rank"> | undefined
}

export interface Submission {
  readonly turnId: string
  readonly requestHash: string
  readonly whenBusy: WhenBusy
}

/** What becomes of a prompt. */
export type Admission =
  | { readonly _tag: "Refused"; readonly error: ConflictError | UnavailableError }
  | { readonly _tag: "Deduplicated" }
  | {
      readonly _tag: "Accepted"
      readonly disposition: "started" | "queued"
      readonly rank: number
      readonly interrupts?: TurnRow
    }
  | { readonly _tag: "Steered"; readonly into: TurnRow }

/** A turn takes steers until its end is asked for. */
export const takesSteers = (turn: TurnRow): boolean =>
  (turn.state === "running" || turn.state === "waiting") && cancelOf(turn) === undefined

/**
 * A prompt arrives:
 *
 *   known id            → deduplicated, or refused when it asks for something else
 *   nothing under way   → started
 *   queue               → behind the others          steer  → joins the running turn
 *   interrupt           → before the others          reject → refused
 */
export const decideSubmit = (scene: Scene, { turnId, requestHash, whenBusy }: Submission): Admission => {
  const { session, existing, active, head } = scene
  if (existing !== undefined) {
    return existing.requestHash === requestHash
      ? { _tag: "Deduplicated" }
      : { _tag: "Refused", error: mismatch("turn", turnId) }
  }
  const idle = session.activeTurn === null && session.queued === 0
  if (idle) return { _tag: "Accepted", disposition: "started", rank: session.nextSeq }
  if (whenBusy === "reject") return { _tag: "Refused", error: busy(session.activeTurn ?? undefined) }
  if (session.queued >= QUEUE_MAX) return { _tag: "Refused", error: overloaded() }
  if (whenBusy === "steer" && active !== undefined && takesSteers(active)) return { _tag: "Steered", into: active }
  if (whenBusy === "interrupt") {
    const rank = head === undefined ? session.nextSeq : head.rank - 1
    return { _tag: "Accepted", disposition: "queued", rank, ...(active === undefined ? {} : { interrupts: active }) }
  }
  return { _tag: "Accepted", disposition: "queued", rank: session.nextSeq }
}
