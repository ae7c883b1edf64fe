import { faultOf, isMarked } from "./check.ts"
import type { Output, PhoneCall } from "./phoneCall.ts"
import { refOf } from "./reading.ts"
import type { Entry, Fault, View } from "./report.ts"

/** Who wants to know of a call as it goes on. */
export interface Audience {
  readonly onEntry?: ((entry: Entry) => void) | undefined
  readonly onFault?: ((fault: Fault) => void) | undefined
  readonly onOutput?: ((output: Output) => void) | undefined
}

/** Keeps what was said on both sides, and what was wrong with it. */
export class Recorder {
  private readonly timeline: Array<Entry> = []
  private readonly faults: Array<Fault> = []
  private late = 0
  private pings = 0
  private readonly audience: Audience

  constructor(audience: Audience) {
    this.audience = audience
  }

  private enter(entry: Entry): void {
    this.timeline.push(entry)
    this.audience.onEntry?.(entry)
  }

  fault(fault: Fault): void {
    this.faults.push(fault)
    this.audience.onFault?.(fault)
  }

  ping(): void {
    this.pings += 1
  }

  /** A frame of the harness, before anybody acts on it. */
  received(call: PhoneCall, frame: unknown): void {
    const at = call.now
    this.enter({ at, direction: "harness → jambonz", frame })
    const wrong = faultOf(frame)
    if (wrong !== undefined) this.fault({ at, kind: "schema", message: wrong, frame })
    else if (isMarked(frame) && call.replies.has(refOf(frame) ?? "")) {
      this.fault({ at, kind: "schema", message: "interrupt and interruptible count on the first chunk alone", frame })
    }
  }

  happened(output: Output): void {
    const { at } = output
    this.audience.onOutput?.(output)
    if (output._tag === "Dropped") this.late += 1
    if (output._tag === "Lost") this.enter({ at, direction: "lost", frame: output.frame })
    if (output._tag !== "Sent") return
    const { frame } = output
    this.enter({ at, direction: "jambonz → harness", frame })
    if (frame.type !== "event" || frame.name !== "error") return
    const of = frame.ref === undefined ? "" : ` (${frame.ref})`
    this.fault({ at, kind: "refused", message: `${frame.code}: ${frame.message}${of}`, frame })
  }

  /** What was kept; it goes on growing. */
  view(call: PhoneCall): View {
    return { call, timeline: this.timeline, faults: this.faults, late: this.late, pings: this.pings }
  }
}
