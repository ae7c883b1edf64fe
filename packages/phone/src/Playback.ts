import { Data, Deferred, Effect } from "effect"
import type { Input } from "./floor.ts"
import type { PhoneCall } from "./phoneCall.ts"
import { act, idle, type Player, withSteps } from "./player.ts"
import type { Report } from "./report.ts"
import type { Step } from "./script.ts"

/** The call ended, and what was waited for has not come. */
export class CallOver extends Data.TaggedError("CallOver")<{ readonly report: Report }> {
  override get message() {
    return `the call is over (${this.report.failure?.message ?? this.report.reason ?? "no reason"})`
  }
}

/** A script wanted something that did not come. */
export class ScriptMissed extends Data.TaggedError("ScriptMissed")<{ readonly message: string }> {}

type Done = Deferred.Deferred<void, CallOver | ScriptMissed>

interface Batch {
  readonly steps: ReadonlyArray<Step>
  readonly done: Done
}

const waitedFor = {
  Now: "its turn",
  After: "time to pass",
  Free: "the floor to be free",
  Words: "a reply to interrupt",
  Replies: "a reply"
} as const

/** Steps that are being played, batch after batch. */
export class Playback {
  private readonly batches: Array<Batch> = []
  private player: Player = idle
  private done: Done | undefined
  private readonly patience: number

  /** `patience`: how long, in the call's time, one step may wait for the harness. */
  constructor(patience: number) {
    this.patience = patience
  }

  add(batch: Batch): void {
    this.batches.push(batch)
  }

  /** Plays as far as the call allows. */
  run(look: () => PhoneCall, give: (input: Input) => void, missed: (message: string) => void): void {
    for (;;) {
      const call = look()
      if (!this.begun(call)) return
      if (call.phase === "ended") {
        if (this.player.cues.length === 0) this.settle(Effect.void)
        return
      }
      const next = act(this.player, call)
      if (next._tag === "Act") {
        this.player = next.player
        if (next.input !== undefined) give(next.input)
      } else if (next._tag === "Played") {
        this.settle(Effect.void)
      } else if (next._tag === "Missed" || (next.until === undefined && call.now >= next.since + this.patience)) {
        const message = next._tag === "Missed" ? next.message : `waited in vain for ${waitedFor[next.on]}`
        missed(message)
        this.settle(Effect.fail(new ScriptMissed({ message })))
      } else return
    }
  }

  /** When to look again, if nothing else happens. */
  dueAt(call: PhoneCall): number | undefined {
    if (this.done === undefined) return undefined
    const next = act(this.player, call)
    return next._tag === "Wait" ? (next.until ?? next.since + this.patience) : call.now
  }

  /** Nothing more is played. */
  stop(report: Report): void {
    this.settle(Effect.fail(new CallOver({ report })))
    for (const { done } of this.batches.splice(0)) Deferred.unsafeDone(done, Effect.fail(new CallOver({ report })))
  }

  private begun(call: PhoneCall): boolean {
    const next = this.done === undefined ? this.batches.shift() : undefined
    if (next !== undefined) {
      this.player = withSteps(this.player, call, next.steps)
      this.done = next.done
    }
    return this.done !== undefined
  }

  private settle(outcome: Effect.Effect<void, CallOver | ScriptMissed>): void {
    if (this.done !== undefined) Deferred.unsafeDone(this.done, outcome)
    this.done = undefined
    this.player = { ...this.player, cues: [] }
  }
}
