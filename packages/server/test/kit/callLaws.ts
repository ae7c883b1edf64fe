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

/** Replies that one of the harness's own, or a command of it, may have cut off: of that the other side says nothing. */
const cutByUs = (frames: ReadonlyArray<Fields>): ReadonlyArray<unknown> => {
  const cuts = ({ interrupt, name, type }: Fields) =>
    (type === "reply:chunk" && interrupt === true) || (type === "command" && (name === "hangup" || name === "transfer"))
  const last = frames.findLastIndex(cuts)
  const by = frames[last]?.["reply_id"]
  return frames.slice(0, Math.max(0, last)).flatMap(({ reply_id }) => (reply_id === by ? [] : (reply_id ?? [])))
}

/** Replies of which the harness was not told what was heard: cut off by nobody's word, or told of to a dead socket. */
const untold = ({ heard, timeline }: Report): ReadonlySet<unknown> => {
  const of = (direction: Entry["direction"]) => timeline.filter((entry) => entry.direction === direction).map(fieldsOf)
  const told = new Set(of("jambonz → harness").map(({ reply_id }) => reply_id))
  const sent = of("harness → jambonz")
  const lost = of("lost")
  const lostTurns = new Set(lost.filter(({ type }) => type === "turn:cancel").map(({ turn_id }) => turn_id))
  const ofLostTurns = sent.filter(({ turn_id }) => lostTurns.has(turn_id))
  return new Set([
    ...lost.flatMap(({ reply_id }) => reply_id ?? []),
    ...ofLostTurns.map(({ reply_id }) => reply_id),
    ...heard.filter(({ cut, replyId }) => cut && !told.has(replyId)).map(({ replyId }) => replyId),
    ...cutByUs(sent).filter((replyId) => !told.has(replyId))
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

/** Replies nobody asked for: they wait for the floor, and stand in the history where they were thought of. */
const unasked = ({ timeline }: Report): ReadonlySet<unknown> =>
  new Set(
    timeline
      .map(fieldsOf)
      .flatMap(({ reply_id, turn_id, type }) => (type === "reply:chunk" && turn_id === undefined ? [reply_id] : []))
  )

/**
 * L12: what the history says was spoken is what the caller heard, word for word and in that order. Replies nobody asked for
 * stand where they were thought of, which is not where they were heard: each of them as a whole, wherever. Not compared are
 * the words that arrived of replies whose fate the protocol does not tell; what never arrived may be kept of none.
 */
const hearingFaults = (
  { overAt, report }: Made,
  rows: Rows,
  all: ReadonlyArray<Answer["body"]>
): ReadonlyArray<string> => {
  const silent = unspoken(rows, overAt)
  const entries = all.filter(({ turnId }) => !silent.has(turnId))
  const spoken = report.heard.filter(({ kind }) => kind === "reply")
  const ofTheirOwn = unasked(report)
  const anywhere = received(report, ofTheirOwn)
  const compared = (open: ReadonlySet<string>) => {
    const known = (words: ReadonlyArray<string>) => words.filter((word) => !open.has(word))
    const heard = known(spoken.flatMap(({ text }) => wordsOf(text)))
    const kept = known(spokenIn(entries))
    const inOrder = (words: ReadonlyArray<string>) => words.filter((word) => !anywhere.has(word)).join(" ")
    const all = ` ${kept.join(" ")} `
    const isKept = (words: ReadonlyArray<string>) => words.length === 0 || all.includes(` ${words.join(" ")} `)
    const same =
      [...heard].sort().join(" ") === [...kept].sort().join(" ") &&
      inOrder(heard) === inOrder(kept) &&
      spoken.every(({ replyId, text }) => !ofTheirOwn.has(replyId) || isKept(known(wordsOf(text))))
    return same ? [] : [`heard: ${heard.join(" ")}\n kept: ${kept.join(" ")}`]
  }
  const open = untold(report)
  const strict = compared(received(report, open))
  return strict.length === 0 ? strict : compared(received(report, new Set([...open, ...saidAgain(report)])))
}

/** How often a history is looked at again, 20 ms apart, before it is taken for what it stays. */
const LOOKS = 150

/** So long a call that is over may have things going on: a late result is waited for, and not much else. */
const SETTLES_MILLIS = 30_000

/** Waits until the call is over for the harness too and nothing goes on in its session any more. */
const settled = async (get: (path: string) => Promise<Answer["body"]>) => {
  const until = Date.now() + SETTLES_MILLIS
  for (;;) {
    const { metadata } = await get("")
    const status = await get("/status")
    const isSettled = metadata?.end !== undefined && status.state === "idle" && status.queued === 0
    if (isSettled) return { status, faults: [] }
    if (Date.now() > until) return { status, faults: [`not settled: ${JSON.stringify({ metadata, status })}`] }
    await delay(20)
  }
}

/** What a call broke, once all is over that it began. */
export const callFaults = async (server: Harness, callSid: string, made: Made): Promise<ReadonlyArray<string>> => {
  const { report } = made
  const api = wire(server)
  const session = `/sessions/call-${callSid}`
  const get = async (path: string) => (await api.get(`${session}${path}`)).body
  const { faults, status } = await settled(get)
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
    ...faults,
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
