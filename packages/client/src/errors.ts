import type { EndpointErrors, SchemaIssue } from "@harness/protocol"
import { Data } from "effect"

/**
 * `unreachable`: no connection came about. `cut`: it ended too early. `silent`: nothing came in time. `gateway`: something
 * in between answered for the server. `down`: a stream was without a connection for longer than it may be.
 */
export type DisconnectedReason = "unreachable" | "cut" | "silent" | "gateway" | "down"

/** The server could not be reached, or was lost before its answer was whole. */
export class Disconnected extends Data.TaggedError("Disconnected")<{
  readonly reason: DisconnectedReason
  readonly message: string
  /** False only when the request certainly never reached the server. */
  readonly mayHaveBeenAccepted: boolean
  readonly cause?: unknown
}> {
  readonly code = "client.disconnected"
  readonly retryable = true
}

/** Something answered that does not speak this protocol, or another version of it. Never quotes what it sent. */
export class ProtocolMismatch extends Data.TaggedError("ProtocolMismatch")<{
  readonly message: string
  readonly status?: number
  readonly issues?: ReadonlyArray<SchemaIssue>
}> {
  readonly code = "client.protocol_mismatch"
  readonly retryable = false
}

/** Everything a call of this client can fail with: what the server said, or why nothing could be heard of it. */
export type ClientError = EndpointErrors | Disconnected | ProtocolMismatch
