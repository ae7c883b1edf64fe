import type { PermissionAction, PermissionRule } from "@harness/protocol"
import { fixedPrefix, matches } from "./glob.ts"
import type { ToolResource } from "./Resource.ts"

/** What the built-in agent `general` may do unasked. `judge` keeps it inside the workdir. */
export const GENERAL_RULES: ReadonlyArray<PermissionRule> = [
  { permission: "read", pattern: "*", action: "allow" },
  { permission: "task", pattern: "*", action: "allow" },
  { permission: "external", pattern: "*", action: "allow" }
]

const isAbout = (rule: PermissionRule, text: string, permission: string): boolean => {
  if (matches(rule.pattern, text)) return true
  if (permission !== "shell") return false
  // `git status *` is also `git status`; a ban on `touch` is also one on `touch x`.
  if (rule.pattern.endsWith(" *") && matches(rule.pattern.slice(0, -2), text)) return true
  return rule.action !== "allow" && matches(`${rule.pattern} *`, text)
}

const isAbsolute = (path: string): boolean => /^(\/|[A-Za-z]:[\\/])/.test(path)

/**
 * May this be touched? Last match wins for each pattern, no match is `ask`; one `deny` denies all, one `ask` asks for
 * all. Outside the workdir only a rule that names an absolute path allows; what cannot be parsed is at best asked for.
 */
export const judge = (rules: ReadonlyArray<PermissionRule>, resource: ToolResource): PermissionAction => {
  const concerned = rules.filter((rule) => matches(rule.permission, resource.permission))
  const usable = resource.outside
    ? concerned.filter((rule) => rule.action !== "allow" || isAbsolute(fixedPrefix(rule.pattern)))
    : concerned
  const last = (among: ReadonlyArray<PermissionRule>, text: string): PermissionAction | undefined =>
    among.findLast((rule) => isAbout(rule, text, resource.permission))?.action
  const verdicts: Array<PermissionAction> = resource.patterns.map((pattern) => last(usable, pattern) ?? "ask")
  for (const { of, pattern } of resource.disguises ?? []) {
    // A rule that is also about the command as written was weighed there, and perhaps overruled on purpose.
    const others = usable.filter((rule) => rule.action !== "allow" && !isAbout(rule, of, resource.permission))
    verdicts.push(last(others, pattern) ?? "allow")
  }
  if (verdicts.includes("deny")) return "deny"
  if (verdicts.includes("ask") || resource.unparsed === true || resource.patterns.length === 0) return "ask"
  return "allow"
}
