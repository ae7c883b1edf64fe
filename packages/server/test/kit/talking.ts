import { CONTINUE_NUDGE } from "../../src/providers/Model.ts"
import { wait } from "./plannedModel.ts"
import type { ScriptedRequest, Step } from "./scriptedModel.ts"
import { messagesOf, textOf } from "./stage.ts"

const PIECE = 7

/** What a model says at one step of a turn, and whether it then asks for the tool. */
export interface Talk {
  readonly text: string
  readonly tool?: string
}

/**
 * A model that says the talks of a turn one after another, at a pace, and goes on where it was cut. Which comes next, and from
 * where, the request alone tells.
 */
export const talking =
  (talks: ReadonlyArray<Talk>, pace: number) =>
  (request: ScriptedRequest): ReadonlyArray<Step> => {
    const messages = messagesOf(request)
    const last = messages.at(-1)
    const isCut = last?.role === "user" && textOf(last).startsWith(CONTINUE_NUDGE)
    const before = isCut ? messages.at(-2) : undefined
    const said = before === undefined ? "" : textOf(before)
    const from = messages.findLastIndex((message) => message.role === "user" && /^[a-z0-9-]+:/.test(textOf(message)))
    const done = messages.slice(from + 1).filter(({ role }) => role === "tool").length
    const talk = talks[done]
    if (talk === undefined) throw new Error(`asked a step too many: ${done}`)
    if (!talk.text.startsWith(said)) throw new Error(`asked to go on from ${JSON.stringify(said)}`)
    const steps: Array<Step> = []
    for (let at = said.length; at < talk.text.length; at += PIECE) {
      steps.push({ type: "text", text: talk.text.slice(at, at + PIECE) })
      if (pace > 0) steps.push(wait(pace))
    }
    if (talk.tool === undefined) return [...steps, { type: "finish", reason: "stop" }]
    const call = { type: "toolCall" as const, id: `call_${done}`, name: talk.tool, arguments: "{}" }
    return [...steps, call, { type: "finish", reason: "tool_calls" }]
  }
