import { Option, Schema, Stream } from "effect"
import type { FinderError } from "./finderError.ts"
import { excerptOf, type FileLines } from "./lines.ts"

const Text = Schema.Struct({ text: Schema.optional(Schema.String), bytes: Schema.optional(Schema.String) })
const Message = Schema.parseJson(
  Schema.Union(
    Schema.Struct({ type: Schema.Literal("begin"), data: Schema.Struct({ path: Text }) }),
    Schema.Struct({
      type: Schema.Literal("match"),
      data: Schema.Struct({
        lines: Text,
        line_number: Schema.NullOr(Schema.Int),
        submatches: Schema.Array(Schema.Struct({ start: Schema.Int }))
      })
    }),
    Schema.Struct({
      type: Schema.Literal("end"),
      data: Schema.Struct({ binary_offset: Schema.NullOr(Schema.Int) })
    }),
    Schema.Struct({ type: Schema.Literal("summary") })
  )
)
const decodeMessage = Schema.decodeUnknownOption(Message)

const bytesOf = (text: typeof Text.Type): Buffer =>
  Buffer.from(text.text ?? text.bytes ?? "", text.text === undefined ? "base64" : "utf8")

type Line = FileLines["lines"][number]

const lineOf = (data: {
  readonly lines: typeof Text.Type
  readonly line_number: number | null
  readonly submatches: ReadonlyArray<{ readonly start: number }>
}): Line => {
  const bytes = bytesOf(data.lines)
  const text = bytes.toString().replace(/\r?\n$/, "")
  const at = bytes.subarray(0, data.submatches[0]?.start ?? 0).toString().length
  return { text: excerptOf(text, at), ...(data.line_number === null ? {} : { line: data.line_number }) }
}

interface Gathering {
  readonly file: string
  readonly lines: Array<Line>
}

/** Messages come file by file: `begin`, its matches, `end`. One too long to keep is a match in a very long line. */
export const gather = (messages: Stream.Stream<Uint8Array, FinderError>): Stream.Stream<FileLines, FinderError> =>
  messages.pipe(
    Stream.mapAccum(
      undefined as Gathering | undefined,
      (open, bytes): readonly [Gathering | undefined, ReadonlyArray<FileLines>] => {
        const message = Option.getOrUndefined(decodeMessage(Buffer.from(bytes).toString()))
        switch (message?.type) {
          case "begin":
            return [{ file: bytesOf(message.data.path).toString().replace(/^\.\//, ""), lines: [] }, []]
          case "match":
            open?.lines.push(lineOf(message.data))
            return [open, []]
          case "end":
            return [undefined, open === undefined || message.data.binary_offset !== null ? [] : [open]]
          case undefined:
            open?.lines.push({ text: "[a line too long to show]" })
            return [open, []]
          default:
            return [open, []]
        }
      }
    ),
    Stream.mapConcat((found) => found)
  )
