import type { TurnSnapshot } from "@harness/protocol"
import { count } from "./asks.ts"
import { callsFor, type Gate, type ScriptedRequest, type Step, says } from "./scriptedModel.ts"
import { type Act, messagesOf, textOf } from "./stage.ts"
import type { Tenacious } from "./tenacious.ts"

/** One way for a turn, played by a user who goes on through a death; the same whether there is one or not. */
export interface Scenario {
  /** The session's configuration. */
  readonly config: object
  /** What the model does under the session's name. `gate` is there for whoever wants to stop it. */
  readonly act: (gate: Gate) => Act
  /** What it does for a sub-agent. */
  readonly child?: (gate: Gate) => Act
  /** Up to the end of turn `t`. */
  readonly play: (user: Tenacious, gate: Gate) => Promise<TurnSnapshot>
  /** How often the model is asked under the session's name when nothing is lost. */
  readonly requests: number
  /** How often the counted command runs. */
  readonly runs: number
}

/** Whether calls were answered already. */
export const answered = (request: ScriptedRequest): boolean => messagesOf(request).some(({ role }) => role === "tool")
/** Whether a text is among what the model is sent. */
export const said = (request: ScriptedRequest, text: string): boolean =>
  messagesOf(request).some((message) => textOf(message).includes(text))
/** These calls, and once they are answered a last word. */
export const once = (
  request: ScriptedRequest,
  ...calls: ReadonlyArray<readonly [name: string, args: unknown, id?: string]>
): ReadonlyArray<Step> => (answered(request) ? says("done") : callsFor(...calls))

/** A command that leaves a line for each of its runs. */
export const COUNTED = ["shell", { command: count("one") }] as const
/** A prompt, and nothing but its end. */
export const simple =
  (more: object = {}): Scenario["play"] =>
  async (user) => {
    await user.prompt("t", "go", more)
    return user.ended("t")
  }
