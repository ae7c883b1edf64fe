import { Either, Schema } from "effect"

/** A field nobody depends on: missing, null or of another type, it is read as not there, and the message stands. */
export const lenient = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.optional(Schema.UndefinedOr(schema).annotations({ decodingFallback: () => Either.right(undefined) }))

/** The same, read as `instead` when it is not there. */
export const lenientOr = <A, I>(schema: Schema.Schema<A, I>, instead: A) =>
  Schema.optionalWith(schema.annotations({ decodingFallback: () => Either.right(instead) }), {
    default: () => instead
  })

/** An error, as text: a string as it is, anything else as its JSON. Null says there is none. */
export const ErrorText = Schema.transform(Schema.Unknown, Schema.UndefinedOr(Schema.String), {
  strict: true,
  decode: (value) =>
    value === undefined || value === null ? undefined : typeof value === "string" ? value : JSON.stringify(value),
  encode: (text) => text
})
