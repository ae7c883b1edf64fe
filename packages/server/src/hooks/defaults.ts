import type { HookRow } from "./HooksRepo.ts"

const TIMEOUT_MILLIS = 5_000

/** A hook whole: one before something must agree, one after it may be missed, unless it says otherwise. */
export const withDefaults = ({
  functions,
  hookId,
  onError,
  point,
  priority,
  secret,
  timeoutMillis,
  url
}: Pick<HookRow, "hookId" | "point" | "url" | "secret" | "functions"> &
  Partial<{ readonly [K in "priority" | "timeoutMillis" | "onError"]: HookRow[K] | undefined }>): HookRow => ({
  hookId,
  point,
  url,
  ...(functions === undefined ? {} : { functions }),
  priority: priority ?? 0,
  timeoutMillis: timeoutMillis ?? TIMEOUT_MILLIS,
  onError: onError ?? (point.startsWith("pre-") ? "fail_closed" : "fail_open"),
  secret
})
