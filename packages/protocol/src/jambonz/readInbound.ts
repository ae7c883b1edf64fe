import { Data, Either, Predicate, Schema } from "effect"
import { schemaIssues } from "../issues.ts"
import { events, OtherEvent } from "./events.ts"
import { type Inbound, messages } from "./inbound.ts"

/** Why a frame was not read. */
export type DropReason =
  | "malformed_json"
  | "not_an_object"
  | "missing_type"
  | "unknown_type"
  | "missing_id"
  | "invalid_id"
  | "invalid_call_sid"

/** A frame nobody acts on. It says why, of which known type, and at which field: nothing the frame held. */
export class DroppedFrame extends Data.TaggedError("DroppedFrame")<{
  readonly why: DropReason
  readonly type?: string
  readonly field?: string
}> {
  override get message() {
    const of = this.type === undefined ? "" : ` in ${this.type}`
    return `a frame was dropped: ${this.why}${of}${this.field === undefined ? "" : ` at ${this.field}`}`
  }
}

const parse = Schema.decodeUnknownEither(Schema.parseJson())

const hasKey = <T extends object>(table: T, key: string): key is Extract<keyof T, string> => Object.hasOwn(table, key)

const isMissing = (value: unknown) => value === undefined || value === null

const dropped = (frame: object, type: string, field: string) => {
  const value: unknown = Predicate.hasProperty(frame, field) ? frame[field] : undefined
  const why = isMissing(value) ? "missing_id" : field === "call_sid" ? "invalid_call_sid" : "invalid_id"
  return new DroppedFrame({ why, type, field })
}

const decode = (
  schema: Schema.Schema.AnyNoContext & { readonly Type: Inbound },
  frame: object,
  type: string
): Either.Either<Inbound, DroppedFrame> =>
  Schema.decodeUnknownEither(schema)(frame).pipe(
    Either.mapLeft((error) => dropped(frame, type, schemaIssues(error)[0]?.path ?? "type"))
  )

const readEvent = (frame: object): Either.Either<Inbound, DroppedFrame> => {
  const name: unknown = "name" in frame ? frame.name : undefined
  if (typeof name === "string" && hasKey(events, name)) return decode(events[name], frame, `event ${name}`)
  return decode(OtherEvent, { ...frame, type: "other_event", fields: frame }, "event")
}

/** Reads one text frame of jambonz. Only what is missing of its own ids refuses it; all else is read as well as it can be. */
export const readInbound = (text: string): Either.Either<Inbound, DroppedFrame> => {
  const json = parse(text)
  if (Either.isLeft(json)) return Either.left(new DroppedFrame({ why: "malformed_json" }))
  const frame = json.right
  if (!Predicate.isReadonlyRecord(frame)) return Either.left(new DroppedFrame({ why: "not_an_object" }))
  const { type } = frame
  if (typeof type !== "string") return Either.left(new DroppedFrame({ why: "missing_type" }))
  if (type === "event") return readEvent(frame)
  if (hasKey(messages, type)) return decode(messages[type], frame, type)
  return Either.left(new DroppedFrame({ why: "unknown_type" }))
}
