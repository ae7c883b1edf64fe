import { Effect, ParseResult, Schema } from "effect"

/** A value did not fit its schema: where, and why, never the value. */
export class SchemaError extends Schema.TaggedError<SchemaError>()("SchemaError", {
  issues: Schema.Array(Schema.Struct({ path: Schema.String, reason: Schema.String }))
}) {
  override get message() {
    return this.issues.map((issue) => `${issue.path === "" ? "value" : issue.path}: ${issue.reason}`).join("; ")
  }
}

/** What a value should have been, in words that never quote the value. */
const reasonOf = (issue: ParseResult.ParseError["issue"]): string => ParseResult.isComposite(issue) ? "is invalid" : issue._tag

/** Decodes any outside value; fails with paths and reasons. */
export const decodeProtocol = <A, I>(schema: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknown(schema)
  return (value: unknown): Effect.Effect<A, SchemaError> =>
    decode(value).pipe(Effect.mapError((error) => new SchemaError({ issues: [{ path: "", reason: reasonOf(error.issue) }] })))
}
