import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import { ForbiddenError, InternalServerError, UnauthorizedError, UnavailableError, ValidationError } from "../errors.ts"

/** What the edge may answer on any route, whatever the route does. */
export const withEdgeErrors = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
) =>
  api
    .addError(ValidationError)
    .addError(ValidationError, { status: 405 })
    .addError(ValidationError, { status: 413 })
    .addError(ValidationError, { status: 415 })
    .addError(ValidationError, { status: 431 })
    .addError(UnauthorizedError)
    .addError(ForbiddenError)
    .addError(ForbiddenError, { status: 421 })
    .addError(UnavailableError)
    .addError(UnavailableError, { status: 429 })
    .addError(InternalServerError)
