import { schemaIssues } from "@harness/protocol"
import { Command, ReplyChunk, ReplyDone, ToolCall } from "@harness/protocol/jambonz"
import { Either, Predicate, Schema } from "effect"

const errors = { errors: "all" } as const

const readers: Readonly<
  Record<string, (frame: unknown) => Either.Either<unknown, Parameters<typeof schemaIssues>[0]>>
> = {
  "reply:chunk": Schema.decodeUnknownEither(ReplyChunk, errors),
  "reply:done": Schema.decodeUnknownEither(ReplyDone, errors),
  "tool:call": Schema.decodeUnknownEither(ToolCall, errors),
  command: Schema.decodeUnknownEither(Command, errors)
}

/** What is wrong with a frame of the harness, by the protocol's own schemas; undefined: nothing. */
export const faultOf = (frame: unknown): string | undefined => {
  if (!Predicate.isReadonlyRecord(frame)) return "no JSON object"
  const { type } = frame
  const read = typeof type === "string" && Object.hasOwn(readers, type) ? readers[type] : undefined
  if (read === undefined) return "no message of the harness"
  return Either.match(read(frame), {
    onLeft: (error) =>
      `${type}: ${schemaIssues(error)
        .map(({ path, reason }) => `${path === "" ? "it" : path} ${reason}`)
        .join("; ")}`,
    onRight: () => undefined
  })
}

const parse = Schema.decodeUnknownOption(Schema.parseJson())

/** A frame's JSON; undefined when it is none. */
export const frameOf = (text: string): unknown => {
  const json = parse(text)
  return json._tag === "Some" ? json.value : undefined
}

/** Marks that count on a reply's first chunk alone. */
export const isMarked = (frame: unknown): boolean =>
  Predicate.isReadonlyRecord(frame) &&
  frame["type"] === "reply:chunk" &&
  (frame["interrupt"] !== undefined || frame["interruptible"] !== undefined)
