import { count } from "./asks.ts"
import type { Chance } from "./random.ts"

/** One call of a plan. A name is used once in a test. */
export type TreeCall =
  /** Counts itself, after asking for permission. */
  | { readonly kind: "count"; readonly name: string; readonly nap: number }
  | { readonly kind: "question"; readonly name: string }
  /** A tool of the client's. */
  | { readonly kind: "external"; readonly name: string }
  | { readonly kind: "task"; readonly plan: TreePlan; readonly background: boolean }

/** What one prompt has the model do: steps of calls, and words at the end. Sub-agents get plans of their own. */
export interface TreePlan {
  readonly id: string
  /** Milliseconds between pieces of text. */
  readonly pace: number
  readonly words: number
  readonly steps: ReadonlyArray<ReadonlyArray<TreeCall>>
}

/** The client's tool. */
export const LOOKUP = {
  name: "lookup",
  description: "asks the client",
  inputSchema: { type: "object", properties: { about: { type: "string" } }, required: ["about"] }
}

const QUESTION = { header: "Which", options: ["A", "B", "C"].map((label) => ({ label, description: label })) }

/** A call as the model asks for it: tool and arguments. */
export const asCall = (call: TreeCall): readonly [name: string, args: object] => {
  switch (call.kind) {
    case "count":
      return ["shell", { command: call.nap === 0 ? count(call.name) : `sleep 0.${call.nap} && ${count(call.name)}` }]
    case "question":
      return ["question", { questions: [{ ...QUESTION, question: `Which ${call.name}?` }] }]
    case "external":
      return [LOOKUP.name, { about: call.name }]
    case "task":
      return ["task", { prompt: treePrompt(call.plan), ...(call.background ? { background: true } : {}) }]
  }
}

export const treePrompt = (plan: TreePlan): string => `PLAN ${JSON.stringify(plan)}`

/** What the model says at a step of a plan. */
export const treeSpeech = ({ id, steps, words }: TreePlan, step: number): string =>
  step < steps.length
    ? `${id} asks at ${step}.`
    : `${id} ends: ${Array.from({ length: words }, (_, n) => `${n}é🌍`).join(" ")}.`

/** A plan of calls at random, with `below` in one of its steps. `depth`: sessions above it. */
const planOf = (dice: Chance, id: string, depth: number, below: TreeCall | undefined): TreePlan => {
  const plain = (name: string): TreeCall => {
    const kind = dice.pick(["count", "count", "question", depth === 0 ? "external" : "count"] as const)
    return kind === "count" ? { kind, name, nap: dice.pick([0, 0, 1, 2]) } : { kind, name }
  }
  const sizes = Array.from({ length: dice.pick([0, 0, 1]) }, () => dice.pick([1, 1, 2]))
  const steps = sizes.map((size, step) => Array.from({ length: size }, (_, n) => plain(`${id}-${step}-${n}`)))
  if (below !== undefined) {
    const beside = Array.from({ length: dice.pick([0, 1, 1, 2]) }, (_, n) => plain(`${id}-b-${n}`))
    steps.splice(dice.whole(0, steps.length), 0, dice.next() < 0.5 ? [below, ...beside] : [...beside, below])
  }
  if (steps.length === 0 && dice.next() < 0.7) steps.push([plain(`${id}-0-0`)])
  return { id, pace: dice.whole(0, 8), words: dice.whole(1, 8), steps }
}

const task = (dice: Chance, plan: TreePlan): TreeCall => ({ kind: "task", plan, background: dice.next() < 0.3 })

/** A root's plan that spawns a child, whose plan spawns a grandchild. */
export const wholeTree = (dice: Chance, id: string): TreePlan =>
  planOf(dice, id, 0, task(dice, planOf(dice, `${id}.k`, 1, task(dice, planOf(dice, `${id}.k.k`, 2, undefined)))))

/** A plan for a session with so many above it; one in four spawns. */
export const somePlan = (dice: Chance, id: string, depth: number): TreePlan =>
  planOf(dice, id, depth, dice.next() < 0.25 ? task(dice, planOf(dice, `${id}.k`, depth + 1, undefined)) : undefined)
