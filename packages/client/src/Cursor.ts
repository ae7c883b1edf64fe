import { Either, Option } from "effect"
import { ProtocolMismatch } from "./errors.ts"
import type { Frame } from "./frames.ts"
import type { StreamKind } from "./streamKinds.ts"

/** The positions belong to another log than before: only a whole snapshot helps. */
export class Moved {
  readonly _tag = "Moved"
}

const mismatch = (what: string) => new ProtocolMismatch({ message: `a frame of the stream ${what}` })
const digits = /^\d{1,16}$/

/**
 * Where a reader stands in a log: the larger of the last id it was given and the position a frame without id named. What it
 * was given before is not given again.
 */
export class Cursor<Event> {
  private readonly kind: StreamKind<Event>
  private subject: string | undefined
  position: number | undefined

  constructor(kind: StreamKind<Event>, position: number | undefined) {
    this.kind = kind
    this.position = position
  }

  /** The event of a frame, if it is news. */
  take(frame: Frame): Either.Either<Option.Option<Event>, ProtocolMismatch | Moved> {
    const decoded = Either.mapLeft(this.kind.decode(frame.data), () => mismatch("does not fit its type"))
    if (Either.isLeft(decoded)) return decoded
    if (frame.id !== undefined && frame.id !== "" && !digits.test(frame.id))
      return Either.left(mismatch("has an id that is no position"))
    const id = frame.id === undefined || frame.id === "" ? undefined : Number(frame.id)
    if (Option.isNone(decoded.right)) {
      this.reach(id)
      return decoded
    }
    const event = decoded.right.value
    const subject = this.kind.subject(event)
    if (this.subject !== undefined && subject !== this.subject) {
      this.subject = undefined
      this.position = undefined
      return Either.left(new Moved())
    }
    this.subject = subject
    const old = id !== undefined && this.position !== undefined && id <= this.position
    if (old && !this.kind.announces(event) && !this.kind.ends(event)) return Either.right(Option.none())
    this.reach(id ?? this.kind.names(event, this.position))
    return decoded
  }

  private reach(position: number | undefined) {
    if (position !== undefined && position > (this.position ?? -1)) this.position = position
  }
}
