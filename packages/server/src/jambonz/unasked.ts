import { type JsonObject, TurnId, type WhenBusy } from "@harness/protocol"
import { Effect } from "effect"
import { Submissions } from "../turns/Submissions.ts"
import type { Manner } from "./control.ts"
import { CALLER, mintId, type Scene } from "./scene.ts"

/** Turns that wait with a manner of their own. More than a session's queue holds is never needed. */
const MANNERS_MAX = 256

/** What a turn is about that the call begins by itself. */
export interface Unasked {
  readonly kind: "silence" | "goodbye" | "keys" | "transfer" | "hangup"
  readonly content: string
  readonly details?: JsonObject
  /** The words that answer it; without them the model is asked. */
  readonly line?: string
  readonly whenBusy: WhenBusy
  readonly manner?: Manner
}

/** Begins a turn that the other side did not ask for. Answers its name; undefined when it was not taken. */
export const beginUnasked = (scene: Scene, what: Unasked) =>
  Effect.gen(function* () {
    const submissions = yield* Submissions
    const { details = {}, kind, line, manner, whenBusy } = what
    const { manners } = scene.control
    const turnId = TurnId.make(`${kind}-${yield* mintId}`)
    if (manner !== undefined && manners.size < MANNERS_MAX) manners.set(turnId, manner)
    const prompt = {
      role: "custom" as const,
      content: what.content,
      custom: { type: `voice.${kind}`, details },
      whenBusy
    }
    return yield* submissions
      .submit(scene.sessionId, turnId, prompt, CALLER, {
        detach: true,
        ...(line === undefined ? {} : { line })
      })
      .pipe(
        Effect.as<TurnId | undefined>(turnId),
        Effect.catchAll((error) =>
          Effect.as(Effect.logWarning("a turn of a call's own was not taken", error.code), undefined)
        )
      )
  })
