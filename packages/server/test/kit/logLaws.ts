import type { TurnPart } from "@harness/protocol"
import { isTerminal } from "@harness/protocol"
import type { Answer, WireEvent } from "./wire.ts"

/** Durable frames of one session's log, from its first row on. */
export type Rows = ReadonlyArray<WireEvent>

const ofTurns = (rows: Rows): ReadonlyMap<string, Rows> => {
  const turns = new Map<string, Array<WireEvent>>()
  for (const row of rows) {
    const { turnId } = row.data
    if (typeof turnId === "string") turns.set(turnId, [...(turns.get(turnId) ?? []), row])
  }
  return turns
}

const counts = (names: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const found = new Map<string, number>()
  for (const name of names) found.set(name, (found.get(name) ?? 0) + 1)
  return found
}

const repeated = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...counts(names)].flatMap(([name, count]) => (count > 1 ? [name] : []))

const ended = (row: WireEvent): boolean => row.type === "session.turn.snapshot" && isTerminal(row.data.turn.state)
const callsOf = (rows: Rows, type: string, id: (row: WireEvent) => string): ReadonlyArray<string> =>
  rows.filter((row) => row.type === type).map(id)

/** Parts that were done, and are open again or say something else. */
const reopened = (turnId: string, rows: Rows): ReadonlyArray<string> => {
  const done = new Map<string, string>()
  return rows.flatMap(({ data, type }) => {
    if (type !== "session.turn.snapshot") return []
    return data.turn.parts.flatMap((part: { partId: string; text?: string; done?: boolean }) => {
      const was = done.get(part.partId)
      if (part.done === true) done.set(part.partId, part.text ?? "")
      const same = was === undefined || (part.done === true && part.text === was)
      return same ? [] : [`${turnId}: ${part.partId} was done, and changed`]
    })
  })
}

/** What a turn's rows break: L3, L5, L6, L7. */
const turnProblems = (turnId: string, rows: Rows): ReadonlyArray<string> => {
  const found: Array<string> = [...reopened(turnId, rows)]
  rows.forEach(({ data }, index) => {
    if (data.revision !== index + 1) found.push(`${turnId}: revision ${data.revision} in place ${index + 1}`)
  })
  const end = rows.findIndex(ended)
  if (end >= 0 && end !== rows.length - 1) found.push(`${turnId}: ${rows.length - 1 - end} rows after its end`)
  const requested = callsOf(rows, "session.turn.tool.requested", ({ data }) => data.call.callId)
  const completed = callsOf(rows, "session.turn.tool.completed", ({ data }) => data.callId)
  for (const call of repeated(requested)) found.push(`${turnId}: ${call} asked for twice`)
  for (const call of repeated(completed)) found.push(`${turnId}: ${call} has two results`)
  for (const call of completed) if (!requested.includes(call)) found.push(`${turnId}: ${call} was never asked for`)
  if (end >= 0) {
    for (const call of requested) if (!completed.includes(call)) found.push(`${turnId}: ${call} has no result`)
  }
  let attempt = 1
  for (const { data } of rows) {
    if (data.attempt !== attempt && data.attempt !== attempt + 1) found.push(`${turnId}: ${attempt}, ${data.attempt}`)
    if (data.attempt > 3) found.push(`${turnId}: attempt ${data.attempt}`)
    attempt = data.attempt
  }
  return found
}

/** What a session's log breaks, wherever it was cut. */
export const logProblems = (rows: Rows): ReadonlyArray<string> => [
  ...rows.flatMap(({ id }, index) => (id === index + 1 ? [] : [`cursor ${id} in place ${index + 1}`])),
  ...[...ofTurns(rows)].flatMap(([turnId, own]) => turnProblems(turnId, own))
]

const partsAt = (rows: Rows): ReadonlyMap<string, TurnPart> => {
  const parts = new Map<string, TurnPart>()
  for (const { data, type } of rows) {
    if (type !== "session.turn.snapshot") continue
    for (const part of data.turn.parts) parts.set(part.partId, part)
  }
  return parts
}

/** Contract §5, for one turn that was running when its process died. Whether a cancelled one was asked to end is not seen here. */
const recoveryProblems = (turnId: string, before: Rows, after: Rows): ReadonlyArray<string> => {
  const was = before.findLast(({ type }) => type === "session.turn.snapshot")?.data
  const now = after.find(({ type }) => type === "session.turn.snapshot")?.data
  if (was === undefined || was.turn.state !== "running") return []
  if (now === undefined) return [`${turnId}: ran when the process died, and nobody heard of it again`]
  const found: Array<string> = []
  const { state, stopReason } = now.turn
  const right = was.attempt < 3 ? now.attempt === was.attempt + 1 : state === "failed" && stopReason === "interrupted"
  if (state !== "cancelled" && !right) {
    found.push(`${turnId}: attempt ${was.attempt}, then ${now.attempt} ${state} ${stopReason}`)
  }
  const late = partsAt(after)
  for (const [partId, part] of partsAt(before)) {
    if (part.type !== "tool" || part.state !== "running") continue
    const closed = late.get(partId)
    const isClosed = closed?.type === "tool" && closed.state === "interrupted" && closed.result?.isError === true
    if (!isClosed) found.push(`${turnId}: the call that ran is ${closed?.type === "tool" ? closed.state : "lost"}`)
  }
  return found
}

/** What a log breaks of contract §5, given when each process died. */
export const crashProblems = (rows: Rows, deaths: ReadonlyArray<number>): ReadonlyArray<string> =>
  [...ofTurns(rows)].flatMap(([turnId, own]) =>
    deaths.flatMap((death) => {
      const before = own.filter(({ data }) => Date.parse(data.at) <= death)
      return recoveryProblems(turnId, before, own.slice(before.length))
    })
  )

/** What a history breaks: every call is followed by its one result. */
export const historyProblems = (entries: ReadonlyArray<Answer["body"]>): ReadonlyArray<string> => {
  const found: Array<string> = []
  let open: ReadonlyArray<string> = []
  const ids: Array<string> = []
  for (const entry of entries) {
    ids.push(entry.entryId)
    if (entry.role === "tool") {
      if (!open.includes(entry.callId)) found.push(`a result of ${entry.callId}, which nobody asked for just before`)
      open = open.filter((call) => call !== entry.callId)
      continue
    }
    if (open.length > 0) found.push(`${open.join()} without a result before ${entry.entryId}`)
    open = entry.content.flatMap((part: { type: string; callId: string }) =>
      part.type === "call" ? [part.callId] : []
    )
  }
  if (open.length > 0) found.push(`${open.join()} without a result`)
  return [...found, ...repeated(ids).map((id) => `${id} twice`)]
}
