import type { CallEvent, RefusalCode, ToHarness } from "./frames.ts"
import type { Output, PhoneCall } from "./phoneCall.ts"

type Unstamped<O> = O extends { readonly at: number } ? Omit<O, "at"> : never

/** One step of a call, while it is worked out: the call as it will be, and what happens because of it. */
export class Draft {
  call: PhoneCall
  readonly out: Array<Output> = []

  constructor(call: PhoneCall) {
    this.call = call
  }

  get at(): number {
    return this.call.now
  }

  set(change: Partial<PhoneCall>): void {
    this.call = { ...this.call, ...change }
  }

  happen(output: Unstamped<Output>): void {
    this.out.push({ ...output, at: this.at })
  }

  /** Says something to the harness; without a socket it is lost. */
  send(frame: ToHarness): void {
    this.happen({ _tag: this.call.connection._tag === "Up" ? "Sent" : "Lost", frame })
  }

  event(event: CallEvent): void {
    this.send({ type: "event", ...event })
  }

  refuse(code: RefusalCode, message: string, ref: string | undefined): void {
    this.event({ name: "error", code, message, ...(ref === undefined ? {} : { ref }) })
  }
}
