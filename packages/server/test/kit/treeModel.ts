import { CONTINUE_NUDGE } from "../../src/providers/Model.ts"
import { heard, inPieces } from "./plannedModel.ts"
import { callsFor, requestProblems, type Script } from "./scriptedModel.ts"
import { messagesOf, textOf } from "./stage.ts"
import { asCall, type TreePlan, treeSpeech } from "./treePlan.ts"

const STEER = "STEER "
const PLAN = "PLAN "
/** How a prompt begins that brings a background result. */
const RESULT = "The sub-agent "
/** What the model says to it. */
export const NOTED = "So it has ended, and I know."

const asks = (message: object): boolean => "tool_calls" in message && Array.isArray(message.tool_calls)

const nothing: TreePlan = { id: "nobody", pace: 0, words: 1, steps: [] }

/**
 * A model that does what the prompts of a tree's sessions plan. Each answer follows from the request alone, so that it is
 * the same after a crash. It writes down every request that was not right.
 */
export const treeModel = (onRequest: () => void = () => {}) => {
  const problems: Array<string> = []
  const script: Script = (request) => {
    onRequest()
    problems.push(...requestProblems(request.body))
    const messages = messagesOf(request)
    const ends = messages.at(-1)
    const cut = ends?.role === "user" && textOf(ends).startsWith(CONTINUE_NUDGE)
    const partial = cut ? textOf(messages.at(-2) ?? { role: "", content: "" }) : ""
    const said = cut ? messages.slice(0, -2) : messages
    const begins = (message: (typeof said)[number], ...words: ReadonlyArray<string>) =>
      message.role === "user" && words.some((word) => textOf(message).startsWith(word))
    const from = said.findLastIndex((message) => begins(message, PLAN, RESULT))
    const prompt = said[from]
    const isResult = prompt !== undefined && begins(prompt, RESULT)
    const plan: TreePlan = prompt === undefined || isResult ? nothing : JSON.parse(textOf(prompt).slice(PLAN.length))
    const since = said.slice(from + 1)
    const step = since.filter((message) => message.role === "assistant" && asks(message)).length
    const speech = isResult ? NOTED : treeSpeech(plan, step)
    const steers = since
      .filter((message) => begins(message, STEER))
      .map((message) => heard(textOf(message).slice(STEER.length)))
      .toReversed()
    const last = said.at(-1)
    const fresh = last !== undefined && begins(last, STEER) ? steers.slice(0, 1) : []
    const candidates = partial === "" ? [...fresh, speech] : [speech, ...steers]
    const whole = candidates.find((text) => text.startsWith(partial))
    if (whole === undefined) problems.push(`${plan.id}, step ${step}: asked to go on from ${JSON.stringify(partial)}`)
    const says = inPieces((whole ?? "").slice(partial.length), plan.pace)
    const calls = plan.steps[step] ?? []
    return calls.length === 0
      ? [...says, { type: "finish", reason: "stop" }]
      : [...says, ...callsFor(...calls.map((call, n) => [...asCall(call), `c${n}`] as const))]
  }
  return { script, problems }
}
