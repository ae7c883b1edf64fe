import type { HistoryEntry, Part } from "@harness/protocol"
import { Effect } from "effect"
import { HistoryRepo, type WholeEntry } from "../history/HistoryRepo.ts"
import type { Tx } from "../log/Commit.ts"
import { SessionsRepo } from "../sessions/SessionsRepo.ts"
import { alignSpoken } from "../voice/align.ts"
import type { ReplyRow, SpokenLine } from "../voice/VoiceRepo.ts"

const textOf = (content: ReadonlyArray<Part>): string =>
  content.reduce((text, part) => (part.type === "text" ? text + part.text : text), "")

/** A piece of a reply, as it was said: a line of ours, or the text of an entry. */
type Piece =
  | { readonly _tag: "Line"; readonly text: string }
  | { readonly _tag: "Entry"; readonly text: string; readonly entry: WholeEntry }

/** The reply in the order it was said: lines stand before the text they were said before, or behind all of it. */
const piecesOf = (said: ReadonlyArray<WholeEntry>, lines: ReadonlyArray<SpokenLine>): ReadonlyArray<Piece> => {
  const texts = said.filter(({ whole }) => textOf(whole).trim() !== "")
  const at = (index: number) =>
    lines
      .filter(({ before }) => (index < texts.length ? before === index : before >= index))
      .map(({ text }): Piece => ({ _tag: "Line", text }))
  const pieces = texts.flatMap(
    (entry, index): ReadonlyArray<Piece> => [...at(index), { _tag: "Entry", entry, text: textOf(entry.whole) }]
  )
  return [...pieces, ...at(texts.length)]
}

/** What was heard of each piece. Words that cannot be found in the reply stand as they are in its last text. */
const heardOf = (pieces: ReadonlyArray<Piece>, reply: Pick<ReplyRow, "heard" | "spoken">): ReadonlyArray<string> => {
  const texts = pieces.map(({ text }) => text)
  if (reply.heard === "all" || reply.heard === null) return texts
  if (reply.heard === "none" || reply.spoken === null) return texts.map(() => "")
  const aligned = alignSpoken(texts, reply.spoken)
  if (aligned !== undefined) return aligned
  const last = pieces.findLastIndex(({ _tag }) => _tag === "Entry")
  return texts.map((_, index) => (index === last ? (reply.spoken ?? "") : ""))
}

/** An entry's parts with other words: they stand where its first text stood. */
const worded = (whole: ReadonlyArray<Part>, text: string): ReadonlyArray<Part> => {
  const first = whole.findIndex((part) => part.type === "text")
  const parts = whole.flatMap((part, index): ReadonlyArray<Part> => {
    if (part.type !== "text") return [part]
    return index === first && text !== "" ? [{ type: "text", text }] : []
  })
  return parts.some(({ type }) => type === "text" || type === "call") ? parts : []
}

const joined = (texts: ReadonlyArray<string>): string =>
  texts
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .join(" ")

const same = (a: ReadonlyArray<Part>, b: ReadonlyArray<Part>): boolean => JSON.stringify(a) === JSON.stringify(b)

/** An entry as its change is told. */
type Told = Pick<HistoryEntry, "entryId" | "content" | "interrupted" | "estimated">

/** The words each entry is left with, and those of lines that no entry can hold. */
export const wordsOf = (
  said: ReadonlyArray<WholeEntry>,
  reply: Pick<ReplyRow, "heard" | "spoken" | "lines">
): { readonly entries: ReadonlyMap<WholeEntry, string>; readonly loose: string } => {
  const pieces = piecesOf(said, reply.lines)
  const heard = heardOf(pieces, reply)
  const entries = new Map<WholeEntry, string>()
  let waiting: Array<string> = []
  let last: WholeEntry | undefined
  pieces.forEach((piece, index) => {
    const text = heard[index] ?? ""
    if (piece._tag === "Line") {
      waiting.push(text)
      return
    }
    entries.set(piece.entry, waiting.some((line) => line !== "") ? joined([...waiting, text]) : text)
    waiting = []
    last = piece.entry
  })
  const loose = joined(waiting)
  if (last === undefined || loose === "") return { entries, loose }
  entries.set(last, joined([entries.get(last) ?? "", loose]))
  return { entries, loose: "" }
}

/**
 * Makes the history hold what was heard of a reply, in one commit: each entry that changes is told. What is not known yet
 * counts as heard.
 */
export const keepHeard = (tx: Tx, reply: ReplyRow) =>
  Effect.gen(function* () {
    const { sessionId, turnId } = reply
    const all = yield* HistoryRepo.saidBy(tx, sessionId, turnId)
    const said = all.slice(reply.firstEntry, reply.endEntry ?? all.length)
    const { entries, loose } = wordsOf(said, reply)
    const tell = (entry: Told) =>
      Effect.gen(function* () {
        const cursor = yield* SessionsRepo.advance(tx, sessionId, 1)
        yield* tx.append({ sessionId, cursor, type: "entry" }, {}, { entry: { ...entry, role: "assistant", turnId } })
      })
    for (const [entry, text] of entries) {
      const content = worded(entry.whole, text)
      const estimated = reply.heard === "estimate" && !same(content, entry.whole)
      if (same(content, entry.content) && estimated === entry.estimated) continue
      yield* HistoryRepo.rewrite(tx, sessionId, { ...entry, content, estimated })
      const { entryId } = entry
      yield* tell({ entryId, content, interrupted: true, ...(estimated ? { estimated } : {}) })
    }
    if (loose === "") return
    const content: ReadonlyArray<Part> = [{ type: "text", text: loose }]
    const entryId = yield* HistoryRepo.appendEntry(tx, { sessionId, turnId, role: "assistant", body: { content } })
    yield* tell({ entryId, content })
  })
