import type { CallId, CallResult, JsonObject, SessionId, TurnId } from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import type { ModelMessage } from "../providers/Model.ts"
import { makeHooks } from "./ask.ts"

/** Whose turn a hook is asked about. */
export interface HookSubject {
  readonly sessionId: SessionId
  readonly turnId: TurnId
  readonly attempt: number
  readonly step: number
  /** The name of the draft that asks: its turn has not begun, and may never. */
  readonly draft?: string | undefined
}

export interface HookCall {
  readonly callId: CallId
  readonly name: string
  readonly arguments: JsonObject
  readonly idempotencyKey: string
}

/** A hook's place in the order in which they are asked. */
export interface HookPlace {
  readonly priority: number
  readonly hookId: string
}

/** What the hooks before a tool came to. */
export type ToolVerdict =
  | { readonly _tag: "Go"; readonly arguments: JsonObject }
  | { readonly _tag: "Denied"; readonly code: "hook.denied" | "hook.failed"; readonly reason: string }
  /** One of them holds the call. It waits with the arguments as rewritten so far. */
  | {
      readonly _tag: "Held"
      readonly holder: HookPlace
      readonly arguments: JsonObject
      readonly pendingTimeoutMillis?: number
    }

/** A request to a model as the hooks before it may change it. */
export interface Generation {
  readonly systemPrompt: string
  readonly messages: ReadonlyArray<ModelMessage>
}

export type GenerationVerdict =
  | { readonly _tag: "Go"; readonly generation: Generation }
  | { readonly _tag: "Vetoed"; readonly reason: string }

export type TurnVerdict = { readonly _tag: "Go" } | { readonly _tag: "Vetoed"; readonly reason: string }

/** Others who have a say: asked at five points of a turn, in ascending priority, then id. */
export class Hooks extends Context.Tag("@harness/server/Hooks")<
  Hooks,
  {
    /** Whether a hook of this id is still asked: one that holds a call may be gone by now. */
    readonly isThere: (hookId: string) => Effect.Effect<boolean>
    readonly preTurn: (subject: HookSubject) => Effect.Effect<TurnVerdict>
    readonly preGenerate: (subject: HookSubject, generation: Generation) => Effect.Effect<GenerationVerdict>
    /** Observes. */
    readonly postGenerate: (subject: HookSubject, text: string) => Effect.Effect<void>
    /** `after`: only the hooks behind this one, for a call that one held and released. */
    readonly preTool: (subject: HookSubject, call: HookCall, after?: HookPlace) => Effect.Effect<ToolVerdict>
    readonly postTool: (subject: HookSubject, call: HookCall, result: CallResult) => Effect.Effect<CallResult>
  }
>() {
  /** Those of the table, over HTTP, and those in this process. */
  static readonly layer = Layer.effect(Hooks, makeHooks)
  /** Nobody has a say. */
  static readonly layerNone = Layer.succeed(Hooks, {
    isThere: () => Effect.succeed(false),
    preTurn: () => Effect.succeed({ _tag: "Go" }),
    preGenerate: (_, generation) => Effect.succeed({ _tag: "Go", generation }),
    postGenerate: () => Effect.void,
    preTool: (_, call) => Effect.succeed({ _tag: "Go", arguments: call.arguments }),
    postTool: (_, __, result) => Effect.succeed(result)
  })
}
