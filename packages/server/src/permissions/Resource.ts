/** What a call would touch: for the permission rules, and for a person who is asked. */
export interface ToolResource {
  /** The tool's kind: `read`, `edit`, `shell`, … */
  readonly permission: string
  /** Every one of these must be allowed. */
  readonly patterns: ReadonlyArray<string>
  /** What else a pattern runs under another name (`env touch x` runs `touch x`): a rule can refuse it, none is needed. */
  readonly disguises?: ReadonlyArray<{ readonly pattern: string; readonly of: string }>
  readonly title: string
  /** The whole command, path or diff. */
  readonly detail: string
  /** It reaches something outside the workdir. */
  readonly outside: boolean
  /** Patterns cannot judge it: at best a person can. */
  readonly unparsed?: boolean
}
