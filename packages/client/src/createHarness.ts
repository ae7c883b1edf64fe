import type { PermissionRequest, Question, TurnSnapshot, TurnStreamEventValue } from "@harness/protocol"
import { Effect, Exit } from "effect"
import type { AskReply, QuestionReply } from "./Asks.ts"
import type { ConnectOptions } from "./Connection.ts"
import type { ClientError } from "./errors.ts"
import { foldTurn } from "./fold.ts"
import type { FollowOptions } from "./follow.ts"
import { HarnessClient } from "./HarnessClient.ts"
import { type HarnessError, harnessError, rejection } from "./HarnessError.ts"
import { mint } from "./ids.ts"
import type { ServerAt, SessionAt, TurnAt } from "./input.ts"
import { type Abortable, iterable, method, promised } from "./promises.ts"
import type { RunTurn, WaitTurn } from "./runTurn.ts"
import { type TextChange, textChanges } from "./textChanges.ts"

type Callbacks = "onEvent" | "onLost" | "onAsk" | "onQuestion" | "cancelOnInterrupt"

/** Ends when somebody else was faster, and when the turn is over. */
interface While {
  readonly signal: AbortSignal
}

/** What can be watched while a turn is waited for. A callback that throws ends the waiting with what it threw. */
export interface Watching {
  /** Every event of the turn's stream, and the turn as it is then. */
  readonly onEvent?: ((event: TurnStreamEventValue, turn: TurnSnapshot | undefined) => void) | undefined
  /** Growing text as a screen shows it: from `offset` on it is now `text`. */
  readonly onText?: ((change: TextChange) => void) | undefined
  /** The turn, or one below it, may not run a call without a yes. Told once; an answer of undefined leaves it to others. */
  readonly onAsk?: ((request: PermissionRequest, until: While) => Promise<AskReply | undefined>) | undefined
  /** The agent, or one below it, wants to know something. Told once; an answer of undefined leaves it to others. */
  readonly onQuestion?: ((question: Question, until: While) => Promise<QuestionReply | undefined>) | undefined
  /** Every lost connection; it is being mended. */
  readonly onLost?: ((error: HarnessError) => void) | undefined
}

/** A prompt to a session, which is made if it is missing, and under a minted id if none is given. */
export type PromptInput = Omit<RunTurn, Callbacks | "sessionId"> &
  Watching &
  Abortable & {
    readonly sessionId?: string | undefined
    /** Aborting also cancels the turn. Otherwise it goes on without us. */
    readonly cancelOnAbort?: boolean | undefined
  }

/** A turn to wait for. */
export type WaitInput = Omit<WaitTurn, Callbacks> & Watching & Abortable

/** How to follow a stream in a `for await` loop. */
export type EventsInput = Omit<FollowOptions, "onLost"> & Pick<Watching, "onLost"> & Abortable

const asked = <A, R>(callback: ((asked: A, until: While) => Promise<R | undefined>) | undefined) =>
  callback && ((it: A) => Effect.promise(async (signal) => callback(it, { signal })))

const watching = ({ onAsk, onEvent, onLost, onQuestion, onText }: Watching) => {
  let turn: TurnSnapshot | undefined
  return {
    onEvent: (event: TurnStreamEventValue) =>
      Effect.sync(() => {
        const before = turn
        turn = foldTurn(turn, event)
        if (onText !== undefined && turn !== undefined) textChanges(before, turn).forEach(onText)
        onEvent?.(event, turn)
      }),
    onAsk: asked(onAsk),
    onQuestion: asked(onQuestion),
    ...lost(onLost)
  }
}

const lost = (onLost: Watching["onLost"]) =>
  onLost === undefined ? {} : { onLost: (error: ClientError) => Effect.sync(() => onLost(harnessError(error))) }

/**
 * A server, from afar, for people who do not use Effect: promises that reject with a HarnessError, and async iterables of
 * events. Every method takes one object; its second argument may hold an AbortSignal.
 */
