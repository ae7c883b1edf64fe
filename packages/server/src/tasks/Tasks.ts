import { join } from "node:path"
import {
  type CallResult,
  type JsonObject,
  MAX_STEPS_DEFAULT,
  OutputContract,
  PolicyLayer,
  SessionId,
  ThinkingLevel,
  type ToolTurnPart,
  TurnId,
  TurnMode,
  type TurnOptions
} from "@harness/protocol"
import { Context, Effect, Either, Layer, Option, Schema } from "effect"
import { Agents } from "../agents/Agents.ts"
import { CommitRoom, type Tx } from "../log/Commit.ts"
import { Models } from "../models/Models.ts"
import { validateLayer } from "../permissions/policy.ts"
import { establish, living } from "../sessions/Sessions.ts"
import { configurationOf, type SessionRow, SessionsRepo } from "../sessions/SessionsRepo.ts"
import { Home } from "../storage/Home.ts"
import { outputCheck } from "../tools/outputSchema.ts"
import { errorResult, textResult } from "../tools/results.ts"
import { Bell } from "../turns/Bell.ts"
import { derivedId } from "../turns/envelope.ts"
import { type Passed, PendingRepo } from "../turns/PendingRepo.ts"
import type { Held } from "../turns/Progress.ts"
import { deliverCall, stopCall } from "../turns/pending.ts"
import { record } from "../turns/record.ts"
import { TasksRepo } from "../turns/TasksRepo.ts"
import { optionsOf, outcomeOf, type PartRow, type TurnRow, TurnsRepo } from "../turns/TurnsRepo.ts"

/** Sessions below the one a person opened. */
const DEPTH_MAX = 3
/** Children of one turn that live at the same time. */
const CHILDREN_MAX = 5

/** What a `task` call may say. */
const TaskArguments = Schema.Struct({
  prompt: Schema.NonEmptyString,
  agent: Schema.optional(Schema.NonEmptyString),
  title: Schema.optional(Schema.String),
  task_id: Schema.optional(SessionId),
  background: Schema.optional(Schema.Boolean),
  model: Schema.optional(Schema.String),
  mode: Schema.optional(TurnMode),
  thinking: Schema.optional(ThinkingLevel),
  systemPrompt: Schema.optional(Schema.String),
  tools: Schema.optional(PolicyLayer),
  output: Schema.optional(OutputContract),
  maxSteps: Schema.optional(Schema.Int.pipe(Schema.positive())),
  maxChildren: Schema.optional(Schema.Int.pipe(Schema.nonNegative())),
  pendingTimeoutMillis: Schema.optional(Schema.Int.pipe(Schema.positive()))
})
type TaskArguments = typeof TaskArguments.Type
const decode = Schema.decodeUnknownEither(TaskArguments)

/** The call that spawns. */
export interface Spawning {
  readonly row: PartRow
  readonly call: ToolTurnPart
  readonly passed: Passed
}

const refusals = {
  arguments: errorResult("tool.arguments_invalid", "task needs a prompt; its other fields are as its schema says."),
  depth: errorResult("task.too_deep", `Sub-agents may be at most ${DEPTH_MAX} deep. Do this yourself.`),
  children: (most: number) =>
    errorResult("task.too_many", `At most ${most} sub-agents of one turn may live at a time.`),
  steps: errorResult("task.no_steps", "This turn has no steps left to give to a sub-agent."),
  agent: errorResult("task.unknown_agent", "There is no agent of that name here."),
  model: errorResult("task.unknown_model", "There is no connected model of that name here."),
  child: errorResult("task.not_yours", "task_id names no sub-agent of this session."),
  tools: errorResult("policy.invalid_glob", "tools holds a glob that cannot be meant.")
}

/** A task may bound what its sub-agent spawns; a client's prompt may not. */
interface TaskOptions extends TurnOptions {
  readonly maxChildren?: number
}

