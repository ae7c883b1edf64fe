import { isTerminal, type ToolTurnPart, type TurnSnapshot } from "@harness/protocol"
import { callsOf } from "./asks.ts"
import type { Mortal } from "./crash.ts"
import { Fold } from "./fold.ts"
import { crashProblems, historyProblems, logProblems } from "./logLaws.ts"
import { heard } from "./plannedModel.ts"
import { NOTED } from "./treeModel.ts"
import { treeSpeech } from "./treePlan.ts"
import { readStand, type Stand } from "./treeStand.ts"
import type { TreeUser } from "./treeUser.ts"
import type { Answer } from "./wire.ts"

const times = <A>(list: ReadonlyArray<A>, one: (item: A) => boolean): number => list.filter(one).length

/** L3, L4: the log is whole, folds to what is read, and was told to who followed the server. */
const logFaults = ({ rows, turns }: Stand, told: ReadonlyMap<number, Answer["body"]>): ReadonlyArray<string> => {
  const fold = new Fold()
  for (const row of rows) fold.take(row)
  const folded = turns.flatMap((turn) =>
    JSON.stringify(sorted(fold.turns.get(turn.turnId))) === JSON.stringify(sorted(turn))
      ? []
      : [`${turn.turnId} folds to ${JSON.stringify(fold.turns.get(turn.turnId))}, and is ${JSON.stringify(turn)}`]
  )
  const shown = rows.filter(({ type }) => type.startsWith("session.turn.") || type === "session.created")
  const missed = shown.flatMap(({ data, id, type }) => {
    const { serverCursor: _, ...row } = told.get(id ?? 0)?.data ?? {}
    return JSON.stringify(row) === JSON.stringify(data)
      ? []
      : [`${type} ${id} on the server's stream: ${JSON.stringify(row)}`]
  })
  return [...logProblems(rows), ...folded, ...missed]
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)])
  )
}

/** L5, L7: nothing is open anywhere. */
const openFaults = ({ open, sessionId, status, turns }: Stand): ReadonlyArray<string> => [
  ...(status.state === "idle" && status.queued === 0 ? [] : [`${sessionId} is ${status.state}`]),
  ...open.map((id) => `${id} of ${sessionId} is still open`),
  ...turns.flatMap(({ state, turnId }) => (isTerminal(state) ? [] : [`${turnId} is ${state}`])),
  ...[...status.pendingCalls, ...status.waitingOn, ...status.children].map(
    (one) => `${sessionId} waits: ${JSON.stringify(one)}`
  )
]

/** Each ask ends with one event, and whoever was told yes is who counted. */
const askFaults = ({ rows, sessionId, turns }: Stand, { told }: TreeUser): ReadonlyArray<string> => {
  const found: Array<string> = []
  const of = (type: string) => rows.filter((row) => row.type === `session.turn.${type}`).map(({ data }) => data)
  const ends = new Map<string, Array<string>>()
  const end = (id: string, word: string) => ends.set(id, [...(ends.get(id) ?? []), word])
  for (const { reply, requestId } of of("approval.resolved")) end(requestId, reply)
  for (const { answers, questionId } of of("question.replied")) end(questionId, answers[0][0])
  for (const { questionId } of of("question.rejected")) end(questionId, "reject")
  const asked = [
    ...of("approval.requested").map(({ request }) => request.requestId),
    ...of("question.asked").map(({ question }) => question.questionId)
  ]
  for (const id of asked) if (ends.get(id)?.length !== 1) found.push(`${id} ended: ${ends.get(id)?.join() ?? "never"}`)
  for (const id of ends.keys()) if (times(asked, (one) => one === id) !== 1) found.push(`${id} was not asked for once`)
  const calls = new Map<string, ToolTurnPart>(turns.flatMap(callsOf).map((call) => [call.callId, call]))
  for (const { again, answer, ask, word } of told.said) {
    if (ask.sessionId !== sessionId) continue
    const at = `${word} to ${ask.kind} ${ask.id}`
    if (ask.kind !== "external") {
      const counted = ends.get(ask.id)?.[0] === word
      if (counted !== (answer.status === 200)) found.push(`${at}: ${answer.status}, and it ended ${ends.get(ask.id)}`)
      continue
    }
    const result = calls.get(ask.id)?.result?.content[0]
    const counted = result?.type === "text" && result.text === word
    const right = answer.body.resolved === counted || (again && counted)
    if (!right) found.push(`${at}: ${JSON.stringify(answer.body)}, and its result is ${JSON.stringify(result)}`)
  }
  return found
}

