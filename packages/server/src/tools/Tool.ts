import type { CallId, CallResult, JsonObject, SessionId, TurnId } from "@harness/protocol"
import { Data, type Effect } from "effect"
import type { ToolResource } from "../permissions/Resource.ts"

export type { ToolResource }

/** How long a call may run when its tool names no other time. */
export const TOOL_TIMEOUT_MILLIS = 300_000

/** Where, and for whom, one call runs. */
export interface ToolContext {
  /** The server root, absolute: sessions work inside it. */
  readonly root: string
  /** The session's workdir, absolute: relative paths start here. */
  readonly workdir: string
  /** Folder of whole outputs, absolute, under the data folder. It need not exist yet. */
  readonly outputDir: string
  readonly server: string
  readonly sessionId: SessionId
  readonly turnId: TurnId
  readonly callId: CallId
  /** The same for every try of this call. */
  readonly idempotencyKey: string
  /** What was judged and allowed. A tool that finds something else at use does not run; without it, nothing outside the workdir is touched. */
  readonly judged?: ToolResource
  /** May the file of this pattern be read unasked? A tool that looks into many passes over the others. Absent: all may. */
  readonly readable?: (pattern: string) => boolean
  /** Shows what the call is doing: a preview, at most 10 a second. */
  readonly activity: (update: { readonly output?: string; readonly progress?: unknown }) => Effect.Effect<void>
}

/** A call that cannot even be judged. It is not run; `result` tells the model why. */
export class ToolRefusal extends Data.TaggedError("ToolRefusal")<{ readonly result: CallResult }> {}

/** What a call would touch, and what is known of its end. */
export interface ToolClaim extends ToolResource {
  /** What it would come to now, where that is an error: nobody need be asked about it. */
  readonly foreseen?: CallResult
}

/** Something a model may call. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  /** It changes nothing, so `plan` and `ask` may use it. */
  readonly readOnly: boolean
  /** The loop answers its calls itself; it is never run. */
  readonly answeredByLoop?: boolean
  /** Instead of the usual 5 minutes. */
  readonly timeoutMillis?: number
  /** It touches nothing but what is the session's own, so no rule is asked. */
  readonly needsPermission?: false
  readonly resource: (args: JsonObject, context: ToolContext) => Effect.Effect<ToolClaim, ToolRefusal>
  /** Interruptible. What goes wrong is a result with `isError` and `details.code`. */
  readonly run: (args: JsonObject, context: ToolContext) => Effect.Effect<CallResult>
}
