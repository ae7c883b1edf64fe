import type { SafeFailure } from "@harness/protocol"
import type { ResolvedModel } from "../providers/Model.ts"
import type { Held } from "../turns/Progress.ts"
import type { Crew } from "./calls.ts"
import type { Growing } from "./Growing.ts"
import type { Sound } from "./voice.ts"

/** A turn under way: what its next commit needs to know. */
export interface Stage {
  readonly held: Held
  readonly crew: Crew
  /** As the settings have it at this step. */
  model: ResolvedModel
  growing: Growing
  /** An answer cut off by its provider is gone on with once per turn. */
  continued: boolean
  /** A compaction that gained too little is not tried again. */
  crowded: boolean
  /** Code units of text that its steps have said so far. */
  said: number
  /** Tokens that its newest request came to, and what was said since; endless when its provider found it too long. */
  load: number
  /** How it is spoken, on a call. */
  readonly sound: Sound | undefined
}

/** How a turn ends that cannot go on. */
export const failed = (failure: SafeFailure) => ({ state: "failed", stopReason: "error", failure }) as const
/** How a turn ends that a hook does not want. */
export const vetoed = (reason: string) =>
  failed({ kind: "permanent", code: "hook.denied", message: reason, retryable: false })
