import type { LanguageModelV3StreamPart } from "@ai-sdk/provider"
import { Chunk, Effect, Option } from "effect"
import { isCut, makeReader } from "./events.ts"
import { badAnswer, cutOff, isUnreasoned } from "./failure.ts"
import type { ModelEvent, ModelFailure } from "./Model.ts"

/** Events that wait for whoever takes them; an answer is not read on past so many. */
const AHEAD_MAX = 64

type Nothing = Option.Option<ModelFailure>

const fail = (failure: ModelFailure): Effect.Effect<never, Nothing> => Effect.fail(Option.some(failure))

/**
 * Reads an answer's parts as they come, up to the finish; what comes after it is not waited for. Each pull takes all events
 * that are there, so that somebody who is behind takes more at a time. `ended`: the provider itself said that this is the
 * end, so a missing reason is no cut. `waits`: whether somebody waits for the provider just now.
 */
export const readAhead = (options: {
  readonly reader: ReadableStreamDefaultReader<LanguageModelV3StreamPart>
  readonly failed: (error: unknown) => Effect.Effect<ModelFailure>
  readonly ended: () => boolean
  readonly waits: (waiting: boolean) => void
}): Effect.Effect<Chunk.Chunk<ModelEvent>, Nothing> => {
  const { ended, failed, reader, waits } = options
  const read = makeReader()
  let events: Array<ModelEvent> = []
  let end: Effect.Effect<never, Nothing> | undefined
  let isReading = false
  let wake: (() => void) | undefined

  /** Takes a part in; how it ends the answer, if it does. */
  const take = (part: LanguageModelV3StreamPart): Effect.Effect<never, Nothing> | undefined => {
    if (part.type === "error") {
      return ended() && isUnreasoned(part.error) ? undefined : Effect.flatMap(failed(part.error), fail)
    }
    const isFinish = part.type === "finish"
    if (isFinish) {
      const unreasoned = isCut(part)
      if (unreasoned && !ended()) return fail(cutOff())
      if (!unreasoned && part.finishReason.unified === "error") return fail(badAnswer())
    }
    for (const event of read(part)) events.push(event)
    return isFinish ? Effect.fail(Option.none()) : undefined
  }
  const ends = (how: Effect.Effect<never, Nothing> | undefined) => {
    isReading = false
    end = how
    readOn()
    if (events.length > 0 || end !== undefined) wake?.()
  }
  const readOn = () => {
    if (isReading || end !== undefined || events.length >= AHEAD_MAX) return
    isReading = true
    reader.read().then(
      ({ done, value }) => ends(done ? fail(cutOff()) : take(value)),
      (error: unknown) => ends(Effect.flatMap(failed(error), fail))
    )
  }
  const taken: Effect.Effect<Chunk.Chunk<ModelEvent>, Nothing> = Effect.suspend(() => {
    if (events.length === 0) return end ?? pull
    const all = Chunk.unsafeFromArray(events)
    events = []
    readOn()
    return Effect.succeed(all)
  })
  const news = Effect.async<void>((resume) => {
    const stop = () => {
      wake = undefined
      waits(false)
    }
    wake = () => {
      stop()
      resume(Effect.void)
    }
    waits(true)
    readOn()
    return Effect.sync(stop)
  })
  const pull: Effect.Effect<Chunk.Chunk<ModelEvent>, Nothing> = Effect.suspend(() =>
    events.length > 0 || end !== undefined ? taken : Effect.zipRight(news, taken)
  )
  return pull
}
