import { setTimeout as delay } from "node:timers/promises"
import { insist, type Mortal } from "./crash.ts"
import { steering } from "./plannedModel.ts"
import type { Chance } from "./random.ts"
import { LOOKUP, somePlan, type TreePlan, treePrompt, wholeTree } from "./treePlan.ts"
import type { Ask, Seen, Tree } from "./treeWatch.ts"
import type { Answer, wire } from "./wire.ts"

/** What somebody was told of a tree, and may rely on. */
export interface TreeTold {
  readonly prompts: Map<string, { readonly sessionId: string; readonly body: { readonly content: string } }>
  readonly plans: Array<TreePlan>
  /** Accepted steers by entry, and the turn they are for. */
  readonly steers: Map<string, { readonly sessionId: string; readonly turnId: string }>
  readonly entries: Map<string, string>
  /** Turns whose end was asked for, and those whose end was promised. */
  readonly asked: Set<string>
  readonly cancelled: Map<string, string>
  /** What was said to asks, and what was answered. `again`: an earlier try may have counted. */
  readonly said: Array<{ readonly ask: Ask; readonly word: string; readonly answer: Answer; readonly again: boolean }>
  /** What an answer should have been, and was not. */
  readonly problems: Array<string>
}

type Api = ReturnType<typeof wire>
const homeOf = (sessionId: string) => `/sessions/${sessionId}`

