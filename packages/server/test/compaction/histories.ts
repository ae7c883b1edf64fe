import { CallId, EntryId, type Part, type PromptPart } from "@harness/protocol"
import { FastCheck as fc } from "effect"
import type { StoredEntry } from "../../src/history/HistoryRepo.ts"

const text = fc.oneof(
  { weight: 4, arbitrary: fc.string({ minLength: 1, maxLength: 40 }) },
  { weight: 1, arbitrary: fc.constantFrom("", " ", "\n\t", "x\ud83d", "漢字かな交じり文", "🌍".repeat(9)) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 6_000 }).map((length) => "long ".repeat(length)) }
)

const textPart = text.map((said): PromptPart => ({ type: "text", text: said }))

const promptPart = fc.oneof(
  { weight: 5, arbitrary: textPart },
  { weight: 1, arbitrary: fc.constant<PromptPart>({ type: "image", mime: "image/png", data: "iVBORw0KGgo=" }) },
  { weight: 1, arbitrary: fc.constant<PromptPart>({ type: "file", mime: "text/csv", name: "a.csv", data: "YSwx" }) },
  { weight: 1, arbitrary: fc.constant<PromptPart>({ type: "file", mime: "a/zip", name: "b.zip", data: "UEs=" }) }
)

const promptParts = fc.array(promptPart, { maxLength: 3 })

const provider = fc.constantFrom("openai", "anthropic", "google", undefined)

const aside = fc.oneof(
  textPart,
  text.map((said): Part => ({ type: "reasoning", text: said })),
  text.map((said): Part => ({ type: "reasoning", text: said, signature: "c2ln" })),
  fc.constant<Part>({ type: "reasoning", text: "", signature: "c2ln" }),
  fc.constant<Part>({ type: "redacted_reasoning", data: "c2VjcmV0" })
)

const call = fc.record({
  name: fc.constantFrom("read", "shell", "mcp.weather.ask", "röad", ""),
  arguments: fc.oneof(
    fc.constant({}),
    fc.constantFrom<string | number | null>("cut {", 3, null),
    fc.dictionary(fc.string(), text, { maxKeys: 2 })
  ),
  /** None: it has no result. */
  result: fc.option(fc.record({ content: promptParts, isError: fc.boolean() }), { freq: 5, nil: undefined }),
  /** Where its result stands among the others. */
  place: fc.nat()
})

const said = fc.oneof(
  { weight: 3, arbitrary: promptParts.map((content) => ({ role: "user" as const, content })) },
  { weight: 1, arbitrary: promptParts.map((content) => ({ role: "custom" as const, content })) },
  {
    weight: 1,
    arbitrary: text.map((whole) => ({ role: "system" as const, content: [{ type: "text" as const, text: whole }] }))
  }
)

const step = fc.record({
  role: fc.constant("step" as const),
  provider,
  before: fc.array(aside, { maxLength: 3 }),
  calls: fc.array(call, { maxLength: 4 }),
  after: fc.array(aside, { maxLength: 2 }),
  /** What came while its calls ran, after so many of their results. */
  steers: fc.array(fc.record({ behind: fc.nat({ max: 4 }), content: promptParts }), { maxLength: 2 })
})

const orphan = text.map((whole) => ({ role: "orphan" as const, text: whole }))

/** What can be in a history, in any order, and what should not be: missing results, results of no call, steers between. */
export const history: fc.Arbitrary<ReadonlyArray<StoredEntry>> = fc
  .array(fc.oneof({ weight: 4, arbitrary: said }, { weight: 5, arbitrary: step }, { weight: 1, arbitrary: orphan }), {
    maxLength: 12
  })
  .map((moves) => {
    const entries: Array<StoredEntry> = []
    let calls = 0
    const newCall = () => CallId.make(`call_${String(++calls).padStart(26, "0")}`)
    const add = (entry: Omit<StoredEntry, "ord" | "entryId">) =>
      entries.push({ ...entry, ord: entries.length + 1, entryId: EntryId.make(`e${entries.length + 1}`) })
    const result = (callId: CallId, content: ReadonlyArray<PromptPart>, isError: boolean) =>
      add({ role: "tool", callId, content: [{ type: "result", callId, content, isError }] })
    for (const move of moves) {
      if (move.role === "orphan") {
        result(newCall(), [{ type: "text", text: move.text }], false)
      } else if (move.role === "step") {
        const asked = move.calls.map((one) => ({ ...one, callId: newCall() }))
        const content: ReadonlyArray<Part> = [
          ...move.before,
          ...asked.map(({ arguments: args, callId, name }): Part => ({ type: "call", callId, name, arguments: args })),
          ...move.after
        ]
        add({ role: "assistant", content, ...(move.provider === undefined ? {} : { provider: move.provider }) })
        const ordered = asked.toSorted((a, b) => a.place - b.place)
        for (let at = 0; at <= 4; at++) {
          for (const steer of move.steers) if (steer.behind === at) add({ role: "user", content: steer.content })
          const one = ordered[at]
          if (one?.result !== undefined) result(one.callId, one.result.content, one.result.isError)
        }
      } else {
        add(move)
      }
    }
    return entries
  })

/** How much of a history's end stays. */
export const keep = fc.record({
  tokens: fc.oneof(fc.constant(0), fc.nat({ max: 200 }), fc.nat({ max: 50_000 })),
  units: fc.nat({ max: 6 })
})

/** The history as it is once a summary stands for its head. */
export const summarised = (
  entries: ReadonlyArray<StoredEntry>,
  head: ReadonlyArray<StoredEntry>
): ReadonlyArray<StoredEntry> => {
  const last = head.at(-1)
  if (last === undefined) return entries
  const summary: StoredEntry = {
    entryId: EntryId.make("summary"),
    ord: last.ord,
    role: "system",
    content: [{ type: "text", text: "They greeted each other." }]
  }
  return [summary, ...entries.slice(head.length)]
}

export const callsIn = (entries: ReadonlyArray<StoredEntry>): ReadonlyArray<string> =>
  entries.flatMap(({ content }) => content.flatMap((part) => (part.type === "call" ? [part.callId] : [])))

export const resultsIn = (entries: ReadonlyArray<StoredEntry>): ReadonlyArray<string> =>
  entries.flatMap(({ content }) => content.flatMap((part) => (part.type === "result" ? [part.callId] : [])))
