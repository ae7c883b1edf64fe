import {
  ConflictError,
  NotFoundError,
  SteerConflictError,
  TurnNotActiveError,
  TurnNotSteerableError,
  UnavailableError,
  ValidationError
} from "@harness/protocol"

export const sessionNotFound = (sessionId: string) =>
  new NotFoundError({ code: "session.not_found", message: `there is no session ${sessionId}` })
export const turnNotFound = (turnId: string) =>
  new NotFoundError({ code: "turn.not_found", message: `this session has no turn ${turnId}` })
export const entryNotFound = (entryId: string) =>
  new NotFoundError({ code: "entry.not_found", message: `this session has no entry ${entryId}` })
export const sessionDeleted = (sessionId: string) =>
  new ConflictError({ code: "session.deleted", message: `session ${sessionId} was deleted; its id is not used again` })
export const mismatch = (what: string, id: string) =>
  new ConflictError({
    code: "idempotency.mismatch",
    message: `${what} ${id} exists already, and was asked for with another body`
  })
export const busy = (turnId: string | undefined) =>
  new ConflictError({
    code: "turn.busy",
    message: "the session is busy",
    retryable: true,
    ...(turnId === undefined ? {} : { details: { activeTurnId: turnId } })
  })
export const notQueued = (turnId: string) =>
  new ConflictError({ code: "turn.not_queued", message: `turn ${turnId} is not waiting in the queue` })
export const overloaded = () =>
  new UnavailableError({ code: "overloaded", message: "the session's queue is full", retryable: true })
export const steerConflict = (entryId: string) =>
  new SteerConflictError({
    code: "steer.conflict",
    message: `entry ${entryId} already steers, with other content or another turn`
  })
export const turnNotActive = (turnId: string) =>
  new TurnNotActiveError({ code: "turn.not_active", message: `turn ${turnId} is not running` })
export const turnNotSteerable = (turnId: string) =>
  new TurnNotSteerableError({ code: "turn.not_steerable", message: `turn ${turnId} is ending` })
export const tooLong = () =>
  new ValidationError({ code: "request.too_large", message: "no event could carry this: it is too close to 1 MiB" })
export const unknownPlace = () =>
  new ValidationError({ code: "cursor.invalid", message: "after or before names nothing in this list" })
export const agentUnknown = () =>
  new ValidationError({ code: "agent.unknown", message: "there is no agent of that name" })
