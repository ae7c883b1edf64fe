import { statusOf } from "@harness/protocol"
import { Cause, Option } from "effect"
import type { ClientError } from "./errors.ts"

/** What a promise of this client rejects with: a plain Error that says what went wrong in fields. */
export class HarnessError extends Error {
  /** What happened, for a program: `session.not_found`, `client.disconnected`, … */
  readonly code: string
  /** The HTTP status; undefined when no answer of the server's is behind it. */
  readonly status: number | undefined
  /** Whether the same may work later. */
  readonly retryable: boolean
  readonly details: { readonly [key: string]: unknown } | undefined
  /** Names the request in the server's log. */
  readonly requestId: string | undefined

  constructor(
    name: string,
    message: string,
    fields: Pick<HarnessError, "code" | "retryable"> &
      Partial<Pick<HarnessError, "status" | "details" | "requestId">> & { readonly cause?: unknown }
  ) {
    super(message, { cause: fields.cause })
    this.name = name
    this.code = fields.code
    this.status = fields.status
    this.retryable = fields.retryable
    this.details = fields.details
    this.requestId = fields.requestId
  }
}

/** A failure as a HarnessError. */
export const harnessError = (failure: ClientError): HarnessError => {
  const { _tag, message, code, retryable } = failure
  switch (failure._tag) {
    case "Disconnected": {
      const { reason, mayHaveBeenAccepted } = failure
      return new HarnessError(_tag, message, {
        code,
        retryable,
        details: { reason, mayHaveBeenAccepted },
        cause: failure
      })
    }
    case "ProtocolMismatch": {
      const { status, issues } = failure
      const details = issues === undefined ? undefined : { issues }
      return new HarnessError(_tag, message, { code, retryable, status, details, cause: failure })
    }
    default: {
      const { details, requestId } = failure
      // An error without a request id never was on the wire: it is our own check of the input.
      const sent = requestId === "" ? {} : { status: statusOf(failure), requestId }
      return new HarnessError(_tag, message, { code, retryable, details, ...sent, cause: failure })
    }
  }
}

/** What a promise rejects with. A defect, ours or a callback's, stays what was thrown. */
export const rejection = (cause: Cause.Cause<ClientError>): unknown =>
  Option.match(Cause.failureOption(cause), { onNone: () => Cause.squash(cause), onSome: harnessError })
