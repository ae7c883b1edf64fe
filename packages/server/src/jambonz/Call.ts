import { TurnId } from "@harness/protocol"
import type { Inbound } from "@harness/protocol/jambonz"
import { Effect, FiberMap, Queue } from "effect"
import { isTerminalRow, type LogRow } from "../log/fact.ts"
import { type Delta, Hub } from "../log/Hub.ts"
import { inTurn } from "../log/Slices.ts"
import { Detached } from "../loop/Detached.ts"
import { Drafts } from "../loop/Drafts.ts"
import { mint } from "../storage/mint.ts"
import { Arrivals } from "../voice/Arrivals.ts"
import { ask, askingOf } from "./asks.ts"
import { callOffTurn } from "./callOff.ts"
import { commandFailed, commandResult } from "./commands.ts"
import { newControl } from "./control.ts"
import { cutsOff, cutUntold } from "./cutOff.ts"
import { arrivalOf, isKeptByTurn, KEEP_MILLIS, keepDelivered } from "./delivered.ts"
import { onEvent } from "./events.ts"
import { tellKeys } from "./keys.ts"
import { deleted, ended, giveUp, gone, goOn } from "./life.ts"
import { limitCost, timeOver } from "./limits.ts"
import { doWishes, partingEnded, partingOverdue } from "./parting.ts"
import { askFor, late, requestOverdue, toolResult } from "./requests.ts"
import { Speaker } from "./Speaker.ts"
import { type Input, newReply, type Scene, type TimerName, type Work } from "./scene.ts"
import { cancelled, committed, draft, speechEnds, speechStarts, steady, transcript } from "./speculation.ts"
import { Ticks } from "./Ticks.ts"
import { tellTool, toolDelayed, toolNewsOf } from "./toolLines.ts"
import { endTurn, fill, startTurn, unprompted } from "./turns.ts"

/** What one call may be behind with; most of it is for what its session tells. */
const INPUTS_MAX = 2_048
/** Frames a call is behind with before its socket is not listened to, and when it is again. */
const FRAMES_HIGH = 64
const FRAMES_LOW = 16

/** A call that is going on. */
export interface Call {
  readonly scene: Scene
  /** False: more is waiting than a call may have. */
  readonly offer: (input: Input) => boolean
  /** Done when the call can take another frame. */
  readonly hasRoom: Effect.Effect<void>
}

/** What is known of a call before its first frame, or after a restart. */
export type Beginning = Pick<
  Scene,
  "sessionId" | "callSid" | "agent" | "direction" | "voice" | "language" | "lastTurn" | "lastInput" | "startedAt"
>

const onFrame = (scene: Scene, frame: Inbound): Work => {
  switch (frame.type) {
    case "turn:start":
      return inTurn(Effect.zipRight(committed(scene, frame), startTurn(scene, frame)))
    case "turn:cancel":
      return Effect.zipRight(callOffTurn(scene, frame.turn_id), cancelled(scene, frame))
    case "speech:start":
      scene.control.streakBefore = 0
      return speechStarts(scene, frame)
    case "transcript":
      return transcript(scene, frame)
    case "tool:result":
      return Effect.zipRight(toolResult(scene, frame), draft(scene))
    case "command:result":
      return Effect.zipRight(commandResult(scene, frame), draft(scene))
    case "event":
      // What was heard changes what the caller's words are said to.
      return Effect.zipRight(onEvent(scene, frame), draft(scene))
    case "session:end":
      return ended(scene, frame)
    default:
      return Effect.void
  }
}

const onTimer = (scene: Scene, name: TimerName): Work => {
  if (name === "draft") return steady(scene)
  if (name === "speech") return speechEnds(scene)
  if (name === "filler") return fill(scene)
  if (name === "resume") return giveUp(scene)
  if (name === "parting") return partingOverdue(scene)
  if (name === "keys") return tellKeys(scene)
  if (name === "limit") return timeOver(scene)
  if (name.startsWith("delayed:")) return toolDelayed(scene, name.slice("delayed:".length))
  if (name === "delivered") return keepDelivered(scene)
  if (name.startsWith("cut:")) return cutUntold(scene, name.slice("cut:".length))
  if (name.startsWith("request:")) {
    const row = scene.requests.get(name.slice("request:".length))
    if (row === undefined) return Effect.void
    const over =
      row.kind === "command"
        ? commandFailed(scene, row, "no result came in time")
        : requestOverdue(scene, row.requestId)
    return Effect.zipRight(over, draft(scene))
  }
  return Effect.void
}

const handle = (scene: Scene, input: Input): Work => {
  switch (input._tag) {
    case "Frame":
      return onFrame(scene, input.frame)
    case "Started":
      return unprompted(scene, input.reply)
    case "Late":
      return late(scene, input.late)
    case "Asked":
      return ask(scene, input.asking)
    case "Waits":
      return Effect.zipRight(askFor(scene, input.turnId), doWishes(scene, input.turnId))
    case "Tool":
      return tellTool(scene, input.news)
    case "Settled":
      return Effect.all(
        [endTurn(scene, input.turnId), partingEnded(scene, input.turnId), limitCost(scene), draft(scene)],
        { discard: true }
      )
    case "Timer":
      return onTimer(scene, input.name)
    case "Attached":
      return goOn(scene, input)
    case "Gone":
      return gone(scene, input.wire)
    case "Deleted":
      return deleted(scene)
  }
}

