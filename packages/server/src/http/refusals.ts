import { ForbiddenError, NotFoundError, UnauthorizedError, UnavailableError, ValidationError } from "@harness/protocol"

// What the edge says no with. Host and Origin have their own beside their checks.

export const missing = new UnauthorizedError({
  code: "auth.missing",
  message: "a token is needed: Authorization: Bearer …"
})
export const unknown = new UnauthorizedError({ code: "auth.unknown", message: "this token is not known here" })
export const shuttingDown = new UnavailableError({
  code: "shutting_down",
  message: "this server is shutting down",
  retryable: true
})
export const badPath = new ValidationError({ code: "request.malformed", message: "the path is not well-formed" })
export const longId = new ValidationError({
  code: "request.invalid",
  message: "the path holds an id that is too long",
  details: { issues: [{ path: "path", reason: "holds an id that is too long" }] }
})
export const noRoute = new NotFoundError({ code: "route.not_found", message: "there is no such route" })
export const noMethod = (allow: string) =>
  new ValidationError({ code: "method.not_allowed", message: `this route answers ${allow}` })
export const needsScope = (needed: string) =>
  new ForbiddenError({ code: "auth.scope", message: `this token lacks the scope ${needed}`, details: { needed } })
export const otherServer = new ForbiddenError({ code: "auth.server", message: "this token is for other servers" })
