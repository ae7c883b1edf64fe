import type { FinishReason, JsonObject, Part, PromptPart, SafeFailure, ThinkingLevel, Usage } from "@harness/protocol"
import { Data } from "effect"
import type { Answer } from "./answer.ts"

/** A tool as a model is told of it; `name` matches `[A-Za-z0-9_-]{1,64}`. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
}

/** One message of a request. A `tool` message answers one call of the assistant message before it. */
export type ModelMessage =
  | { readonly role: "user"; readonly content: ReadonlyArray<PromptPart> }
  | { readonly role: "assistant"; readonly content: ReadonlyArray<Part> }
  | {
      readonly role: "tool"
      readonly callId: string
      readonly name: string
      readonly content: ReadonlyArray<PromptPart>
      readonly isError: boolean
    }

/** What one generation is asked with. */
export interface GenerateRequest {
  readonly system: string
  readonly messages: ReadonlyArray<ModelMessage>
  readonly tools: ReadonlyArray<ToolSpec>
  readonly thinking?: ThinkingLevel
  readonly maxOutputTokens?: number
  /** JSON asked for natively, where the model has it. */
  readonly output?: { readonly schema?: unknown }
  readonly idempotencyKey?: string
}

/** What a model says, in order. Deltas of one `block` are one piece of text; a `Call` is whole, its arguments raw. */
export type ModelEvent =
  | { readonly _tag: "Text"; readonly block: string; readonly delta: string }
  | { readonly _tag: "Reasoning"; readonly block: string; readonly delta: string }
  | { readonly _tag: "ReasoningEnd"; readonly block: string; readonly signature?: string }
  | { readonly _tag: "RedactedReasoning"; readonly block: string; readonly data: string }
  | { readonly _tag: "Refusal"; readonly block: string; readonly delta: string }
  | { readonly _tag: "Call"; readonly providerCallId: string; readonly name: string; readonly argumentsText: string }
  | {
      readonly _tag: "Finish"
      readonly finishReason: FinishReason
      readonly nativeStopReason?: string
      readonly usage: Usage
      readonly warnings: ReadonlyArray<string>
    }

/** A generation that failed; `failure` is safe to show, `retryAfterMillis` is what the provider asked for. */
export class ModelFailure extends Data.TaggedError("ModelFailure")<{
  readonly failure: SafeFailure
  readonly retryAfterMillis?: number
}> {
  override get message() {
    return this.failure.message
  }
}

/** A model that can be asked. Its answer ends with exactly one `Finish`, or fails. */
export interface ResolvedModel {
  /** `provider/model`. */
  readonly name: string
  readonly provider: string
  readonly model: string
  /** Empty when the model has none. */
  readonly thinkingLevels: ReadonlyArray<ThinkingLevel>
  readonly takesImages: boolean
  readonly nativeJson: boolean
  readonly contextWindow?: number
  readonly maxOutputTokens?: number
  /** What so many tokens cost, in US dollars, where prices are known; undefined for tokens nobody counted. */
  readonly costUsd?: (usage: Usage) => number | undefined
  readonly generate: (request: GenerateRequest) => Answer
}

/** Asks a model to go on after a cut: the user message that follows the partial assistant message starts with it. */
export const CONTINUE_NUDGE =
  "Your answer was cut off: go on exactly where it stopped, in the middle of a word if need be, and repeat nothing."
