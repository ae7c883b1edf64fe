import {
  CancelTurnRequest,
  EditQueuedTurnRequest,
  PageQuery,
  type PageQueryValue,
  SessionTurnsQuery,
  SteerTurnRequest,
  SubmitPromptRequest,
  type TurnSnapshot,
  type TurnWaitTimedOutResponseValue,
  WAIT_MILLIS_MAX
} from "@harness/protocol"
import { Clock, Effect, Schema } from "effect"
import type { Api, Call } from "./api.ts"
import { type ClientError, ProtocolMismatch } from "./errors.ts"
import {
  checked,
  parted,
  partedOptional,
  type SessionAt,
  type SteerAt,
  sessionPath,
  steerPath,
  type TurnAt,
  turnPath
} from "./input.ts"

/** A page of a session's turns: the oldest, or those `after` or `before` a known one. */
export interface ListTurns extends SessionAt {
  readonly limit?: number | undefined
  readonly after?: string | undefined
  readonly before?: string | undefined
}

/** A prompt, and the turn that is to answer it. */
export type SubmitPrompt = TurnAt & typeof SubmitPromptRequest.Encoded

// Node gives an answer up that has no headers after 300 seconds; so does many a proxy, and sooner.
const WAIT_AT_ONCE = 240_000
const ASK_AGAIN_AFTER = 250

const urlParams = {}
const waitMillis = checked(Schema.Int.pipe(Schema.between(0, WAIT_MILLIS_MAX)))
const at = partedOptional(turnPath, CancelTurnRequest)
const inputs = {
  list: parted(sessionPath, SessionTurnsQuery),
  submit: parted(turnPath, SubmitPromptRequest),
  steer: parted(steerPath, SteerTurnRequest),
  queue: parted(sessionPath, PageQuery),
  edit: parted(turnPath, EditQueuedTurnRequest)
}

const unexpected = Effect.suspend(
  () => new ProtocolMismatch({ message: "the answer is a receipt where a turn was due, or the reverse" })
)

/** Turns: submitted, read, steered, stopped. */
export const turns = (api: Api, call: Call) => {
  const put = (input: SubmitPrompt, waitMillis?: number) =>
    Effect.flatMap(inputs.submit(input), ({ path, rest: payload }) =>
      waitMillis === undefined
        ? call("turns.submit", api.turns().submitPrompt({ path, urlParams, payload }))
        : call("turns.submitAndWait", api.turns().submitPrompt({ path, urlParams: { waitMillis }, payload }), {
            waitMillis
          })
    )
  const submit = (input: SubmitPrompt) =>
    Effect.flatMap(put(input), (answer) => ("disposition" in answer ? Effect.succeed(answer) : unexpected))
  const waitOnce = (input: SubmitPrompt, millis: number) =>
    Effect.flatMap(put(input, millis), (answer) => ("disposition" in answer ? unexpected : Effect.succeed(answer)))

  // A server that shuts down answers early; the one that comes after it is asked again.
  const waitUntil = (
    input: SubmitPrompt,
    deadline: number,
    left: number
  ): Effect.Effect<TurnSnapshot | TurnWaitTimedOutResponseValue, ClientError> =>
    Effect.gen(function* () {
      const turn = yield* waitOnce(input, Math.min(Math.max(0, left), WAIT_AT_ONCE))
      if (!("timedOut" in turn)) return turn
      const rest = deadline - (yield* Clock.currentTimeMillis)
      if (rest <= 0) return turn
      yield* Effect.sleep(Math.min(rest, ASK_AGAIN_AFTER))
      return yield* waitUntil(input, deadline, deadline - (yield* Clock.currentTimeMillis))
    })

  return {
    /** Hands a prompt in. Once this answers it is committed; the same again names the same turn. */
    submit,
    /** The same, and waits for the turn's end; `timedOut` is in the answer when that took longer. */
    submitAndWait: ({ waitMillis: millis, ...input }: SubmitPrompt & { readonly waitMillis: number }) =>
      Effect.flatMap(waitMillis(millis), (wait) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => waitUntil(input, now + wait, wait))
      ),
    get: (input: TurnAt) =>
      Effect.flatMap(at(input), ({ path }) => call("turns.get", api.turns().getTurn({ path, urlParams }))),
    /** One page, oldest first. */
    list: (input: ListTurns) =>
      Effect.flatMap(inputs.list(input), ({ path, rest }) =>
        call("turns.list", api.turns().listTurns({ path, urlParams: rest }))
      ),
    /** Asks a turn to stop; answers at once, however often. */
    cancel: (input: TurnAt & typeof CancelTurnRequest.Encoded) =>
      Effect.flatMap(at(input), ({ path, rest }) =>
        call("turns.cancel", api.turns().cancelTurn({ path, urlParams, payload: rest }))
      ),
    /** Says something to exactly this turn before its next step. */
    steer: (input: SteerAt & typeof SteerTurnRequest.Encoded) =>
      Effect.flatMap(inputs.steer(input), ({ path, rest }) =>
        call("turns.steer", api.turns().steerTurn({ path, urlParams, payload: rest }))
      )
  }
}

/** Turns accepted and not yet started. */
export const queue = (api: Api, call: Call) => ({
  /** One page, in the order they will run. */
  list: (input: SessionAt & PageQueryValue) =>
    Effect.flatMap(inputs.queue(input), ({ path, rest }) =>
      call("queue.list", api.queue().listQueue({ path, urlParams: rest }))
    ),
  /** Lets a queued turn say something else. */
  edit: (input: TurnAt & typeof EditQueuedTurnRequest.Encoded) =>
    Effect.flatMap(inputs.edit(input), ({ path, rest }) =>
      call("queue.edit", api.queue().editQueuedTurn({ path, urlParams, payload: rest }))
    ),
  /** Cancels a turn that has not started. */
  withdraw: (input: TurnAt & typeof CancelTurnRequest.Encoded) =>
    Effect.flatMap(at(input), ({ path, rest }) =>
      call("queue.withdraw", api.queue().withdrawQueuedTurn({ path, urlParams, payload: rest }))
    )
})
