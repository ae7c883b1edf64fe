import { Schema } from "effect"
import { TurnMode } from "./Turn.ts"

const next = Schema.NullOr(Schema.String)

/** A skill file. One with `problems` is shown, so that its writer sees why, and is not used. */
export const SkillListEntry = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  path: Schema.String,
  problems: Schema.optional(Schema.Array(Schema.String))
}).annotations({ identifier: "SkillListEntry" })
export type SkillListEntryValue = typeof SkillListEntry.Type

/** The skills of this host. */
export const RuntimeSkillsResponse = Schema.Struct({ skills: Schema.Array(SkillListEntry), next }).annotations({
  identifier: "RuntimeSkillsResponse"
})
export type RuntimeSkillsResponseValue = typeof RuntimeSkillsResponse.Type

/** The skills a session sees. */
export const SessionSkillsResponse = Schema.Struct({ skills: Schema.Array(SkillListEntry), next }).annotations({
  identifier: "SessionSkillsResponse"
})
export type SessionSkillsResponseValue = typeof SessionSkillsResponse.Type

/** An agent a session or a turn can be given; `source` says where it is defined. */
export const SessionAgentEntry = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  model: Schema.optional(Schema.String),
  mode: TurnMode,
  source: Schema.String
}).annotations({ identifier: "SessionAgentEntry" })
export type SessionAgentEntryValue = typeof SessionAgentEntry.Type

/** The agents a session sees. `problems`: files that were meant to be agents, from the server root, and why they are none. */
export const SessionAgentsResponse = Schema.Struct({
  agents: Schema.Array(SessionAgentEntry),
  next,
  problems: Schema.optional(Schema.Array(Schema.Struct({ path: Schema.String, reason: Schema.String })))
}).annotations({ identifier: "SessionAgentsResponse" })
export type SessionAgentsResponseValue = typeof SessionAgentsResponse.Type
