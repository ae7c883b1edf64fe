import type { LanguageModelV3StreamPart } from "@ai-sdk/provider"
import { Chunk, Effect, Option } from "effect"
import type { Pull } from "./answer.ts"
import { isCut, makeReader } from "./events.ts"
import { badAnswer, cutOff, isUnreasoned } from "./failure.ts"
import type { ModelEvent, ModelFailure } from "./Model.ts"
import { plainTextOf } from "./plainText.ts"

/** Events that wait for whoever takes them; an answer is not read on past so many. */
const AHEAD_MAX = 64
/** The block of text that no part of the package told of. */
const LANE = "plain"

type Parts = ReadableStreamDefaultReader<LanguageModelV3StreamPart>
type Ending = Effect.Effect<never, Option.Option<ModelFailure>>

/** An answer that is read ahead of whoever takes it. */
export interface ReadAhead {
  /** All events that are there: who is behind takes more at a time. */
  readonly pull: Pull
  /** Reads the package's parts from here on, up to the finish; what comes after it is not waited for. */
  readonly from: (parts: Parts) => void
  /**
   * Takes an event of the wire when it is text alone, and nothing else came before it: most of an answer is, and need not
   * go through the package. From the first that is not on, everything does.
   */
  readonly take: (data: string) => boolean
  /** Done when more may be taken. */
  readonly room: () => Promise<void> | undefined
}

const fail = (failure: ModelFailure): Ending => Effect.fail(Option.some(failure))

/**
 * `ended`: the provider itself said that this is the end, so a missing reason is no cut. `waits`: whether somebody waits for
 * the provider just now. `hasLane`: its events are chunks of Chat Completions.
 */
export const makeReadAhead = (options: {
  readonly failed: (error: unknown) => Effect.Effect<ModelFailure>
  readonly ended: () => boolean
  readonly waits: (waiting: boolean) => void
  readonly hasLane: boolean
}): ReadAhead => {
  const { ended, failed, waits } = options
  const read = makeReader()
  let events: Array<ModelEvent> = []
  let end: Ending | undefined
  let parts: Parts | undefined
  let isReading = false
  let isLane = options.hasLane
  /** The package's name for the text that the lane began. */
  let goesOn: string | undefined
  let wake: (() => void) | undefined
  let makeRoom: (() => void) | undefined

  /** The text after the lane's is one with it. */
  const named = (part: LanguageModelV3StreamPart): LanguageModelV3StreamPart | undefined => {
    if (part.type === "text-start" && goesOn === "") {
      goesOn = part.id
      return undefined
    }
    if ((part.type !== "text-delta" && part.type !== "text-end") || part.id !== goesOn) return part
    if (part.type === "text-end") goesOn = undefined
    return { ...part, id: LANE }
  }
  /** Takes a part in; how it ends the answer, if it does. */
  const takePart = (part: LanguageModelV3StreamPart): Ending | undefined => {
    if (part.type === "error") {
      return ended() && isUnreasoned(part.error) ? undefined : Effect.flatMap(failed(part.error), fail)
    }
    const isFinish = part.type === "finish"
    if (isFinish) {
      const unreasoned = isCut(part)
      if (unreasoned && !ended()) return fail(cutOff())
      if (!unreasoned && part.finishReason.unified === "error") return fail(badAnswer())
    }
    const known = named(part)
    if (known !== undefined) events.push(...read(known))
    return isFinish ? Effect.fail(Option.none()) : undefined
  }
  const settle = (how: Ending | undefined) => {
    isReading = false
    end = how
    readOn()
    if (events.length > 0 || end !== undefined) wake?.()
  }
  const readOn = () => {
    if (parts === undefined || isReading || end !== undefined || events.length >= AHEAD_MAX) return
    isReading = true
    parts.read().then(
      ({ done, value }) => settle(done ? fail(cutOff()) : takePart(value)),
      (error: unknown) => settle(Effect.flatMap(failed(error), fail))
    )
  }
  const taken: Pull = Effect.suspend(() => {
    if (events.length === 0) return end ?? pull
    const all = Chunk.unsafeFromArray(events)
    events = []
    makeRoom?.()
    readOn()
    return Effect.succeed(all)
  })
  // Whoever waits is not asked whether they left: of a wait that is over nobody hears.
  const news: Pull = Effect.async((resume) => {
    wake = () => {
      wake = undefined
      waits(false)
      resume(taken)
    }
    waits(true)
  })
  const pull: Pull = Effect.suspend(() => (events.length > 0 || end !== undefined ? taken : news))
  return {
    pull,
    from: (reader) => {
      parts = reader
      readOn()
    },
    take: (data) => {
      const delta = isLane ? plainTextOf(data) : undefined
      isLane = delta !== undefined
      if (delta === undefined) return false
      if (delta !== "") goesOn = ""
      events.push(...read({ type: "text-delta", id: LANE, delta }))
      if (events.length > 0) wake?.()
      return true
    },
    room: () =>
      events.length < AHEAD_MAX
        ? undefined
        : new Promise((resolve) => {
            makeRoom = () => {
              makeRoom = undefined
              resolve()
            }
          })
  }
}
