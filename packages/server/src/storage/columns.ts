import { createHash } from "node:crypto"

/** A JSON column, back as what was put in. Only this program writes them, so the type is the one it was written with. */
export const fromColumn = <A>(text: string): A => JSON.parse(text)

/** A time in milliseconds, as the wire says it. */
export const toTimestamp = (millis: number): string => new Date(millis).toISOString()

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([key, field]) => [key, sorted(field)])
  )
}

/** Tells whether two requests ask for the same, whatever the order of their keys. */
export const requestHash = (request: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(sorted(request)))
    .digest("base64url")
