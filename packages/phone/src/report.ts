import type { EndReason } from "./frames.ts"
import { type HarnessFailure, type Heard, heardSoFar, type PhoneCall } from "./phoneCall.ts"

/** A frame, in the order both sides saw it. `lost` is what jambonz had to say while there was no socket. */
export interface Entry {
  readonly at: number
  readonly direction: "jambonz → harness" | "harness → jambonz" | "lost"
  readonly frame: unknown
}

/** A rule that was broken: by the harness, or by a script that could not be played. */
export interface Fault {
  readonly at: number
  readonly kind: "schema" | "refused" | "socket" | "script"
  readonly message: string
  readonly frame?: unknown
}

/** A call as it stands. */
export interface View {
  readonly call: PhoneCall
  readonly timeline: ReadonlyArray<Entry>
  readonly faults: ReadonlyArray<Fault>
  /** Frames of the harness that came too late to matter. */
  readonly late: number
  /** Pings of the harness that were answered. */
  readonly pings: number
}

/** What became of a call. */
export interface Report {
  readonly reason: EndReason | undefined
  readonly durationMs: number
  /** Why On failure ran, if it did. */
  readonly failure: HarnessFailure | undefined
  /** What the caller truly heard, in order. */
  readonly heard: ReadonlyArray<Heard>
  readonly timeline: ReadonlyArray<Entry>
  readonly faults: ReadonlyArray<Fault>
  readonly late: number
  readonly pings: number
}

/** A call, told from its end. */
export const reportOf = ({ call, faults, late, pings, timeline }: View): Report => ({
  reason: call.ended?.reason,
  durationMs: call.ended?.durationMs ?? Math.round(call.now - call.startedAt),
  failure: call.failure,
  heard: heardSoFar(call),
  timeline,
  faults,
  late,
  pings
})
