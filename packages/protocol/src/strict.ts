/** Annotations of a request's root: unknown fields are refused, and everything wrong is told at once. */
export const strict = { parseOptions: { errors: "all", onExcessProperty: "error" } } as const
