import type { TurnId, Usage } from "@harness/protocol"
import { Deferred, Effect, Either, Exit, Mailbox, Option, Stream } from "effect"
import { tokensOfText, totalTokens } from "../compaction/tokens.ts"
import { type Answer, begun, streamOf } from "../providers/answer.ts"
import type { GenerateRequest, ModelEvent, ModelFailure, ResolvedModel } from "../providers/Model.ts"

/** A model that has said this much unheard is not read on until somebody listens. */
const EVENTS_MAX = 4_096

/** What the model wrote, as far as it counts. */
const writtenIn = (event: ModelEvent): string => {
  if (event._tag === "Call") return event.name + event.argumentsText
  return "delta" in event ? event.delta : ""
}

/** An answer begun before anybody asked for it. Until it is adopted nobody has seen any of it. */
export interface Draft {
  /** The turn it is for, and the folded words it answers. */
  readonly turnId: TurnId
  readonly words: string
  /** Asks the model, and keeps what it says. Ends with the answer, or with `stop`. */
  readonly ask: (model: ResolvedModel, request: GenerateRequest, key: string) => Effect.Effect<void>
  /** Whether the model was asked. */
  readonly begun: () => boolean
  /** Whether it answers exactly this. One that failed answers nothing. */
  readonly fits: (key: string) => boolean
  /** Ends it, and the request it made, at once. */
  readonly stop: () => void
  /** Ends it unless somebody listens. */
  readonly lapse: () => void
  readonly stopped: Effect.Effect<void>
  /** What it says, from the beginning; what `fresh` says when it breaks off without a word. Whoever leaves ends it. */
  readonly orElse: (fresh: () => Answer) => Answer
  /** The tokens it has cost so far: as the provider counts them, else estimated. */
  readonly spent: () => number
}

/** A draft that has not asked yet. */
export const makeDraft = (of: Pick<Draft, "turnId" | "words">): Effect.Effect<Draft> =>
  Effect.gen(function* () {
    const events = yield* Mailbox.make<ModelEvent, ModelFailure>(EVENTS_MAX)
    const end = yield* Deferred.make<void>()
    const stop = () => Deferred.unsafeDone(end, Exit.void)
    let answers: string | undefined
    let failed = false
    let adopted = false
    let asked = 0
    let written = ""
    let usage: Usage | undefined

    const keep = (event: ModelEvent) => {
      if (event._tag === "Finish") usage = event.usage
      else if (!adopted) written += writtenIn(event)
      return events.offer(event)
    }
    return {
      ...of,
      ask: (model, request, key) =>
        Effect.suspend(() => {
          answers = key
          asked =
            tokensOfText(request.system) + tokensOfText(JSON.stringify(request.tools)) + totalTokens(request.messages)
          return Stream.runForEach(streamOf(model.generate(request)), keep)
        }).pipe(
          Effect.onError(() =>
            Effect.sync(() => {
              failed = true
            })
          ),
          Mailbox.into(events),
          Effect.raceFirst(Deferred.await(end))
        ),
      begun: () => answers !== undefined,
      fits: (key) => !failed && answers === key,
      stop,
      lapse: () => {
        if (!adopted) stop()
      },
      stopped: Deferred.await(end),
      orElse: (fresh) =>
        Effect.gen(function* () {
          adopted = true
          yield* Effect.addFinalizer(() => Effect.sync(stop))
          const { first } = yield* begun(Stream.toPull(Mailbox.toStream(events)))
          const head = yield* Effect.either(first)
          if (Either.isRight(head)) return head.right
          return Option.isNone(head.left) ? Effect.fail(head.left) : yield* fresh()
        }),
      spent: () => {
        if (answers === undefined || (failed && written === "")) return 0
        return (usage?.inputTokens ?? asked) + (usage?.outputTokens ?? tokensOfText(written))
      }
    }
  })
