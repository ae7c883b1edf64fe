import type { Style } from "./style.ts"
import { oneLine } from "./text.ts"

/** One thing that was looked at. */
export interface Check {
  readonly name: string
  readonly result: "ok" | "warn" | "fail"
  readonly said: string
}

/** Checks, one to a line. */
export const checkLines = (checks: ReadonlyArray<Check>, style: Style): string => {
  const paint = { ok: style.green, warn: style.yellow, fail: style.red }
  return checks
    .map(({ name, result, said }) => `${paint[result](result.padEnd(4))}  ${name.padEnd(12)} ${oneLine(said, 400)}\n`)
    .join("")
}
