import { Fold } from "./fold.ts"
import type { Harness } from "./harness.ts"
import type { Chance } from "./random.ts"
import { badLine, serverStream, sessionStream, turnStream } from "./reader.ts"
import type { WireEvent } from "./wire.ts"

/** Somebody on a bad line, and what they made of it. */
export interface Reader {
  readonly id: string
  /** Every durable frame as it came. */
  readonly rows: ReadonlyArray<WireEvent>
  readonly fold: Fold
  /** What did not come as promised. */
  readonly problems: ReadonlyArray<string>
  readonly from: number | undefined
  /** Settles when they have seen enough; answers how often they had to come back. */
  readonly done: Promise<number>
}

interface Common {
  readonly server: Pick<Harness, "url" | "token">
  readonly chance: Chance
  /** Left out: from wherever the stream stands. */
  readonly from?: number
}

const begin = ({ from }: Common): { readonly from?: number } => (from === undefined ? {} : { from })

/** Follows a session until `enough`. */
export const readSession = (id: string, options: Common & { readonly enough: (at: number) => boolean }): Reader => {
  const rows: Array<WireEvent> = []
  const problems: Array<string> = []
  const fold = new Fold()
  let last = options.from
  const take = (event: WireEvent) => {
    fold.take(event)
    if (event.id !== undefined) {
      if (event.id !== (last ?? Number.NaN) + 1) problems.push(`row ${event.id} after ${last}`)
      if (event.data.cursor !== event.id) problems.push(`row ${event.id} says ${event.data.cursor}`)
      rows.push(event)
      last = event.id
    } else if (event.type === "session.cursor") {
      if (event.data.cursor !== (last ?? event.data.cursor)) problems.push(`at ${event.data.cursor}, not ${last}`)
      last = event.data.cursor
    }
  }
  const { done } = badLine({ ...options, ...begin(options), kind: sessionStream(id), take })
  return { id, rows, fold, problems, from: options.from, done }
}

/** Follows a turn to its end. */
export const readTurn = (id: string, turnId: string, options: Common): Reader => {
  const rows: Array<WireEvent> = []
  const problems: Array<string> = []
  const fold = new Fold()
  let last = options.from
  const take = (event: WireEvent) => {
    fold.take(event)
    const { revision } = event.data
    if (event.id !== undefined) {
      if (event.id !== (last ?? Number.NaN) + 1) problems.push(`revision ${event.id} after ${last}`)
      if (revision !== event.id) problems.push(`revision ${event.id} says ${revision}`)
      rows.push(event)
      last = event.id
    } else if (event.type === "turn.heartbeat" && revision !== last) problems.push(`at ${revision}, not ${last}`)
    else if (event.type === "turn.snapshot") {
      if (revision !== (last ?? revision)) problems.push(`a snapshot of ${revision} at ${last}`)
      last = revision
    } else if (event.type === "turn.terminal") {
      if (revision !== (last ?? revision)) problems.push(`ended at ${revision}, not ${last}`)
    }
  }
  const { done } = badLine({ ...options, ...begin(options), kind: turnStream(id, turnId), take, enough: () => false })
  return { id: turnId, rows, fold, problems, from: options.from, done }
}

/** Follows a whole server until `enough`. */
export const readServer = (options: Common & { readonly enough: (at: number) => boolean }): Reader => {
  const rows: Array<WireEvent> = []
  const problems: Array<string> = []
  const fold = new Fold()
  let last = options.from
  let known = new Set<string>()
  let on = -1
  const take = ({ data, id, type }: WireEvent, connection: number) => {
    if (connection !== on) known = new Set()
    on = connection
    if (type.endsWith(".delta")) problems.push(`${type} on the server's stream`)
    if (type === "server.cursor") {
      if (data.serverCursor < (last ?? 0)) problems.push(`at ${data.serverCursor} after ${last}`)
      last = data.serverCursor
    }
    if (type !== "server.cursor") {
      if (type !== "session.created" && !known.has(data.sessionId)) problems.push(`${type} of nobody at ${id}`)
      known.add(data.sessionId)
    }
    if (id === undefined) return
    if (data.serverCursor !== id) problems.push(`row ${id} says ${data.serverCursor}`)
    const announced = data.replayed === true
    if (announced ? id < (last ?? 0) : id <= (last ?? 0)) problems.push(`${type} ${id} after ${last}`)
    last = id
    if (!announced) rows.push({ data, id, type })
  }
  const { done } = badLine({ ...options, ...begin(options), kind: serverStream, take })
  return { id: "server", rows, fold, problems, from: options.from, done }
}
