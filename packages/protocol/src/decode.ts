import { Effect, Schema } from "effect"
import { schemaIssues } from "./issues.ts"

/** A value did not fit its schema: where, and why, never the value. */
export class SchemaError extends Schema.TaggedError<SchemaError>()("SchemaError", {
  issues: Schema.Array(Schema.Struct({ path: Schema.String, reason: Schema.String }))
}) {
  override get message() {
    return this.issues.map((issue) => `${issue.path === "" ? "value" : issue.path} ${issue.reason}`).join("; ")
  }
}

/** Decodes any outside value; fails with every path and reason. Unknown fields are ignored, unless the schema refuses them. */
export const decodeProtocol = <A, I>(
  schema: Schema.Schema<A, I>
): ((value: unknown) => Effect.Effect<A, SchemaError>) => {
  const decode = Schema.decodeUnknown(schema, { errors: "all" })
  return (value) => decode(value).pipe(Effect.mapError((error) => new SchemaError({ issues: schemaIssues(error) })))
}
