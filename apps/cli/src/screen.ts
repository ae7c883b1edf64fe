import type { TurnSnapshot, TurnStreamEventValue } from "@harness/protocol"
import { Effect } from "effect"
import { type Piece, Transcript } from "./render/Transcript.ts"
import { turnSummary } from "./render/turns.ts"
import { Surroundings } from "./Surroundings.ts"

/** How a turn is shown. */
export interface Showing {
  /** Every event as a line of JSON. */
  readonly json: boolean
  /** The answer alone. */
  readonly quiet: boolean
  /** What counts is the result: the words around it are no answer. */
  readonly resultOnly: boolean
}

/** Where a turn's answer and what is around it go. */
export const screenFor = ({ json, quiet, resultOnly }: Showing) =>
  Effect.gen(function* () {
    const { err, out } = yield* Surroundings
    const transcript = new Transcript(resultOnly ? err : out, err)
    let held: Array<Piece> | undefined

    const write = ({ text, to }: Piece) =>
      to === "out" && !resultOnly ? out.write(text) : quiet ? Effect.void : err.write(text)
    const show = (pieces: ReadonlyArray<Piece>) =>
      Effect.suspend(() => {
        if (held === undefined) return Effect.forEach(pieces, write, { discard: true })
        held.push(...pieces)
        return Effect.void
      })

    return {
      show: (event: TurnStreamEventValue) =>
        json ? out.write(`${JSON.stringify(event)}\n`) : Effect.suspend(() => show(transcript.take(event))),
      /** Leaves the screen to somebody else, from the start of a line; what comes meanwhile is shown afterwards. */
      aside: <A, E>(use: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.acquireUseRelease(
          Effect.suspend(() =>
            Effect.zipRight(
              show(transcript.aside()),
              Effect.sync(() => {
                held = []
              })
            )
          ),
          () => use,
          () =>
            Effect.suspend(() => {
              const pieces = held ?? []
              held = undefined
              return show(pieces)
            })
        ),
      end: Effect.suspend(() => show(transcript.end())),
      result: (turn: TurnSnapshot) =>
        json || !resultOnly || turn.result === undefined ? Effect.void : out.write(`${JSON.stringify(turn.result)}\n`),
      summary: (turn: TurnSnapshot) =>
        json || quiet || !err.isTerminal ? Effect.void : err.write(turnSummary(turn, err.style))
    }
  })
