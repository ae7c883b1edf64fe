import { setTimeout as delay } from "node:timers/promises"
import type { Entry, Report } from "@harness/phone/report"
import { isTerminal } from "@harness/protocol"
import type { Made } from "./callPlay.ts"
import { wholeLog } from "./follower.ts"
import type { Harness } from "./harness.ts"
import { historyProblems, logProblems, type Rows } from "./logLaws.ts"
import { pages } from "./stage.ts"
import { type Answer, wire } from "./wire.ts"

/** Words as they are heard: without the signs around them. */
const wordsOf = (text: string): ReadonlyArray<string> =>
  text
    .toLowerCase()
    .split(/\s+/)
    .map((word) => word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ""))
    .filter((word) => word !== "")

type Fields = Readonly<Record<string, unknown>>
const fieldsOf = ({ frame }: Entry): Fields => (typeof frame === "object" && frame !== null ? { ...frame } : {})

/** Replies of which the harness was not told what was heard: cut off by nobody's word, or told of to a dead socket. */
const untold = ({ heard, timeline }: Report): ReadonlySet<unknown> => {
  const of = (direction: Entry["direction"]) => timeline.filter((entry) => entry.direction === direction).map(fieldsOf)
  const told = new Set(of("jambonz → harness").map(({ reply_id }) => reply_id))
  const lost = of("lost")
  const lostTurns = new Set(lost.filter(({ type }) => type === "turn:cancel").map(({ turn_id }) => turn_id))
  const ofLostTurns = of("harness → jambonz").filter(({ turn_id }) => lostTurns.has(turn_id))
  return new Set([
    ...lost.flatMap(({ reply_id }) => reply_id ?? []),
    ...ofLostTurns.map(({ reply_id }) => reply_id),
    ...heard.filter(({ cut, replyId }) => cut && !told.has(replyId)).map(({ replyId }) => replyId)
  ])
}

/** Replies that a new socket fell into: what was on its way then may have been said twice. */
const saidAgain = ({ timeline }: Report): ReadonlySet<unknown> => {
  const before = new Set<unknown>()
  const again = new Set<unknown>()
  let resumed = new Set<unknown>()
  for (const { reply_id, type } of timeline.map(fieldsOf)) {
    if (type === "session:start") resumed = new Set(before)
    if (type !== "reply:chunk") continue
    if (resumed.has(reply_id)) again.add(reply_id)
    before.add(reply_id)
  }
  return again
}

const contentOf = ({ chunk }: Fields): string => {
  const text = JSON.stringify(chunk ?? null).match(/"content":("(?:[^"\\]|\\.)*")/)?.[1]
  return text === undefined ? "" : JSON.parse(text)
}

/** The words of these replies that reached the other side, heard or not. */
const received = ({ timeline }: Report, replies: ReadonlySet<unknown>): ReadonlySet<string> => {
  const texts = new Map<unknown, string>()
  for (const entry of timeline) {
    const fields = fieldsOf(entry)
    if (entry.direction !== "harness → jambonz" || !replies.has(fields["reply_id"])) continue
    texts.set(fields["reply_id"], (texts.get(fields["reply_id"]) ?? "") + contentOf(fields))
  }
  return new Set([...texts.values()].flatMap(wordsOf))
}

const spokenIn = (entries: ReadonlyArray<Answer["body"]>): ReadonlyArray<string> =>
  entries
    .filter(({ role }) => role === "assistant")
    .flatMap(({ content }) => content)
    .flatMap(({ text }: { text?: string }) => (text === undefined ? [] : wordsOf(text)))

/** Turns that began when the call was over run unspoken. */
const unspoken = (rows: Rows, overAt: number): ReadonlySet<unknown> =>
  new Set(
    rows
      .filter(({ data, type }) => type === "session.turn.started" && Date.parse(data.at) >= overAt)
      .map(({ data }) => data.turnId)
  )

/** L12: what the history says was spoken is what the caller heard, in that order. */
const hearingFaults = (
  { overAt, report }: Made,
  rows: Rows,
  all: ReadonlyArray<Answer["body"]>
): ReadonlyArray<string> => {
  const silent = unspoken(rows, overAt)
  const entries = all.filter(({ turnId }) => !silent.has(turnId))
  const compared = (open: ReadonlySet<string>) => {
    const known = (words: ReadonlyArray<string>) => words.filter((word) => !open.has(word)).join(" ")
    const heard = known(report.heard.filter(({ kind }) => kind === "reply").flatMap(({ text }) => wordsOf(text)))
    const kept = known(spokenIn(entries))
    return heard === kept ? [] : [`heard: ${heard}\n kept: ${kept}`]
  }
  const open = untold(report)
  const strict = compared(received(report, open))
  return strict.length === 0 ? strict : compared(received(report, new Set([...open, ...saidAgain(report)])))
}

/** How often a history is looked at again, 20 ms apart, before it is taken for what it stays. */
const LOOKS = 150

/** The session's status, once nothing goes on in it any more. */
const settled = async (get: (path: string) => Promise<Answer["body"]>): Promise<Answer["body"]> => {
  for (;;) {
    const status = await get("/status")
    if (status.state === "idle" && status.queued === 0) return status
    await delay(20)
  }
}

/** What a call broke, once all is over that it began. */
export const callFaults = async (server: Harness, callSid: string, made: Made): Promise<ReadonlyArray<string>> => {
  const { report } = made
  const api = wire(server)
  const session = `/sessions/call-${callSid}`
  const get = async (path: string) => (await api.get(`${session}${path}`)).body
  const status = await settled(get)
  const turns = await pages(api.get, `${session}/turns`, "turns")
  const rows = await wholeLog(api, `call-${callSid}`)
  let entries = await pages(api.get, `${session}/history`, "entries")
  // What was heard last becomes known when the call is put away, a moment after its last turn has ended.
  for (let looks = 0; looks < LOOKS && hearingFaults(made, rows, entries).length > 0; looks++) {
    await delay(20)
    entries = await pages(api.get, `${session}/history`, "entries")
  }
  const wrong = report.faults.filter(({ kind, message }) => kind !== "script" || message.startsWith("waited in vain"))
  return [
    ...wrong.map(({ at, kind, message }) => `${kind} at ${Math.round(at)}: ${message}`),
    ...(report.failure === undefined ? [] : [`On failure ran: ${report.failure.message}`]),
    ...[...status.pendingCalls, ...status.waitingOn].map((one) => `it waits: ${JSON.stringify(one)}`),
    ...turns.flatMap(({ state, turnId }) => (isTerminal(state) ? [] : [`${turnId} is ${state}`])),
    ...turns.flatMap(({ state, stopReason, turnId }) =>
      state === "failed" ? [`${turnId} failed: ${stopReason}`] : []
    ),
    ...turns.flatMap(({ parts, turnId }) =>
      parts.flatMap((part: Answer["body"]) =>
        part.type === "tool" && part.result === undefined ? [`${turnId}: ${part.callId} has no result`] : []
      )
    ),
    ...logProblems(rows),
    ...historyProblems(entries),
    ...hearingFaults(made, rows, entries)
  ]
}