/** L1, L2, L5: every prompt, steer and entry that was acknowledged is there, once, or says that it was withdrawn. */
const promptFaults = ({ entries, sessionId, status, turns }: Stand, { told }: TreeUser): ReadonlyArray<string> => {
  const found: Array<string> = []
  const own = new Map(turns.map((turn) => [turn.turnId, turn]))
  if (own.size !== turns.length) found.push(`${sessionId} lists a turn twice`)
  let count = own.size
  const said = entries.filter(({ role }) => role === "user").map(({ content }) => content[0].text)
  const steerPart = (entryId: string) =>
    turns.flatMap((turn) =>
      turn.parts.flatMap((part) => (part.type === "steer" && part.entryId === entryId ? [part] : []))
    )
  for (const [turnId, { body, sessionId: home }] of told.prompts) {
    if (home !== sessionId) continue
    const turn = [...own.values()].find((one) => String(one.turnId) === turnId)
    if (turn === undefined) count += 1
    const inHistory = times(said, (text) => text === body.content)
    const joined = steerPart(turnId)
    if (times(joined, ({ applied }) => applied) > 1) found.push(`${turnId} joined twice`)
    const expected = turn === undefined ? times(joined, ({ applied }) => applied) === 1 : true
    if (!expected) found.push(`${turnId} has neither a turn nor a place in one`)
    const right = turn === undefined || turn.startedAt !== undefined ? 1 : 0
    if (inHistory !== right) found.push(`${turnId} (${turn?.state ?? "joined"}) is history ${inHistory} times`)
    if (turn?.state === "cancelled" && !told.asked.has(turnId) && turn.stopReason !== "interrupted") {
      found.push(`${turnId} was cancelled by nobody`)
    }
  }
  for (const [entryId, into] of told.steers) {
    if (into.sessionId !== sessionId) continue
    const parts = steerPart(entryId)
    if (parts.length !== 1) found.push(`steer ${entryId} shows ${parts.length} times`)
    const inHistory = times(said, (text) => text === `STEER ${entryId}`)
    if (inHistory !== times(parts, ({ applied }) => applied))
      found.push(`steer ${entryId} is history ${inHistory} times`)
  }
  for (const [entryId, home] of told.entries) {
    const inHistory = times(entries, (entry) => entry.entryId === entryId)
    if (home === sessionId && inHistory !== 1) found.push(`entry ${entryId} is history ${inHistory} times`)
  }
  for (const [turnId, home] of told.cancelled) {
    const state = [...own.values()].find((one) => String(one.turnId) === turnId)?.state
    if (home === sessionId && state !== "cancelled") found.push(`${turnId} was to be cancelled, and is ${state}`)
  }
  if (status.turnCount !== count) found.push(`${sessionId} counts ${status.turnCount} turns of ${count}`)
  return [...found, ...historyProblems(entries)]
}

const PLAN = "PLAN "
const textOf = ({ prompt }: TurnSnapshot): string => (prompt.content[0]?.type === "text" ? prompt.content[0].text : "")
const lastSpeech = (prompt: string): string => {
  const plan = JSON.parse(prompt.slice(PLAN.length))
  return treeSpeech(plan, plan.steps.length)
}

/** What a completed turn said is what the model says, whole. */
const textFaults = ({ sessionId, turns }: Stand, { told }: TreeUser): ReadonlyArray<string> => {
  const steers = [...told.steers.keys(), ...told.prompts.keys()].map(heard)
  return turns.flatMap((turn) => {
    if (turn.state === "failed" && turn.stopReason !== "interrupted") {
      return [`${turn.turnId} of ${sessionId} failed: ${JSON.stringify(turn.failure)}`]
    }
    if (turn.state !== "completed") return []
    // A steer that became a turn of its own goes on with a plan that was cut.
    const own = textOf(turn).startsWith(PLAN) ? [turn] : turns
    const speeches = own.map(textOf).flatMap((text) => (text.startsWith(PLAN) ? [lastSpeech(text)] : []))
    const right = turn.prompt.role === "custom" ? [NOTED, ...steers] : [...speeches, ...steers]
    return right.includes(turn.finalText ?? "") ? [] : [`${turn.turnId} of ${sessionId} ends with ${turn.finalText}`]
  })
}

