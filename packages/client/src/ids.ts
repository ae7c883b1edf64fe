import { Clock, Effect } from "effect"

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

const timePart = (millis: number) =>
  Array.from({ length: 10 }, (_, place) => alphabet[Math.floor(millis / 32 ** (9 - place)) % 32]).join("")

/** An id of the caller's: `<prefix>_<ULID>`, so that ids made later sort later. */
export const mint = (prefix: string): Effect.Effect<string> =>
  Effect.map(Clock.currentTimeMillis, (millis) => {
    // getRandomValues, for randomUUID is missing on pages that came without TLS.
    const random = crypto.getRandomValues(new Uint8Array(16))
    return `${prefix}_${timePart(millis)}${Array.from(random, (byte) => alphabet[byte % 32]).join("")}`
  })
