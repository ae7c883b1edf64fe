import type { PolicyLayer, TurnMode } from "@harness/protocol"
import { matches } from "./glob.ts"

/** The tools the built-in agent `general` may use, by name. */
export const GENERAL_TOOLS: ReadonlyArray<string> = [
  "read",
  "list",
  "write",
  "edit",
  "glob",
  "search",
  "shell",
  "shell_jobs",
  "shell_end",
  "webfetch",
  "question",
  "task",
  "todo",
  "skill"
]

/** The policy layer of `general`: the built-in tools, and those the session declares itself. */
export const generalLayer = (declared: ReadonlyArray<string> = []): PolicyLayer => ({
  allow: [...GENERAL_TOOLS, ...declared]
})

const some = (globs: ReadonlyArray<string>, name: string): boolean => globs.some((glob) => matches(glob, name))

/**
 * May the tool of this full name be called at all? Every layer must agree, a `deny` wins, a layer without `allow`
 * narrows nothing; nobody saying yes is a no.
 */
export const policyAllows = (layers: ReadonlyArray<PolicyLayer | undefined>, name: string): boolean => {
  const present = layers.filter((layer) => layer !== undefined)
  return (
    present.some((layer) => layer.allow !== undefined) &&
    present.every((layer) => !some(layer.deny ?? [], name) && (layer.allow === undefined || some(layer.allow, name)))
  )
}

/** `plan` and `ask` only read, whatever the prompt says. */
export const modeAllows = (mode: TurnMode, tool: { readonly readOnly: boolean }): boolean =>
  mode === "agent" || tool.readOnly

/** One glob that cannot be meant: where it stands, and why. */
export interface GlobIssue {
  readonly path: string
  readonly reason: string
}

const GLOB_MAX_LENGTH = 256

const reasonAgainst = (glob: string): string | undefined => {
  if (glob === "") return "must not be empty"
  if (glob.length > GLOB_MAX_LENGTH) return `must be at most ${GLOB_MAX_LENGTH} characters`
  if (/[\s\p{Cc}]/u.test(glob)) return "must not hold white space or control characters"
  if (/[[\]{}\\]/.test(glob)) return "knows * and ? only: no brackets, braces or backslashes"
  if (glob.startsWith("!")) return "must not begin with !; name it under deny"
  return undefined
}

/** What is wrong with these globs, for `policy.invalid_glob`; empty when nothing is. Never quotes a glob. */
export const validateGlobs = (globs: ReadonlyArray<string>, path = ""): ReadonlyArray<GlobIssue> =>
  globs.flatMap((glob, index) => {
    const reason = reasonAgainst(glob)
    return reason === undefined ? [] : [{ path: `${path}[${index}]`, reason }]
  })

/** The same for a whole layer. */
export const validateLayer = (layer: PolicyLayer, path = "tools"): ReadonlyArray<GlobIssue> => [
  ...validateGlobs(layer.allow ?? [], `${path}.allow`),
  ...validateGlobs(layer.deny ?? [], `${path}.deny`)
]
