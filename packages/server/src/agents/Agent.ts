import type { PermissionRule, PolicyLayer, TurnMode } from "@harness/protocol"
import { GENERAL_TOOLS } from "../permissions/policy.ts"
import { GENERAL_RULES } from "../permissions/rules.ts"
import type { VoiceSettings } from "../voice/VoiceSettings.ts"

/** Who works in a session: a prompt, what may be called, and what is allowed unasked. */
export interface Agent {
  readonly name: string
  readonly description: string
  /** `provider/model`; without one the session's. */
  readonly model?: string
  /** The agent's own instructions; empty for none. */
  readonly prompt: string
  readonly tools: PolicyLayer
  readonly permissions: ReadonlyArray<PermissionRule>
  /** The most steps of one turn. */
  readonly steps?: number
  /** How it works when a turn names no mode. */
  readonly mode: TurnMode
  /** How it speaks on calls. */
  readonly voice?: VoiceSettings
  readonly source: "builtin" | "workdir" | "data"
}

/** The agent of a session that names none. */
export const GENERAL = "general"

const READING = ["read", "list", "glob", "search", "webfetch", "todo", "question", "skill"]

/** The agents that are always there. */
export const BUILT_IN: ReadonlyArray<Agent> = [
  {
    name: GENERAL,
    description: "Works in the folder with every built-in tool, and asks before it changes anything.",
    prompt:
      "You are an agent that works in a person's folder with the tools you are given. Do what is asked, look before you change anything, and say plainly what you did and what you could not do.",
    tools: { allow: [...GENERAL_TOOLS] },
    permissions: GENERAL_RULES,
    mode: "agent",
    source: "builtin"
  },
  {
    name: "plan",
    description: "Reads, and answers with a plan; changes nothing.",
    prompt:
      "You work out what is to be done in a person's folder. You only read. Answer with a plan that others can follow.",
    tools: { allow: [...READING, "task"] },
    permissions: GENERAL_RULES,
    mode: "plan",
    source: "builtin"
  },
  {
    name: "explore",
    description: "Finds things out in the folder and reports them; changes nothing and asks nobody.",
    prompt:
      "You find things out in a person's folder. You only read. Answer with what was asked for, and where you found it.",
    tools: { allow: READING.filter((name) => name !== "question") },
    permissions: GENERAL_RULES,
    mode: "plan",
    source: "builtin"
  }
]
