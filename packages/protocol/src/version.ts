import { Option, Schema } from "effect"

/** The protocol this package describes. A client may rely on everything in it not changing. */
export const HARNESS_PROTOCOL_VERSION = 1

/** On every answer, SSE and errors included: `<protocol>/<release>`. */
export const SERVER_VERSION_HEADER = "ze-harness-version"
/** Sent by a client to say who it is; recorded as `actor.clientId`, and no credential. */
export const CLIENT_ID_HEADER = "ze-harness-client-id"
/** Names one request; echoed when the client sent a well-formed one, else minted. */
export const REQUEST_ID_HEADER = "x-request-id"

/** What a server says it is. Advice, no gate: a client may warn, and never repeats an accepted mutation for it. */
export const ServerVersion = Schema.Struct({
  protocol: Schema.NonNegativeInt,
  release: Schema.String.pipe(Schema.pattern(/^[A-Za-z0-9][A-Za-z0-9.+_-]{0,127}$/))
}).annotations({ identifier: "ServerVersion" })
export type ServerVersionValue = typeof ServerVersion.Type

/** The header's value. */
export const formatServerVersion = (version: ServerVersionValue): string => `${version.protocol}/${version.release}`

const header = /^(\d{1,9})\/([A-Za-z0-9][A-Za-z0-9.+_-]{0,127})$/

/** Reads the header; none when it is absent (old servers leave it out) or not of this form. */
export const parseServerVersionHeader = (value: string | null | undefined): Option.Option<ServerVersionValue> => {
  const [, protocol, release] = header.exec(value?.trim() ?? "") ?? []
  return protocol === undefined || release === undefined
    ? Option.none()
    : Option.some({ protocol: Number(protocol), release })
}
