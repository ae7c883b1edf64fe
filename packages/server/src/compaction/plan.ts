import type { StoredEntry } from "../history/HistoryRepo.ts"
import { tokensOf, totalTokens } from "./tokens.ts"

/** A tool's result of more tokens than this is worth leaving out. */
const PRUNED_MIN = 500
/** One entry alone is worth a summary when it has more tokens than this. */
const ALONE_MIN = 1_000

/**
 * Entries that stand or fall together: an answer with the results of its calls and whatever came between, or one entry
 * alone.
 */
export const unitsOf = (entries: ReadonlyArray<StoredEntry>): ReadonlyArray<ReadonlyArray<StoredEntry>> => {
  const units: Array<Array<StoredEntry>> = []
  const asked = new Map<string, Array<StoredEntry>>()
  for (const entry of entries) {
    const results = entry.content.filter((part) => part.type === "result")
    const asking = results.flatMap(({ callId }) => units.indexOf(asked.get(callId) ?? []))
    const from = entry.role === "tool" ? Math.min(units.length - 1, ...asking.filter((at) => at >= 0)) : -1
    const unit = from < 0 ? [entry] : [...units.splice(from).flat(), entry]
    units.push(unit)
    for (const one of unit) {
      for (const part of one.content) if (part.type === "call") asked.set(part.callId, unit)
    }
  }
  return units
}

/** What of a history is left as it is. */
export interface Keep {
  /** The newest units that fit so many tokens, and at least so many of them. */
  readonly tokens: number
  readonly units: number
  /** Whatever stands here or later. */
  readonly from?: number
}

/** The head of a history that a summary may stand for. Empty when there is nothing to gain. */
export const headOf = (entries: ReadonlyArray<StoredEntry>, keep: Keep): ReadonlyArray<StoredEntry> => {
  const units = unitsOf(entries)
  let kept = 0
  let tokens = 0
  for (const unit of units.toReversed()) {
    tokens += totalTokens(unit)
    const mayGo = unit.every(({ ord }) => ord < (keep.from ?? Number.POSITIVE_INFINITY))
    if (mayGo && kept >= keep.units && tokens > keep.tokens) break
    kept++
  }
  const head = units.slice(0, units.length - kept).flat()
  const [alone] = head
  if (head.length > 1 || alone === undefined) return head
  return alone.role !== "system" && tokensOf(alone) > ALONE_MIN ? head : []
}

const LEFT_OUT = [{ type: "text" as const, text: "[An old result, left out to save room.]" }]

/** Long results of old calls, left out: the request stays valid, the newest `keepUnits` answers stay whole. */
export const pruned = (entries: ReadonlyArray<StoredEntry>, keepUnits: number): ReadonlyArray<StoredEntry> => {
  const answers = unitsOf(entries).filter((unit) => unit.some(({ role }) => role === "assistant"))
  const newest = new Set(answers.slice(Math.max(0, answers.length - keepUnits)).flat())
  return entries.map((entry) => {
    if (entry.role !== "tool" || newest.has(entry)) return entry
    return {
      ...entry,
      content: entry.content.map((part) =>
        part.type === "result" && tokensOf(part) >= PRUNED_MIN ? { ...part, content: LEFT_OUT } : part
      )
    }
  })
}