/** Somebody who does a schedule of things at random to a tree of sessions, and whatever is left to do at its end. */
export const treeUser = (options: {
  readonly root: string
  readonly server: Mortal
  readonly dice: Chance
  readonly tree: Tree
}) => {
  const { dice, root, server, tree } = options
  const told: TreeTold = {
    prompts: new Map(),
    plans: [],
    steers: new Map(),
    entries: new Map(),
    asked: new Set(),
    cancelled: new Map(),
    said: [],
    problems: []
  }
  let count = 0
  const mint = (kind: string) => `${root}-${kind}${count++}`
  const pick = <A>(among: ReadonlyArray<A>): A | undefined => among[dice.whole(0, Math.max(0, among.length - 1))]

  const ask = async (what: string, statuses: ReadonlyArray<number>, send: (api: Api) => Promise<Answer>) => {
    let tries = 0
    const answer = await insist(server, (api) => {
      tries += 1
      return send(api)
    })
    if (!statuses.includes(answer.status)) told.problems.push(`${what}: ${answer.status} ${answer.body?.code}`)
    return { answer, again: tries > 1 }
  }

  const seen = (): Seen | undefined => pick([...tree.sessions.values()])

  const submit = async (
    { depth, sessionId }: Pick<Seen, "depth" | "sessionId">,
    whenBusy: "queue" | "steer" | "interrupt" | "reject",
    whole = false
  ) => {
    const id = mint("t")
    const plan = whole ? wholeTree(dice, id) : somePlan(dice, id, depth)
    const steers = whenBusy === "steer"
    const body = { content: steers ? steering(id) : treePrompt(plan), whenBusy }
    const { answer } = await ask("submit", whenBusy === "reject" ? [202, 409] : [202], (api) =>
      api.put(`${homeOf(sessionId)}/turns/${id}`, body)
    )
    if (answer.status !== 202) return
    told.prompts.set(id, { sessionId, body })
    if (!steers) told.plans.push(plan)
  }

  const steer = async ({ sessionId, turns }: Seen) => {
    const turnId = pick([...turns].flatMap(([id, state]) => (state === "ended" ? [] : [id])))
    if (turnId === undefined) return
    const id = mint("s")
    const { answer } = await ask("steer", [202, 409], (api) =>
      api.post(`${homeOf(sessionId)}/turns/${turnId}/steer/${id}`, { content: steering(id) })
    )
    if (answer.status === 202) told.steers.set(id, { sessionId, turnId })
  }

  const cancel = async ({ sessionId, turns }: Seen) => {
    const aliases = [...told.prompts].flatMap(([id, prompt]) => (prompt.sessionId === sessionId ? [id] : []))
    const open = [...turns].flatMap(([id, state]) => (state === "ended" ? [] : [id]))
    const whole = dice.next() < 0.3
    const turnId = pick(dice.next() < 0.8 ? open : aliases)
    if (!whole && turnId === undefined) return
    if (!whole) told.asked.add(turnId ?? "")
    const { answer } = await ask("cancel", whole ? [202] : [202, 409], (api) =>
      api.post(whole ? `${homeOf(sessionId)}/cancel` : `${homeOf(sessionId)}/turns/${turnId}/cancel`)
    )
    if (answer.status !== 202) return
    if (answer.body.turnId !== undefined) told.asked.add(answer.body.turnId)
    if (answer.body.stopping) told.cancelled.set(answer.body.turnId, sessionId)
  }

  const append = async ({ sessionId }: Seen) => {
    const id = mint("e")
    await ask("append", [202], (api) =>
      api.put(`${homeOf(sessionId)}/conversation/${id}`, { role: "user", content: `NOTE ${id}` })
    )
    told.entries.set(id, sessionId)
  }

  /** One word to an ask, whatever its state; the answer says what it counted. */
  const say = async (to: Ask, word: string) => {
    const home = homeOf(to.sessionId)
    const { again, answer } = await ask(
      `${word} to a ${to.kind}`,
      to.kind === "external" ? [200] : [200, 409],
      (api) => {
        if (to.kind === "permission") return api.post(`${home}/permissions/${to.id}/reply`, { reply: word })
        if (to.kind === "external")
          return api.post(`${home}/turns/${to.turnId}/calls/${to.id}/resolve`, { content: word })
        const question = `${home}/questions/${to.id}`
        return word === "reject" ? api.post(`${question}/reject`) : api.post(`${question}/reply`, { answers: [[word]] })
      }
    )
    told.said.push({ ask: to, word, answer, again })
  }
  const wordFor = ({ kind }: Ask): string => {
    if (kind === "permission") return dice.pick(["once", "once", "always", "reject"])
    return kind === "question" ? dice.pick(["A", "B", "C", "reject"]) : mint("delivery")
  }
  const settle = async () => {
    const open = tree.asks.filter((one) => one.open)
    const to = pick(open.length > 0 && dice.next() < 0.85 ? open : tree.asks)
    if (to === undefined) return
    const words = Array.from({ length: dice.pick([1, 1, 2, 3]) }, () => wordFor(to))
    await Promise.all(words.map((word) => say(to, word)))
  }

  /** The same again, under the same name: nothing more comes of it. */
  const repeat = async () => {
    const [id, prompt] = pick([...told.prompts]) ?? []
    const [entry, into] = pick([...told.steers]) ?? []
    if (entry !== undefined && into !== undefined && dice.next() < 0.5) {
      const path = `${homeOf(into.sessionId)}/turns/${into.turnId}/steer/${entry}`
      const { answer } = await ask("steer again", [202], (api) => api.post(path, { content: steering(entry) }))
      if (answer.body.disposition !== "deduplicated") told.problems.push(`${entry} again: ${answer.body.disposition}`)
      await ask("steer otherwise", [409], (api) => api.post(path, { content: "something else" }))
    } else if (prompt !== undefined) {
      const path = `${homeOf(prompt.sessionId)}/turns/${id}`
      const { answer } = await ask("submit again", [202], (api) => api.put(path, prompt.body))
      if (answer.body.disposition !== "deduplicated") told.problems.push(`${id} again: ${answer.body.disposition}`)
      await ask("submit otherwise", [409], (api) => api.put(path, { content: "something else" }))
    }
  }

  /** A user's pace: what they do next comes after something else has happened, or when they are waited for. */
  const pause = async () => {
    for (let left = dice.whole(1, 8); left > 0 && !tree.still; left--) await tree.more()
    if (tree.still) await Promise.race([tree.news.after(1), delay(50)])
  }

  const act = async () => {
    await pause()
    const one = seen()
    const weight = dice.next()
    if (one === undefined || weight < 0.34) return settle()
    if (weight < 0.5) return submit(one, dice.pick(["queue", "queue", "steer", "interrupt", "reject"]))
    if (weight < 0.62) return submit(one, "steer")
    if (weight < 0.72) return steer(one)
    if (weight < 0.84) return cancel(one)
    if (weight < 0.9) return repeat()
    if (weight < 0.95) return append(one)
    await ask("background", [200], (api) => api.post(`${homeOf(one.sessionId)}/background`))
  }

  /** Makes the session, and has it begin. */
  const begin = async () => {
    await ask("create", [200, 201], (api) =>
      api.put(homeOf(root), { workdir: root, permissions: [], externalTools: [LOOKUP] })
    )
    await submit({ sessionId: root, depth: 0 }, "queue", true)
    while (tree.age < 2) await tree.more()
  }

  const isIdle = async () => {
    for (const { sessionId } of [...tree.sessions.values()].toSorted((a, b) => b.depth - a.depth)) {
      const { answer } = await ask("status", [200], (api) => api.get(`${homeOf(sessionId)}/status`))
      if (answer.body.state !== "idle" || answer.body.queued > 0) return false
    }
    return tree.sessions.size > 0
  }

  /** Answers everything, until nothing is under way in the whole tree. */
  const finish = async () => {
    for (;;) {
      const { age } = tree
      if (tree.quiet && (await isIdle())) return
      const open = tree.asks.filter((one) => one.open)
      const words = { permission: "once", question: "A", external: mint("delivery") }
      await Promise.all(open.map((one) => say(one, words[one.kind])))
      if (tree.age === age) await tree.more()
    }
  }

  return { root, told, tree, begin, act, finish }
}

export type TreeUser = ReturnType<typeof treeUser>
