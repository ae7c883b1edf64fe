import type * as HttpApiError from "@effect/platform/HttpApiError"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import { Effect, Option, type ParseResult, Schema, SchemaAST } from "effect"
import { ValidationError } from "./errors.ts"
import { type SchemaIssue, schemaIssues, unknownField } from "./issues.ts"
import { WholeNumber } from "./schema/Query.ts"
import { strict } from "./strict.ts"

// HttpApiDecodeError keeps formatted text alone, which would quote the value. This text is our issues instead.
const told = {
  message: (issue: ParseResult.ParseIssue) => ({ message: JSON.stringify(schemaIssues(issue)), override: true })
}

// New annotations drop a schema's identifier, and OpenAPI would then not know its name.
const named = (schema: Schema.Schema.All) =>
  Option.match(SchemaAST.getIdentifierAnnotation(schema.ast), {
    onNone: () => ({}),
    onSome: (identifier) => ({ identifier })
  })

/** A request body. */
export const body = <A, I>(schema: Schema.Schema<A, I>): Schema.Schema<A, I> =>
  schema.annotations({ ...named(schema), ...strict, ...told })

/** An answer with another status than 200. */
export const answer = <A, I>(status: 200 | 201 | 202, schema: Schema.Schema<A, I>): Schema.Schema<A, I> =>
  schema.annotations({ ...named(schema), ...HttpApiSchema.annotations({ status }) })

/** A request body that may be absent (the handler then gets null). */
export const optionalBody = <A, I>(schema: Schema.Schema<A, I>): Schema.Schema<A | null, I | null> =>
  body(Schema.NullOr(schema))

/** A route's query. It loses its name on purpose: OpenAPI lists parameters one by one. */
export const query = <A, I extends Readonly<Record<string, string | ReadonlyArray<string> | undefined>>>(
  schema: Schema.Schema<A, I>
): Schema.Schema<A, I> => schema.annotations({ ...strict, ...told })

/** The parameters in a path. */
export const params = <F extends Schema.Struct.Fields>(fields: F): Schema.Struct<F> =>
  Schema.Struct(fields).annotations({ ...strict, ...told })

/** For routes without query parameters: any is refused. */
export const NoQuery = Schema.Record({ key: Schema.String, value: Schema.Never }).annotations({ ...strict, ...told })

const issuesOf = (error: HttpApiError.HttpApiDecodeError): ReadonlyArray<SchemaIssue> =>
  error.issues.flatMap((issue) => {
    const decoded = decodeIssues(issue.message)
    return Option.getOrElse(decoded, () => [{ path: issue.path.map(String).join("."), reason: "is invalid" }])
  })
const decodeIssues = Schema.decodeUnknownOption(
  Schema.parseJson(Schema.Array(Schema.Struct({ path: Schema.String, reason: Schema.String })))
)

const cursorKeys = new Set(["afterCursor", "afterRevision", "afterServerCursor", "last-event-id"])

const invalid = (issues: ReadonlyArray<SchemaIssue>) =>
  new ValidationError({
    code: issues.some((issue) => cursorKeys.has(issue.path) && issue.reason !== unknownField)
      ? "cursor.invalid"
      : "request.invalid",
    message: issues.map((issue) => `${issue.path === "" ? "the request" : issue.path} ${issue.reason}`).join("; "),
    details: { issues }
  })

/** The 400 for a request that did not fit its schema: `cursor.invalid` or `request.invalid`, with every path and reason. */
export const invalidRequest = (error: HttpApiError.HttpApiDecodeError): ValidationError => invalid(issuesOf(error))

/** The header a browser's EventSource resumes with. */
export const ResumeHeaders = Schema.Struct({ "last-event-id": Schema.optional(Schema.String) })

/** Where a stream goes on: the query wins over `Last-Event-ID`; none of both starts live. */
export const resumePosition = (
  query: number | undefined,
  lastEventId: string | undefined
): Effect.Effect<Option.Option<number>, ValidationError> => {
  if (query !== undefined) return Effect.succeed(Option.some(query))
  if (lastEventId === undefined || lastEventId === "") return Effect.succeed(Option.none())
  return Schema.decodeUnknown(WholeNumber)(lastEventId).pipe(
    Effect.mapBoth({
      onSuccess: Option.some,
      onFailure: () => invalid([{ path: "last-event-id", reason: "must be a whole number in plain digits" }])
    })
  )
}
