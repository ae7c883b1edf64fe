import type { FinishReason, Usage } from "@harness/protocol"
import { Clock, Effect, Option } from "effect"
import { constTrue, constVoid } from "effect/Function"
import { SPEAKING } from "../log/Slices.ts"
import type { GenerateRequest, ModelEvent, ModelFailure, ResolvedModel } from "../providers/Model.ts"
import { type Retry, withRetries } from "../providers/retry.ts"
import { GONE, Progress } from "../turns/Progress.ts"
import type { TurnRow } from "../turns/TurnsRepo.ts"
import { Arrivals } from "../voice/Arrivals.ts"
import type { SpeechCleaner } from "../voice/speech.ts"
import type { Growing } from "./Growing.ts"

/** A crash loses at most the text of this time, or this many code units. */
const CHECKPOINT_MILLIS = 250
/** Turns keep their texts at the same moments, so many apart, and so in one transaction. */
const MOMENT_MILLIS = 50
const CHECKPOINT_UNITS = 4_096

/** A call as the model wrote it. */
export interface RawCall {
  readonly name: string
  readonly argumentsText: string
}

/** How one generation ended. */
export interface Generated {
  readonly calls: ReadonlyArray<RawCall>
  readonly finishReason: FinishReason
  readonly nativeStopReason: string | undefined
  readonly usage: Usage
  readonly warnings: ReadonlyArray<string>
}

const empty: Generated = { calls: [], finishReason: "other", nativeStopReason: undefined, usage: {}, warnings: [] }

/** `Effect.forever` lets others go first after each round: a wait between two words does that already. */
const endlessly = <E, R>(body: Effect.Effect<void, E, R>) =>
  Effect.whileLoop({ while: constTrue, body: () => body, step: constVoid })

/** Asks the model once, retries before its first word included; what it says goes to `growing` as it comes. */
export const generate = (options: {
  readonly turn: TurnRow
  readonly model: ResolvedModel
  readonly request: GenerateRequest
  readonly growing: Growing
  /** What of the text is kept, piece by piece; without it all is. */
  readonly cleaner?: SpeechCleaner | undefined
  /** Code units of text that are kept; without it all are. */
  readonly room?: number | undefined
  readonly retryBaseMillis: number
  readonly onRetry: (retry: Retry) => Effect.Effect<void>
}): Effect.Effect<Generated, ModelFailure, Arrivals | Progress> =>
  Effect.gen(function* () {
    const progress = yield* Progress
    const arrivals = yield* Arrivals
    const { growing, turn } = options
    const one = yield* Effect.makeSemaphore(1)
    const save = Effect.suspend(() => {
      const { tails, saved } = growing.tails()
      const arrival = arrivals.due(turn.sessionId)
      if (tails.length === 0 && arrival === undefined) return Effect.void
      return Effect.map(progress.checkpoint(turn, tails, arrival?.write), (kept) => {
        saved()
        if (kept !== GONE) arrival?.kept()
      })
    }).pipe(one.withPermits(1))
    const checkpoint = Effect.catchAllCause(save, (cause) => Effect.logWarning("a checkpoint failed", cause))
    const saving = Clock.currentTimeMillis.pipe(
      Effect.flatMap((now) => Effect.sleep(CHECKPOINT_MILLIS - (now % MOMENT_MILLIS))),
      Effect.zipRight(checkpoint),
      Effect.forever
    )
    let result = empty
    const { cleaner, room } = options
    let block = ""
    let isCut = false
    /** As much of a piece as there is room for, to the end of a word where one ends in it. */
    const fitted = (delta: string): string => {
      if (isCut) return ""
      if (room === undefined || growing.text.length + delta.length <= room) return delta
      isCut = true
      const head = delta.slice(0, Math.max(0, room - growing.text.length))
      return /^.*\s/s.exec(head)?.[0].trimEnd() ?? head
    }
    /** What a voice would not say is never part of the answer. */
    const grow = (event: Extract<ModelEvent, { _tag: "Text" | "Refusal" }>) => {
      const delta = fitted(cleaner === undefined ? event.delta : cleaner.push(event.delta))
      block = event.block
      if (delta !== "") growing.take({ ...event, delta })
    }
    const take = (event: ModelEvent): void => {
      if (event._tag === "Call") {
        result = { ...result, calls: [...result.calls, event] }
      } else if (event._tag === "Finish") {
        const { finishReason, nativeStopReason, usage, warnings } = event
        const rest = fitted(cleaner?.end() ?? "")
        if (rest !== "") growing.take({ _tag: "Text", block, delta: rest })
        const reason = isCut && result.calls.length === 0 ? "length" : finishReason
        result = { ...result, finishReason: reason, nativeStopReason, usage, warnings }
      } else if (event._tag === "Text" || event._tag === "Refusal") grow(event)
      else growing.take(event)
    }
    const takeAll = (events: Iterable<ModelEvent>) => {
      for (const event of events) take(event)
      return growing.unsaved >= CHECKPOINT_UNITS ? checkpoint : Effect.void
    }
    const asked = withRetries(() => options.model.generate(options.request), {
      onRetry: options.onRetry,
      baseMillis: options.retryBaseMillis
    })
    yield* Effect.flatMap(Effect.asSomeError(asked), (pull) => endlessly(Effect.flatMap(pull, takeAll))).pipe(
      Effect.withSchedulingPriority(SPEAKING),
      Effect.scoped,
      Effect.catchAll(Option.match({ onNone: () => Effect.void, onSome: Effect.fail })),
      // Whatever cuts it, what was said is kept; a whole answer is about to be committed as one.
      Effect.onError(() => Effect.ignoreLogged(save)),
      Effect.raceFirst(saving)
    )
    return result
  }).pipe(Effect.withSpan("loop.generate"))
