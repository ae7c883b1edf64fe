import type { CliFailure } from "../failures.ts"
import type { Style } from "./style.ts"
import { oneLine } from "./text.ts"

/** One line on what went wrong, and under it what to do about it. */
export const failureLines = (failure: CliFailure, style: Style): string => {
  const line = `${style.red("harness:")} ${oneLine(failure.message, 600)}\n`
  return failure.hint === undefined ? line : `${line}${style.dim(`  ${oneLine(failure.hint, 600)}`)}\n`
}

/** The same for a program, the last line of `--json`. */
export const failureJson = (failure: CliFailure): string => `${JSON.stringify({ error: failure.error })}\n`
