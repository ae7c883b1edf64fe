import { Context } from "effect"

/** What a call waits for, in milliseconds. */
interface Waits {
  /** For the first frame of a socket. */
  readonly start: number
  /** Between two looks whether a socket is still there. */
  readonly heartbeat: number
  /** For the next socket of a call that has none. */
  readonly resume: number
  /** For more of what the caller was heard to begin to say. */
  readonly speech: number
  /** For tools that run when a call ends. */
  readonly end: number
}

/** How long calls wait for the other side. Tests are less patient; everybody else has this. */
export class Patience extends Context.Reference<Patience>()("@harness/server/Patience", {
  defaultValue: (): Waits => ({ start: 10_000, heartbeat: 15_000, speech: 10_000, resume: 5_000, end: 30_000 })
}) {}
