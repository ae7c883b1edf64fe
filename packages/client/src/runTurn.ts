import {
  isTerminal,
  type SubmitPromptRequest,
  type TurnChange,
  type TurnSnapshot,
  type TurnStreamEventValue
} from "@harness/protocol"
import { Effect, Option, Stream } from "effect"
import type { Attending } from "./Asks.ts"
import type { attending } from "./attend.ts"
import type { ClientError } from "./errors.ts"
import type { FollowOptions, streams } from "./follow.ts"
import { mint } from "./ids.ts"
import type { SessionAt, TurnAt } from "./input.ts"
import type { turns } from "./turns.ts"

/** How to wait for a turn's end. */
export interface WaitTurn extends TurnAt, FollowOptions, Attending {
  /** Told of every event of the turn's stream, in order. */
  readonly onEvent?: ((event: TurnStreamEventValue) => Effect.Effect<void>) | undefined
}

/** A prompt, and how to wait for its turn's end. */
export type RunTurn = SessionAt &
  typeof SubmitPromptRequest.Encoded &
  Omit<WaitTurn, "turnId" | "after"> & {
    /** Minted when left out. The same id again, with the same prompt, is the same turn. */
    readonly turnId?: string | undefined
    /** Giving up waiting also cancels the turn. Otherwise it goes on without us. */
    readonly cancelOnInterrupt?: boolean | undefined
  }

const ahead = (error: ClientError) => error._tag === "ConflictError" && error.code === "cursor.ahead"

/** Waiting for turns, over however many connections and restarts of the server. */
export const waiting = (
  { submit, get, cancel }: ReturnType<typeof turns>,
  { followTurn }: ReturnType<typeof streams>,
  attend: ReturnType<typeof attending>
) => {
  const terminal = ({ onEvent = () => Effect.void, ...input }: WaitTurn): Effect.Effect<TurnChange, ClientError> =>
    followTurn(input).pipe(
      Stream.tap(onEvent),
      Stream.filterMap((event) => (event.type === "turn.terminal" ? Option.some(event.turn) : Option.none())),
      Stream.runHead,
      // The stream ends with a terminal event or with an error: nothing else is an end.
      Effect.flatMap(
        Option.match({ onNone: () => Effect.dieMessage("a turn's stream has no end"), onSome: Effect.succeed })
      )
    )

  /** The turn at its end. A stream that breaks is never an end. */
  const endOf = (input: WaitTurn): Effect.Effect<TurnSnapshot, ClientError> =>
    Effect.gen(function* () {
      const { prompt, ...ended } = yield* terminal(input)
      if (ended.turnId === input.turnId && prompt !== undefined) return { ...ended, prompt }
      // Too long for an event; or a steer, which acts on the turn it joined: if that ended without taking it, it has become
      // a turn of its own.
      const turn = yield* get(input)
      return isTerminal(turn.state) ? turn : yield* endOf({ ...input, after: undefined })
    }).pipe(
      // The server knows less than it told us. From its present state there is still an end to wait for.
      Effect.catchIf(ahead, () => endOf({ ...input, after: undefined }))
    )

  /** The same, with somebody to answer what the turn asks. */
  const waitTurn = (input: WaitTurn): Effect.Effect<TurnSnapshot, ClientError> => {
    const { onAsk, onQuestion, ...plain } = input
    if (onAsk === undefined && onQuestion === undefined) return endOf(plain)
    const { onEvent = () => Effect.void, onLost = () => Effect.void } = plain
    return attend(input, (hearing) =>
      endOf({
        ...plain,
        onEvent: (event) => Effect.zipRight(hearing.onEvent(event), onEvent(event)),
        onLost: (error) => Effect.zipRight(hearing.onLost, onLost(error))
      })
    )
  }

  /** Hands a prompt in and waits for the end of its turn. */
  const runTurn = ({
    turnId,
    onEvent,
    onLost,
    maxDowntime,
    onAsk,
    onQuestion,
    cancelOnInterrupt = false,
    ...prompt
  }: RunTurn) =>
    Effect.gen(function* () {
      const watching = { onEvent, onLost, maxDowntime, onAsk, onQuestion }
      const at = { server: prompt.server, sessionId: prompt.sessionId, turnId: turnId ?? (yield* mint("turn")) }
      const run = Effect.zipRight(submit({ ...prompt, ...at }), waitTurn({ ...at, ...watching }))
      return yield* cancelOnInterrupt
        ? Effect.onInterrupt(run, () =>
            cancel(at).pipe(Effect.interruptible, Effect.timeout("5 seconds"), Effect.ignore)
          )
        : run
    })

  return { waitTurn, runTurn }
}
