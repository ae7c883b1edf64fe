import { Schema } from "effect"

/** What a rule decides. Last match wins. */
export const PermissionAction = Schema.Literal("allow", "ask", "deny").annotations({ identifier: "PermissionAction" })
export type PermissionAction = typeof PermissionAction.Type

/** `permission` is a tool's kind (`read`, `edit`, `shell`, …), `pattern` a glob over its resource. */
export const PermissionRule = Schema.Struct({
  permission: Schema.NonEmptyString,
  pattern: Schema.NonEmptyString,
  action: PermissionAction
}).annotations({ identifier: "PermissionRule" })
export type PermissionRule = typeof PermissionRule.Type

/** One layer of the tool policy, in globs over full tool names. No `allow` narrows nothing, an empty one denies all. */
export const PolicyLayer = Schema.Struct({
  allow: Schema.optional(Schema.Array(Schema.NonEmptyString)),
  deny: Schema.optional(Schema.Array(Schema.NonEmptyString))
}).annotations({ identifier: "PolicyLayer" })
export type PolicyLayer = typeof PolicyLayer.Type
