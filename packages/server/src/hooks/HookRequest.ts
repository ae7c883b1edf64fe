import type {
  CallId,
  CallResult,
  HookPoint,
  HookResponseValue,
  JsonObject,
  ServerName,
  SessionId,
  TurnId
} from "@harness/protocol"
import { Data, type Effect } from "effect"
import type { ModelMessage } from "../providers/Model.ts"

/** What a hook is asked, as it goes over the wire. */
export interface HookRequest {
  readonly point: HookPoint
  readonly hookId: string
  readonly server: ServerName
  readonly sessionId: SessionId
  readonly turnId: TurnId
  readonly attempt: number
  readonly step: number
  /** The turn has not begun, and may never: this is asked for a draft. */
  readonly speculative?: true
  /** The same when it is asked once more after a crash: the call's, or that of this point of this step. */
  readonly idempotencyKey: string
  readonly call?: { readonly callId: CallId; readonly name: string; readonly arguments: JsonObject }
  readonly result?: CallResult
  readonly systemPrompt?: string
  /** Before a generation: what the model would be sent. After it: what it answered. */
  readonly messages?: ReadonlyArray<ModelMessage>
}

/** A hook gave no answer. The reason is for people. */
export class HookFailure extends Data.TaggedError("HookFailure")<{ readonly reason: string }> {}

/** A hook, wherever its code is. */
export interface AskedHook extends Omit<HookResponseValue, "hookId" | "url" | "secret"> {
  readonly hookId: string
  /** Answers JSON of the form every hook answers with. */
  readonly ask: (request: HookRequest) => Effect.Effect<unknown, HookFailure>
}
