import { CONTINUE_NUDGE } from "../../src/providers/Model.ts"
import { callsFor, makeGate, requestProblems, type Script, type Step } from "./scriptedModel.ts"

/** What one prompt has the model do; the prompt's text carries it, so that a request alone tells the answer. */
export interface Plan {
  readonly id: string
  /** Steps that each ask for one call, before the step that only speaks. */
  readonly calls: number
  /** Words of the last answer. */
  readonly words: number
  /** Milliseconds between pieces of text. */
  readonly pace: number
  /** What each call runs. */
  readonly command: string
}

export const planned = (plan: Plan): string => `PLAN ${JSON.stringify(plan)}`
export const steering = (id: string): string => `STEER ${id}`

/** What the model says at a step of a plan, whole. */
export const speech = (plan: Plan, step: number): string =>
  step < plan.calls
    ? `${plan.id} asks for call ${step}. `
    : `${plan.id} ends: ${Array.from({ length: plan.words }, (_, n) => `${n}é🌍`).join(" ")}.`
/** What it says when somebody steered. */
export const heard = (id: string): string => `heard ${id}, and went on from there in so many words.`

interface Message {
  readonly role: string
  readonly content: unknown
}

const textOf = ({ content }: Message): string => {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  return content.map((part) => (typeof part?.text === "string" ? part.text : "")).join("")
}

const messagesOf = (body: unknown): ReadonlyArray<Message> =>
  typeof body === "object" && body !== null && "messages" in body && Array.isArray(body.messages) ? body.messages : []

/** A pause the clock ends: the model's own pace. */
export const wait = (millis: number): Step => {
  const gate = makeGate()
  gate.isReached.then(() => setTimeout(gate.open, millis))
  return { type: "pause", gate }
}

const nothing: Plan = { id: "nobody", calls: 0, words: 0, pace: 0, command: "" }

const PIECE = 9

/** Text as a model says it: piece by piece, at a pace. */
export const inPieces = (text: string, pace: number): ReadonlyArray<Step> => {
  const letters = Array.from(text)
  const steps: Array<Step> = []
  for (let at = 0; at < letters.length; at += PIECE) {
    if (at > 0) steps.push(wait(pace))
    steps.push({ type: "text", text: letters.slice(at, at + PIECE).join("") })
  }
  return steps
}

/** A model that does what prompts plan, goes on where it was cut, and writes down every request that was not right. */
export const plannedModel = (onRequest: () => void = () => {}) => {
  const problems: Array<string> = []
  const script: Script = ({ body }) => {
    onRequest()
    problems.push(...requestProblems(body))
    const messages = messagesOf(body)
    const last = messages.at(-1)
    const cut = last?.role === "user" && textOf(last).startsWith(CONTINUE_NUDGE)
    const partial = cut ? textOf(messages.at(-2) ?? { role: "", content: "" }) : ""
    const from = messages.findLastIndex((message) => message.role === "user" && textOf(message).startsWith("PLAN "))
    const prompt = messages[from]
    const plan: Plan = prompt === undefined ? nothing : JSON.parse(textOf(prompt).slice("PLAN ".length))
    const since = messages.slice(from + 1)
    const step = since.filter(({ role }) => role === "tool").length
    const steers = since
      .filter((message) => message.role === "user" && textOf(message).startsWith("STEER "))
      .map((message) => textOf(message).slice("STEER ".length))
    const candidates = [...steers.toReversed().map(heard), speech(plan, step)]
    const whole = candidates.find((text) => text.startsWith(partial))
    if (whole === undefined) problems.push(`${plan.id}, step ${step}: asked to go on from ${JSON.stringify(partial)}`)
    const text = whole ?? ""
    const says = inPieces(text.slice(partial.length), plan.pace)
    return step < plan.calls && text === speech(plan, step)
      ? [...says, ...callsFor(["shell", { command: plan.command }, `call_${step}`])]
      : [...says, { type: "finish", reason: "stop" }]
  }
  return { script, problems }
}
