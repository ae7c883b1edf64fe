import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import { Schema } from "effect"
import { JsonObject } from "./schema/Json.ts"

const withDefault = <A, I>(schema: Schema.Schema<A, I>, value: () => NoInfer<A>) =>
  schema.pipe(Schema.propertySignature, Schema.withConstructorDefault(value))

/** The body of every error: `message` is for a person, `code` for a program. The edge fills in `requestId`. */
const wire = {
  code: Schema.String,
  message: Schema.String,
  retryable: withDefault(Schema.Boolean, () => false),
  requestId: withDefault(Schema.String, () => ""),
  details: Schema.optional(JsonObject)
}

/** The request is wrong as it stands. 400; 405, 413, 415 and 431 for what HTTP itself has a word for. */
export class ValidationError extends Schema.TaggedError<ValidationError>()(
  "ValidationError",
  wire,
  HttpApiSchema.annotations({ status: 400 })
) {}

/** No token, or one nobody knows. */
export class UnauthorizedError extends Schema.TaggedError<UnauthorizedError>()(
  "UnauthorizedError",
  wire,
  HttpApiSchema.annotations({ status: 401 })
) {}

/** Known, and not allowed. 403; 421 for a Host that is not ours. */
export class ForbiddenError extends Schema.TaggedError<ForbiddenError>()(
  "ForbiddenError",
  wire,
  HttpApiSchema.annotations({ status: 403 })
) {}

/** Nothing of this kind has this id. */
export class NotFoundError extends Schema.TaggedError<NotFoundError>()(
  "NotFoundError",
  wire,
  HttpApiSchema.annotations({ status: 404 })
) {}

/** The request and the present state do not fit together. */
export class ConflictError extends Schema.TaggedError<ConflictError>()(
  "ConflictError",
  wire,
  HttpApiSchema.annotations({ status: 409 })
) {}

/** This entry id already steers with other content, or another turn. */
export class SteerConflictError extends Schema.TaggedError<SteerConflictError>()(
  "SteerConflictError",
  wire,
  HttpApiSchema.annotations({ status: 409 })
) {}

/** The turn is not running. */
export class TurnNotActiveError extends Schema.TaggedError<TurnNotActiveError>()(
  "TurnNotActiveError",
  wire,
  HttpApiSchema.annotations({ status: 409 })
) {}

/** The turn runs, but takes no more steers: its end is asked for, or accepted. */
export class TurnNotSteerableError extends Schema.TaggedError<TurnNotSteerableError>()(
  "TurnNotSteerableError",
  wire,
  HttpApiSchema.annotations({ status: 409 })
) {}

/** Not now; `Retry-After` says when. 503; 429 when the caller is the reason. */
export class UnavailableError extends Schema.TaggedError<UnavailableError>()(
  "UnavailableError",
  wire,
  HttpApiSchema.annotations({ status: 503 })
) {}

/** Our fault. */
export class InternalServerError extends Schema.TaggedError<InternalServerError>()(
  "InternalServerError",
  wire,
  HttpApiSchema.annotations({ status: 500 })
) {}

/** Every 409. */
export const ConflictErrors = Schema.Union(
  ConflictError,
  SteerConflictError,
  TurnNotActiveError,
  TurnNotSteerableError
).annotations({ identifier: "ConflictErrors" })
export type ConflictErrors = typeof ConflictErrors.Type

/** Every error on the wire. */
export const EndpointErrors = Schema.Union(
  ValidationError,
  UnauthorizedError,
  ForbiddenError,
  NotFoundError,
  ConflictError,
  SteerConflictError,
  TurnNotActiveError,
  TurnNotSteerableError,
  UnavailableError,
  InternalServerError
).annotations({ identifier: "EndpointErrors" })
export type EndpointErrors = typeof EndpointErrors.Type

const statusByCode: Record<string, number> = {
  "method.not_allowed": 405,
  "request.too_large": 413,
  "request.content_type": 415,
  "request.headers_too_large": 431,
  "host.refused": 421,
  "rate.limited": 429,
  overloaded: 429
}
const statusByTag: Record<EndpointErrors["_tag"], number> = {
  ValidationError: 400,
  UnauthorizedError: 401,
  ForbiddenError: 403,
  NotFoundError: 404,
  ConflictError: 409,
  SteerConflictError: 409,
  TurnNotActiveError: 409,
  TurnNotSteerableError: 409,
  UnavailableError: 503,
  InternalServerError: 500
}

/** The HTTP status an error is sent with. */
export const statusOf = (error: { readonly _tag: EndpointErrors["_tag"]; readonly code: string }): number =>
  statusByCode[error.code] ?? statusByTag[error._tag]
