import { Context } from "effect"

/**
 * Hears of the named moments around the commits of a turn's way: `before-…` when a command has written everything and nothing
 * is committed, `after-…` when it is. Tests end the process there; everybody else has nobody listening.
 */
export class CrashPoints extends Context.Reference<CrashPoints>()("@harness/server/CrashPoints", {
  defaultValue: (): { readonly pass: (point: string, sessionId: string) => void } => ({ pass: () => {} })
}) {}
