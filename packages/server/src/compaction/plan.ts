import type { StoredEntry } from "../history/HistoryRepo.ts"

/** Characters of one token, roughly, in any language models are trained on. */
const CHARACTERS_PER_TOKEN = 4
/** An image costs about this many tokens, whatever its bytes. */
const IMAGE_TOKENS = 1_000
/** A tool's result longer than this is worth pruning. */
const PRUNED_MIN = 2_000

const tokensOfText = (text: string): number => Math.ceil(text.length / CHARACTERS_PER_TOKEN)

/** Roughly how many tokens an entry costs. */
export const tokensOf = ({ content }: Pick<StoredEntry, "content">): number =>
  content.reduce((sum, part): number => {
    if (part.type === "image" || part.type === "file") return sum + IMAGE_TOKENS
    if (part.type === "result") return sum + tokensOf({ content: part.content })
    if (part.type === "call") return sum + tokensOfText(JSON.stringify(part.arguments)) + 8
    return sum + tokensOfText("text" in part ? part.text : part.data) + 4
  }, 0)

export const totalTokens = (entries: ReadonlyArray<StoredEntry>): number =>
  entries.reduce((sum, entry) => sum + tokensOf(entry), 0)

/** Entries that stand or fall together: an answer with the results of its calls, or one entry alone. */
export const unitsOf = (entries: ReadonlyArray<StoredEntry>): ReadonlyArray<ReadonlyArray<StoredEntry>> => {
  const units: Array<Array<StoredEntry>> = []
  for (const entry of entries) {
    if (entry.role === "tool") units.at(-1)?.push(entry)
    else units.push([entry])
  }
  return units
}

/**
 * The head of a history that a summary may stand for: everything but the newest units that fit `keepTokens`, and at least
 * the newest `keepUnits`. Empty when there is nothing to gain.
 */
export const headOf = (
  entries: ReadonlyArray<StoredEntry>,
  keep: { readonly tokens: number; readonly units: number }
): ReadonlyArray<StoredEntry> => {
  const units = unitsOf(entries)
  let kept = 0
  let tokens = 0
  for (const unit of units.toReversed()) {
    tokens += totalTokens(unit)
    if (kept >= keep.units && tokens > keep.tokens) break
    kept++
  }
  const head = units.slice(0, units.length - kept).flat()
  return head.length <= 1 ? [] : head
}

/** Long results of old calls, left out: the request stays valid, the newest steps stay whole. */
export const pruned = (entries: ReadonlyArray<StoredEntry>, keepUnits: number): ReadonlyArray<StoredEntry> => {
  const units = unitsOf(entries)
  const answers = units.filter(([first]) => first?.role === "assistant")
  const newest = new Set(answers.slice(-keepUnits).flat())
  return entries.map((entry) => {
    if (entry.role !== "tool" || newest.has(entry)) return entry
    return {
      ...entry,
      content: entry.content.map((part) => {
        if (part.type !== "result" || tokensOf({ content: part.content }) * CHARACTERS_PER_TOKEN < PRUNED_MIN)
          return part
        return { ...part, content: [{ type: "text" as const, text: "[An old result, left out to save room.]" }] }
      })
    }
  })
}

const SHOWN_MAX = 4_000

const cut = (text: string): string =>
  text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX / 2)} … ${text.slice(-SHOWN_MAX / 2)}`

const lineOf = (entry: StoredEntry): string => {
  const said = entry.content.map((part): string => {
    switch (part.type) {
      case "text":
        return part.text
      case "call":
        return `(calls ${part.name} with ${cut(JSON.stringify(part.arguments))})`
      case "result":
        return `(${part.isError ? "error" : "result"}: ${cut(lineOf({ ...entry, content: part.content }))})`
      case "image":
      case "file":
        return `(a ${part.type}: ${part.mime})`
      default:
        return ""
    }
  })
  return said.filter((text) => text !== "").join("\n")
}

const speakers: Record<StoredEntry["role"], string> = {
  system: "Summary of what came before",
  user: "User",
  custom: "Note",
  assistant: "Assistant",
  tool: "Tool"
}

/** A history as plain text: to be summarised by any model, calls and results included, without tools on offer. */
export const transcriptOf = (entries: ReadonlyArray<StoredEntry>): string =>
  entries.map((entry) => `${speakers[entry.role]}:\n${lineOf(entry)}`).join("\n\n")
