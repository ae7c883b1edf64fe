/** Lone surrogates become U+FFFD; all other text stays as it is. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, "\uFFFD")

/** As `wellFormed`, for every string and key inside a JSON value. */
export const wellFormedJson = (value: unknown): unknown => {
  if (typeof value === "string") return wellFormed(value)
  if (Array.isArray(value)) return value.map(wellFormedJson)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [wellFormed(key), wellFormedJson(item)]))
}

/** Whether a text has nothing to read; some providers refuse such a block, no model misses it. */
export const isBlank = (text: string): boolean => text.trim() === ""

const endsInHighHalf = (text: string): boolean => /[\uD800-\uDBFF]$/.test(text)

/** Well-formed deltas out of any: the first half of a pair waits for the delta that brings the second. */
export interface Deltas {
  readonly push: (block: string, delta: string) => string
  /** What still waited in a block that has ended. */
  readonly end: (block: string) => string
}

export const makeDeltas = (): Deltas => {
  const held = new Map<string, string>()
  return {
    push: (block, delta) => {
      const text = (held.get(block) ?? "") + delta
      if (!endsInHighHalf(text)) {
        held.delete(block)
        return wellFormed(text)
      }
      held.set(block, text.slice(-1))
      return wellFormed(text.slice(0, -1))
    },
    end: (block) => {
      const rest = held.get(block) ?? ""
      held.delete(block)
      return wellFormed(rest)
    }
  }
}

/** The first `max` code units, never cutting a pair. */
export const brief = (text: string, max: number): string => {
  if (text.length <= max) return text
  const cut = text.slice(0, max)
  return `${endsInHighHalf(cut) ? cut.slice(0, -1) : cut}…`
}