/** L2, L6: no call ran twice, and each that is said to have run did. */
const runFaults = (stands: ReadonlyArray<Stand>, lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const shells = stands
    .flatMap(({ turns }) => turns.flatMap((turn) => callsOf(turn)))
    .filter(({ name }) => name === "shell")
  const found = lines.flatMap((line) => {
    const [name, key] = line.split(" ")
    const known = times(shells, (call) => call.idempotencyKey === key)
    return [
      ...(known === 1 ? [] : [`${name} ran for ${known} calls`]),
      ...(times(lines, (other) => other.split(" ")[0] === name) > 1 ? [`${name} ran more than once`] : [])
    ]
  })
  for (const { callId, idempotencyKey, result, state } of shells) {
    const runs = times(lines, (line) => line.split(" ")[1] === idempotencyKey)
    const code = result?.details?.["code"]
    const mayHave = state === "interrupted" || code === "call.cancelled"
    const right = state === "completed" ? runs === 1 : mayHave || runs === 0
    if (!right) found.push(`${callId} is ${state} ${code}, and ran ${runs} times`)
  }
  return found
}

/** Each sub-agent's end is told to its parent once: as the call's result, or as a turn. */
const taskFaults = (stands: ReadonlyArray<Stand>): ReadonlyArray<string> => {
  const found: Array<string> = []
  const results = stands.flatMap(({ sessionId, turns }) =>
    turns.flatMap(({ prompt, turnId }) =>
      prompt.role === "custom" ? [{ sessionId, turnId, details: prompt.custom?.details ?? {} }] : []
    )
  )
  const spawned = (callId: string) => stands.filter(({ spawnedBy }) => spawnedBy === callId)
  let expected = 0
  for (const { sessionId, turns } of stands) {
    for (const call of turns.flatMap((turn) => callsOf(turn))) {
      if (call.name !== "task") continue
      const children = spawned(call.callId)
      const [child] = children
      const at = `${call.callId} of ${sessionId}, ${call.state}`
      if (children.length > 1) found.push(`${at}: ${children.length} children`)
      const details = call.result?.details
      if (child === undefined) {
        if (call.state === "completed") found.push(`${at}: nobody was spawned`)
        continue
      }
      const turn = child.turns[0]
      const told = results.filter((result) => JSON.stringify(result.details).includes(child.sessionId))
      const background = details?.["background"] === true
      if (background) expected += 1
      if (told.length !== (background ? 1 : 0)) found.push(`${at}: ${told.length} turns bring its result`)
      if (told.some((one) => one.sessionId !== sessionId)) found.push(`${at}: its result came to somebody else`)
      const said = background ? JSON.stringify(told[0]?.details) : JSON.stringify(details)
      const isCut = call.state === "cancelled" || call.state === "interrupted"
      if (isCut && turn?.state !== "cancelled") found.push(`${at}: its child is ${turn?.state}`)
      if (!isCut && !said?.includes(`"state":"${turn?.state}"`)) found.push(`${at}: told ${said}, is ${turn?.state}`)
    }
  }
  if (results.length !== expected) found.push(`${results.length} results came as turns, of ${expected}`)
  return found
}

/** What a tree of sessions breaks of the laws once all is quiet. `lines`: what its calls counted. */
export const treeFaults = async (server: Mortal, user: TreeUser, lines: ReadonlyArray<string>) => {
  const { told, tree } = user
  const stands: Array<Stand> = []
  for (const seen of tree.sessions.values()) stands.push(await readStand(server, seen))
  return {
    faults: [
      ...told.problems,
      ...stands.flatMap((stand) => [
        ...logFaults(stand, tree.sessions.get(stand.sessionId)?.rows ?? new Map()),
        ...crashProblems(stand.rows, server.deaths),
        ...openFaults(stand),
        ...askFaults(stand, user),
        ...promptFaults(stand, user),
        ...textFaults(stand, user)
      ]),
      ...runFaults(stands, lines),
      ...taskFaults(stands)
    ],
    stands
  }
}
