import { Effect, type Fiber, FiberRef, type Scheduler } from "effect"

/** How long what does not speak runs before sockets are looked at again. */
const SLICE_MILLIS = 0.5

/** The priority of what speaks: whoever listens notices a gap in a word more than a first word that comes later. */
export const SPEAKING = -1

/** A turn counts as having waited since it began, but not longer than this: nobody waits behind older ones for ever. */
const AGE_MILLIS = 5_000

type Task = () => void

interface Waiting {
  readonly since: number
  readonly task: Task
}

/**
 * Runs fibers in slices, so that the loop turns between them. Two hundred turns that begin at once would otherwise hold it
 * until the last of them has asked its model, and the words of those who speak already would wait that long in their sockets.
 * Of what does not speak, what began first goes first: its priority is when that was, on the clock of `now`.
 *
 * Only for fibers that lose nothing when the loop turns between two of their steps: what a socket or a process emits before
 * anybody listens is gone.
 */
export class Slices implements Scheduler.Scheduler {
  private speaking: Array<Task> = []
  /** By `since`. */
  private readonly rest: Array<Waiting> = []
  private isAwake = false
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number

  constructor(now: () => number) {
    this.now = now
  }

  /** Whether something waits that does not speak. */
  get isBehind(): boolean {
    return this.rest.length > 0
  }

  shouldYield(fiber: Fiber.RuntimeFiber<unknown, unknown>): number | false {
    return fiber.currentOpCount > fiber.getFiberRef(FiberRef.currentMaxOpsBeforeYield)
      ? fiber.getFiberRef(FiberRef.currentSchedulingPriority)
      : false
  }

  scheduleTask(task: Task, priority: number): void {
    if (priority <= SPEAKING) this.speaking.push(task)
    else this.queue(task, priority)
    if (this.isAwake) return
    this.isAwake = true
    queueMicrotask(this.slice)
  }

  private queue(task: Task, begun: number): void {
    const since = Math.max(begun, this.now() - AGE_MILLIS)
    const before = this.rest.findLastIndex((one) => one.since <= since)
    this.rest.splice(before + 1, 0, { since, task })
  }

  /** All that speaks, and as much as there is time for of the rest and of what speaks again; one at least. */
  private readonly slice = (): void => {
    this.speak()
    const until = this.now() + SLICE_MILLIS
    do {
      this.rest.shift()?.task()
      this.speak()
      this.isAwake = this.rest.length > 0 || this.speaking.length > 0
    } while (this.isAwake && this.now() < until)
    if (this.isAwake) setImmediate(this.slice)
  }

  private speak(): void {
    const { speaking } = this
    if (speaking.length === 0) return
    this.speaking = []
    for (const task of speaking) task()
  }
}

/** The process has one loop. */
export const slices = new Slices(() => performance.now())

/** Runs something in slices. */
export const inSlices = Effect.withScheduler(slices)

/** Runs something in slices as what begins now: what began before it goes first. */
export const inTurn = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => Effect.withSchedulingPriority(inSlices(effect), slices.now()))