/** Nobody wants to hear the rest: at once, whatever the call is busy with. */
const hush = (scene: Scene, frame: Inbound): void => {
  const mute = (isIt: (reply: Scene["speaker"]["all"][number]) => boolean) => {
    for (const reply of scene.speaker.all) if (isIt(reply) && reply.state === "open") reply.state = "muted"
  }
  if (frame.type === "turn:cancel") mute(({ turnNumber }) => turnNumber === frame.turn_id)
  if (frame.type === "event" && !("fields" in frame) && frame.name === "user_interruption") {
    mute(({ replyId }) => replyId === frame.reply_id)
  }
}

/** Starts a call's fiber, which lives until the call is over, whatever becomes of its sockets. */
export const beginCall = (beginning: Beginning) =>
  Effect.gen(function* () {
    const hub = yield* Hub
    const detached = yield* Detached
    const drafts = yield* Drafts
    const arrivals = yield* Arrivals
    const ticks = yield* Ticks
    const clock = yield* Effect.clock
    const inputs = yield* Queue.bounded<Input>(INPUTS_MAX)
    const timers = yield* FiberMap.make<TimerName>()
    const run = yield* FiberMap.runtime(timers)<never>()
    const { sessionId } = beginning

    const room = yield* Effect.makeLatch(true)
    let frames = 0

    const offer = (input: Input): boolean => {
      if (input._tag === "Frame") {
        hush(scene, input.frame)
        frames++
        if (frames > FRAMES_HIGH) room.unsafeClose()
      }
      return Queue.unsafeOffer(inputs, input)
    }
    const next = Effect.map(Queue.take(inputs), (input) => {
      if (input._tag === "Frame") frames--
      if (frames <= FRAMES_LOW) room.unsafeOpen()
      return input
    })
    const set = (name: TimerName, millis: number) => {
      run(
        name,
        Effect.zipRight(
          Effect.sleep(millis),
          Effect.sync(() => offer({ _tag: "Timer", name }))
        )
      )
    }
    const clear = (name: TimerName) => {
      run(name, Effect.void)
    }
    const speaker = new Speaker(() => clock.unsafeCurrentTimeMillis(), ticks.after)
    const control = newControl()
    speaker.onInterrupt = (by) => cutsOff(scene, by, clock.unsafeCurrentTimeMillis())
    let isKeeping = false
    const keepSoon = () => {
      if (scene.ended || arrivalOf(scene) === undefined) isKeeping = false
      else if (isKeptByTurn(hub.live, sessionId)) ticks.after(KEEP_MILLIS, keepSoon)
      else offer({ _tag: "Timer", name: "delivered" })
    }
    speaker.onArrival = () => {
      if (isKeeping) return
      isKeeping = true
      ticks.after(KEEP_MILLIS, keepSoon)
    }
    const scene: Scene = {
      ...beginning,
      speaker,
      timers: { set, clear },
      reply: undefined,
      callerSpeaks: false,
      utterance: undefined,
      unheard: "",
      unprompted: undefined,
      waiting: [],
      requests: new Map(),
      late: [],
      lateOwn: [],
      asking: undefined,
      control,
      fillers: 0,
      ended: false
    }

    /** A turn of the session begins that the call did not ask for. */
    const start = (turnId: TurnId) => {
      if (speaker.byTurn(turnId) !== undefined || scene.ended) return
      const startedAt = clock.unsafeCurrentTimeMillis()
      const reply = newReply({
        replyId: mint(startedAt),
        turnId,
        turnNumber: undefined,
        model: scene.agent,
        startedAt,
        state: "held",
        ...control.manners.get(turnId)
      })
      control.manners.delete(turnId)
      speaker.open(reply)
      offer({ _tag: "Started", reply })
    }
    const onRow = (row: LogRow) => {
      if (row.type === "deleted") offer({ _tag: "Deleted" })
      if (row.turnId === null) return
      const turnId = TurnId.make(row.turnId)
      if (row.type === "turn.started") start(turnId)
      else if (row.type === "turn.question.asked" || row.type === "turn.approval.requested") {
        offer({ _tag: "Asked", asking: askingOf(row) })
      } else if (row.type.startsWith("turn.tool.")) {
        const news = toolNewsOf(scene.voice, turnId, row)
        if (news !== undefined) offer({ _tag: "Tool", news })
      } else if (isTerminalRow(row)) offer({ _tag: "Settled", turnId })
      else if (row.type === "turn.snapshot" && row.body.includes('"state":"waiting"')) offer({ _tag: "Waits", turnId })
    }
    const onDelta = (delta: Delta) => {
      if (delta.kind === "reasoning") return
      const reply = speaker.byTurn(delta.turnId)
      if (reply !== undefined) speaker.grow(reply, delta.partId, delta.offset, delta.delta)
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => hub.listen(sessionId, { row: onRow, delta: onDelta })),
      (leave) => Effect.sync(leave)
    )
    yield* Effect.acquireRelease(
      Effect.sync(() => detached.listen(sessionId, (one) => offer({ _tag: "Late", late: one }))),
      (leave) => Effect.sync(leave)
    )
    yield* Effect.acquireRelease(
      Effect.sync(() => arrivals.join(sessionId, () => arrivalOf(scene))),
      (leave) => Effect.sync(leave)
    )
    yield* Effect.addFinalizer(() => Effect.sync(() => drafts.forget(sessionId)))
    const life = Effect.gen(function* () {
      while (!scene.ended) {
        const input = yield* next
        if (input._tag === "Timer" && input.name === "delivered") isKeeping = false
        yield* handle(scene, input).pipe(
          Effect.catchAllCause((cause) => Effect.logError("a call could not take something in", cause)),
          Effect.annotateLogs({ sessionId })
        )
      }
    })
    const call: Call = { scene, offer, hasRoom: room.await }
    return { call, life }
  })