export const createHarness = (options: ConnectOptions) => {
  const made = Effect.runSyncExit(HarnessClient.make(options))
  if (Exit.isFailure(made)) throw rejection(made.cause)
  const { system, servers, sessions, turns, queue, permissions, questions, calls, compactions, ...client } = made.value
  const { agents, hooks, webhooks, runtime } = client
  const { followSession, followTurn, followServer, runTurn, waitTurn } = client

  return {
    health: (options?: Abortable) => promised(system.health, options),
    capabilities: (options?: Abortable) => promised(system.capabilities, options),
    openapi: (options?: Abortable) => promised(system.openapi, options),
    metrics: (options?: Abortable) => promised(system.metrics, options),
    logs: method(system.logs),
    servers: { delete: method(servers.delete) },
    sessions: {
      create: method(sessions.create),
      get: method(sessions.get),
      list: method(sessions.list),
      update: method(sessions.update),
      delete: method(sessions.delete),
      configuration: method(sessions.configuration),
      configure: method(sessions.configure),
      status: method(sessions.status),
      history: method(sessions.history),
      children: method(sessions.children),
      fork: method(sessions.fork),
      cancel: method(sessions.cancel),
      background: method(sessions.background),
      append: method(sessions.append)
    },
    turns: {
      submit: method(turns.submit),
      submitAndWait: method(turns.submitAndWait),
      get: method(turns.get),
      list: method(turns.list),
      cancel: method(turns.cancel),
      steer: method(turns.steer),
      /** The turn at its end, however often the connection or the server goes away meanwhile. */
      wait: ({ signal, onEvent, onText, onAsk, onQuestion, onLost, ...input }: WaitInput): Promise<TurnSnapshot> =>
        promised(waitTurn({ ...input, ...watching({ onEvent, onText, onAsk, onQuestion, onLost }) }), { signal })
    },
    queue: { list: method(queue.list), edit: method(queue.edit), withdraw: method(queue.withdraw) },
    permissions: {
      list: method(permissions.list),
      below: method(permissions.below),
      reply: method(permissions.reply),
      grants: method(permissions.grants),
      removeGrant: method(permissions.removeGrant)
    },
    questions: {
      list: method(questions.list),
      below: method(questions.below),
      reply: method(questions.reply),
      reject: method(questions.reject)
    },
    calls: { resolve: method(calls.resolve) },
    compactions: {
      submit: method(compactions.submit),
      get: method(compactions.get),
      list: method(compactions.list),
      cancel: method(compactions.cancel)
    },
    agents: { list: method(agents.list) },
    hooks: { list: method(hooks.list), put: method(hooks.put), delete: method(hooks.delete) },
    webhooks: {
      list: method(webhooks.list),
      put: method(webhooks.put),
      delete: method(webhooks.delete),
      redeliver: method(webhooks.redeliver)
    },
    runtime: { reload: method(runtime.reload) },
    /** Hands a prompt in and answers its turn at its end, whatever became of it: look at `state`. */
    prompt: ({
      signal,
      cancelOnAbort,
      onEvent,
      onText,
      onAsk,
      onQuestion,
      onLost,
      ...input
    }: PromptInput): Promise<TurnSnapshot> =>
      promised(
        Effect.flatMap(input.sessionId === undefined ? mint("session") : Effect.succeed(input.sessionId), (sessionId) =>
          runTurn({
            ...input,
            sessionId,
            session: input.session ?? {},
            cancelOnInterrupt: cancelOnAbort,
            ...watching({ onEvent, onText, onAsk, onQuestion, onLost })
          })
        ),
        { signal }
      ),
    /** Events as they come, over as many connections as it takes. */
    events: {
      session: ({ signal, onLost, ...input }: SessionAt & EventsInput) =>
        iterable(followSession({ ...input, ...lost(onLost) }), { signal }),
      turn: ({ signal, onLost, ...input }: TurnAt & EventsInput) =>
        iterable(followTurn({ ...input, ...lost(onLost) }), { signal }),
      server: ({ signal, onLost, ...input }: ServerAt & EventsInput) =>
        iterable(followServer({ ...input, ...lost(onLost) }), { signal })
    }
  }
}

/** What `createHarness` makes. */
export type Harness = ReturnType<typeof createHarness>
