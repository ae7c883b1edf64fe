import { type Actor, MAX_WIRE_BYTES } from "@harness/protocol"

/** One row of the log, as it is stored and shown. */
export interface LogRow {
  readonly serverCursor: number
  readonly sessionId: string
  readonly cursor: number
  readonly turnId: string | null
  readonly revision: number | null
  /** `turn.started`, `created`, …: what the event is called on a session stream, without `session.`. */
  readonly type: string
  /** The event's JSON without `{"type":"…",` in front. Empty once its session is deleted. */
  readonly body: string
}

/** What a row says of itself beside its positions. */
export interface FactMeta {
  readonly attempt?: number | undefined
  readonly causedBy?: string | undefined
  readonly actor?: Actor | undefined
}

/** The stored body: envelope first, then what the event carries. Encoded here, once. */
export const encodeBody = (
  row: { sessionId: string; cursor: number; at: string; turnId?: string | undefined; revision?: number | undefined },
  meta: FactMeta,
  fields: object
): string => JSON.stringify({ ...row, ...meta, ...fields }).slice(1)

/** What an event may hold beside its envelope, in UTF-8 bytes: no durable event is longer than the wire takes. */
const FIELDS_MAX = MAX_WIRE_BYTES - 4_096

/** Whether an event could carry this. */
export const fitsEvent = (fields: unknown): boolean => Buffer.byteLength(JSON.stringify(fields)) <= FIELDS_MAX

const TERMINAL = "turn.terminal"

/** A turn's last row is a snapshot on the session's and the server's stream, and `turn.terminal` on its own. */
export const isTerminalRow = (row: { readonly type: string }): boolean => row.type === TERMINAL

const sessionType = (type: string) => `session.${type === TERMINAL ? "turn.snapshot" : type}`

/** Types the server stream shows; the others only move its cursor. */
const onServerStream = (type: string): boolean =>
  type.startsWith("turn.") || type === "created" || type === "title" || type === "deleted"

const frame = (id: number | undefined, type: string, rest: string): string =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${type}\ndata: {"type":"${type}",${rest}\n\n`

/** A row as the session's stream shows it. */
export const sessionFrame = (row: LogRow): string => frame(row.cursor, sessionType(row.type), row.body)

/** A row as its turn's stream shows it. The last one is made whole by the reader. */
export const turnFrame = (row: LogRow): string => frame(row.revision ?? undefined, row.type, row.body)

/** A row as the server's stream shows it, or nothing. */
export const serverFrame = (row: LogRow): string | undefined =>
  onServerStream(row.type)
    ? frame(row.serverCursor, sessionType(row.type), `"serverCursor":${row.serverCursor},${row.body}`)
    : undefined

/** A frame that is no row: snapshots, cursors, heartbeats, previews. With an id only for announcements. */
export const plainFrame = (type: string, fields: object, id?: number): string =>
  frame(id, type, JSON.stringify(fields).slice(1))
