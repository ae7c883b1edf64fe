import type { Usage } from "@harness/protocol"

const keys = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "reasoningTokens",
  "costUsd",
  "speculative"
] as const

/** Two usages together. A number neither reports stays absent. */
export const addUsage = (a: Usage, b: Usage): Usage =>
  Object.fromEntries(
    keys.flatMap((key) => {
      const left = a[key]
      const right = b[key]
      return left === undefined && right === undefined ? [] : [[key, (left ?? 0) + (right ?? 0)]]
    })
  )
