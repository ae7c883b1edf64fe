import type { Lookup } from "../../src/workspace/WebAccess.ts"

/** Host names that lead to these addresses, and others nowhere. */
export const named =
  (addresses: Readonly<Record<string, ReadonlyArray<string>>>): Lookup =>
  (hostname) =>
    Promise.resolve(
      (addresses[hostname] ?? []).map((address) => ({
        address,
        family: address.includes(":") ? (6 as const) : (4 as const)
      }))
    )
