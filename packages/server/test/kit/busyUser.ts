import { heard, type Plan, planned, speech, steering } from "./plannedModel.ts"
import type { Chance } from "./random.ts"
import type { Answer, wire } from "./wire.ts"

/** What a user was told, and may rely on. */
export interface Told {
  /** Prompts by turn id, in the order of their acceptance. */
  readonly turns: Map<string, { readonly plan?: Plan; readonly whenBusy: string }>
  /** Turn ids whose end was asked for, and those of them whose end was promised. */
  readonly asked: Set<string>
  readonly cancelled: Set<string>
  /** Accepted steers, and the turn they are for. */
  readonly steers: Map<string, string>
  readonly entries: Array<string>
  /** The furthest position any answer named. */
  cursor: number
}

export const nothingTold = (): Told => ({
  turns: new Map(),
  asked: new Set(),
  cancelled: new Set(),
  steers: new Map(),
  entries: [],
  cursor: 0
})

export type Ask = (ask: (api: ReturnType<typeof wire>) => Promise<Answer>) => Promise<Answer>

/** One line for each run of a call, by the key the call is given. */
export const COUNTED = `printf '%s\\n' "$HARNESS_IDEMPOTENCY_KEY" >> ran.txt`

const expectStatus = (answer: Answer, ...statuses: ReadonlyArray<number>): void => {
  if (!statuses.includes(answer.status)) throw new Error(`status ${answer.status}: ${JSON.stringify(answer.body)}`)
}

/** Somebody who prompts, steers, cancels and appends at random in one session, one request after another. */
export const busyUser = (options: { readonly session: string; readonly chance: Chance; readonly ask: Ask }) => {
  const { ask, chance, session } = options
  const told = nothingTold()
  const home = `/sessions/${session}`
  let count = 0
  const mint = (kind: string) => `${session}-${kind}${count++}`

  const submit = async (whenBusy: "queue" | "steer" | "interrupt") => {
    const id = mint("t")
    const nap = chance.whole(0, 9)
    const plan: Plan = {
      id,
      calls: chance.pick([0, 0, 1, 1, 2]),
      words: chance.whole(4, 40),
      pace: chance.whole(0, 12),
      command: nap > 4 ? `sleep 0.${nap}; ${COUNTED}` : COUNTED
    }
    const steers = whenBusy === "steer"
    const body = { content: steers ? steering(id) : planned(plan), whenBusy }
    const answer = await ask((api) => api.put(`${home}/turns/${id}`, body))
    expectStatus(answer, 202)
    told.turns.set(id, { ...(steers ? {} : { plan }), whenBusy })
    told.cursor = Math.max(told.cursor, answer.body.cursor)
  }

  const steer = async () => {
    const status = await ask((api) => api.get(`${home}/status`))
    const turnId = status.body.activeTurnId
    if (turnId === undefined) return
    const id = mint("s")
    const answer = await ask((api) => api.post(`${home}/turns/${turnId}/steer/${id}`, { content: steering(id) }))
    expectStatus(answer, 202, 409)
    if (answer.status === 202) {
      told.steers.set(id, turnId)
      told.cursor = Math.max(told.cursor, answer.body.cursor)
    }
  }

  const cancel = async () => {
    const queue = await ask((api) => api.get(`${home}/queue`))
    const status = await ask((api) => api.get(`${home}/status`))
    const queued = queue.body.queue.map((turn: { turnId: string }) => turn.turnId)
    const open = [...(status.body.activeTurnId === undefined ? [] : [status.body.activeTurnId]), ...queued]
    const turnId = open[chance.whole(0, open.length - 1)]
    if (turnId === undefined) return
    told.asked.add(turnId)
    const answer = await ask((api) => api.post(`${home}/turns/${turnId}/cancel`, { reason: "changed my mind" }))
    expectStatus(answer, 202)
    if (answer.body.stopping) told.cancelled.add(turnId)
  }

  const append = async () => {
    const id = mint("e")
    const answer = await ask((api) => api.put(`${home}/conversation/${id}`, { role: "user", content: `NOTE ${id}` }))
    expectStatus(answer, 202)
    told.entries.push(id)
    told.cursor = Math.max(told.cursor, answer.body.cursor)
  }

  /** One more request, and its answer. */
  const act = async () => {
    const dice = chance.next()
    const status = await ask((api) => api.get(`${home}/status`))
    if (dice < 0.5) return status.body.queued > 2 ? undefined : submit("queue")
    if (dice < 0.65) return submit("steer")
    if (dice < 0.8) return steer()
    if (dice < 0.87) return cancel()
    if (dice < 0.92) return submit("interrupt")
    return append()
  }
  return { session, told, act, append, submit }
}

/** Whole texts a turn may end with: its plan's last words, or an answer to the last who steered it. */
export const endings = (turnId: string, told: Told): ReadonlyArray<string> => {
  const turn = told.turns.get(turnId)
  const joined = [...told.turns].flatMap(([id, { plan }]) => (plan === undefined ? [id] : []))
  const steers = [...told.steers].flatMap(([id, into]) => (into === turnId ? [id] : []))
  return [
    ...(turn?.plan === undefined ? [] : [speech(turn.plan, turn.plan.calls)]),
    ...[...joined, ...steers].map(heard)
  ]
}