const childrenMax = (turn: TurnRow): number => {
  const { maxChildren }: TaskOptions = optionsOf(turn)
  return Math.min(maxChildren ?? CHILDREN_MAX, CHILDREN_MAX)
}

const optionsFrom = (args: TaskArguments, maxSteps: number): TaskOptions => ({
  maxSteps,
  ...(args.maxChildren === undefined ? {} : { maxChildren: args.maxChildren }),
  ...(args.tools === undefined ? {} : { tools: args.tools }),
  ...(args.mode === undefined ? {} : { mode: args.mode }),
  ...(args.thinking === undefined ? {} : { thinking: args.thinking }),
  ...(args.systemPrompt === undefined ? {} : { systemPrompt: args.systemPrompt }),
  ...(args.output === undefined ? {} : { output: args.output })
})

const make = Effect.gen(function* () {
  const home = yield* Home
  const room = yield* CommitRoom
  const bell = yield* Bell
  const agents = yield* Agents
  const models = yield* Models

  /** The child's session: an own one that goes on, or a new one under an id derived from the call. */
  const childSession = (
    tx: Tx,
    held: Held,
    parent: SessionRow,
    spawning: Spawning,
    args: TaskArguments,
    agent: string,
    model: string
  ) =>
    Effect.gen(function* () {
      const { callId } = spawning.call
      if (args.task_id !== undefined) {
        const child = yield* SessionsRepo.find(tx, args.task_id)
        const from: { sessionId?: string } = JSON.parse(child?.spawnedFrom ?? "{}")
        return child === undefined || child.deletedAt !== null || from.sessionId !== parent.sessionId
          ? undefined
          : child
      }
      const sessionId = SessionId.make(derivedId("task", parent.sessionId, held.turn.turnId, callId))
      const before = yield* SessionsRepo.find(tx, sessionId)
      if (before !== undefined) return before
      const { permissions, tools } = configurationOf(parent)
      const session = {
        sessionId,
        requestHash: "",
        title: args.title ?? "",
        workdir: parent.workdir,
        spawnedFrom: { sessionId: parent.sessionId, turnId: held.turn.turnId, callId },
        depth: parent.depth + 1,
        configuration: { model, systemPrompt: "", agent, permissions, tools, externalTools: [] },
        defaultModel: model
      }
      return yield* establish(tx, home.server, session, { actorId: `agent:${held.turn.agent}` })
    })

  const childTurn = (
    child: SessionRow,
    held: Held,
    spawning: Spawning,
    args: TaskArguments,
    maxSteps: number,
    model: string,
    now: number,
    agent: string
  ): TurnRow => ({
    sessionId: child.sessionId,
    turnId: TurnId.make(derivedId("task", held.turn.sessionId, held.turn.turnId, spawning.call.callId)),
    seq: child.nextSeq,
    rank: child.nextSeq,
    state: "queued",
    revision: 0,
    attempt: 1,
    requestHash: "",
    prompt: JSON.stringify({ role: "user", content: [{ type: "text", text: args.prompt }] }),
    options: JSON.stringify(optionsFrom(args, maxSteps)),
    model,
    agent,
    mode: args.mode ?? "agent",
    outcome: JSON.stringify({ steps: [], usage: {} }),
    cancel: null,
    joined: null,
    actor: null,
    acceptedCursor: child.cursor,
    acceptedAt: now,
    startedAt: null,
    settledAt: null
  })

  /** Starts a sub-agent for a call: child, turn and waiting call in one commit. Answers why not, when it can't be. */
  const spawn = Effect.fn("Tasks.spawn")(function* (held: Held, spawning: Spawning, raw: JsonObject) {
    const decoded = decode(raw)
    if (Either.isLeft(decoded)) return refusals.arguments
    const args = decoded.right
    if (validateLayer(args.tools ?? {}).length > 0) return refusals.tools
    const check = args.output?.type === "json" ? outputCheck(args.output.schema) : Either.right(undefined)
    if (Either.isLeft(check)) return errorResult("schema.invalid", `output.schema ${check.left}`)
    const found = yield* agents.find(join(home.root, held.session.workdir), args.agent ?? "general")
    if (Option.isNone(found)) return refusals.agent
    const agent = found.value
    const model = args.model ?? agent.model ?? held.turn.model
    if ((yield* Effect.option(models.check(model)))._tag === "None") return refusals.model
    return yield* room.commit<CallResult | undefined, never>((tx) =>
      Effect.gen(function* () {
        const parent = yield* Effect.option(living(tx, held.turn.sessionId))
        const turn = yield* TurnsRepo.find(tx, held.turn.sessionId, held.turn.turnId)
        if (Option.isNone(parent) || turn?.state !== "running" || turn.attempt !== held.turn.attempt) return undefined
        if (parent.value.depth >= DEPTH_MAX) return refusals.depth
        const most = childrenMax(turn)
        if ((yield* TasksRepo.living(tx, turn.sessionId, turn.turnId)) >= most) return refusals.children(most)
        const rest = (optionsOf(turn).maxSteps ?? MAX_STEPS_DEFAULT) - outcomeOf(turn).steps.length
        const steps = Math.min(args.maxSteps ?? rest, agent.steps ?? rest, rest)
        if (steps <= 0) return refusals.steps
        const child = yield* childSession(tx, held, parent.value, spawning, args, agent.name, model)
        if (child === undefined) return refusals.child
        const started = yield* record(tx, {
          turn: childTurn(child, held, spawning, args, steps, model, tx.now, agent.name),
          causedBy: spawning.call.callId
        })
        yield* TasksRepo.insert(tx, {
          childSession: child.sessionId,
          childTurn: started.turnId,
          parentSession: turn.sessionId,
          parentTurn: turn.turnId,
          callId: spawning.call.callId,
          state: args.background === true ? "background" : "foreground"
        })
        const waiting = yield* stopCall(tx, turn, {
          row: spawning.row,
          call: { ...spawning.call, result: undefined },
          waiting: { kind: "child", childSession: child.sessionId },
          arguments: raw,
          passed: spawning.passed,
          deadline: args.pendingTimeoutMillis === undefined ? null : tx.now + args.pendingTimeoutMillis
        })
        if (args.background === true) yield* detachCall(tx, waiting, spawning.call.callId)
        tx.after(() => bell.wake(child.sessionId))
        tx.point("spawned", turn.sessionId)
        return undefined
      })
    )
  })

  /** Settles a call whose child goes on without it. */
  const detachCall = (tx: Tx, turn: Pick<TurnRow, "sessionId">, callId: string) =>
    Effect.gen(function* () {
      const pending = yield* PendingRepo.find(tx, turn.sessionId, callId)
      const task = yield* TasksRepo.ofCall(tx, turn.sessionId, callId)
      if (pending?.kind !== "child" || task === undefined) return false
      yield* TasksRepo.setState(tx, task, "background")
      const { childSession: sessionId, childTurn: turnId } = task
      yield* deliverCall(tx, bell, pending, {
        state: "completed",
        result: textResult(
          `The sub-agent ${sessionId} goes on in the background. Its result will come as a new prompt.`,
          {
            sessionId,
            turnId,
            background: true
          }
        )
      })
      return true
    })

  /** Lets go of the sub-agents this session waits for: each result comes later, as a turn. */
  const background = Effect.fn("Tasks.background")(function* (sessionId: SessionId) {
    return yield* room.commit((tx) =>
      Effect.gen(function* () {
        const session = yield* living(tx, sessionId)
        if (session.activeTurn === null) return { detached: false }
        let detached = false
        for (const { callId } of yield* PendingRepo.ofTurn(tx, sessionId, session.activeTurn)) {
          if (yield* detachCall(tx, session, callId)) detached = true
        }
        return { detached }
      })
    )
  })

  return { spawn, background }
})

/** Sub-agents: sessions that a call spawns. */
export class Tasks extends Context.Tag("@harness/server/Tasks")<Tasks, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(Tasks, make)
}
