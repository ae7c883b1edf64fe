import type { Part, TurnPart } from "@harness/protocol"
import type { Delta, Hub } from "../log/Hub.ts"
import type { ModelEvent } from "../providers/Model.ts"
import type { Tail } from "../turns/Progress.ts"
import type { PartRow, TurnRow } from "../turns/TurnsRepo.ts"

/** A part that holds this much is closed, and the text goes on in another: every row fits the wire. */
const PART_MAX = 131_072

type Kind = Delta["kind"]

interface GrowingPart {
  readonly kind: Kind
  readonly n: number
  /** The provider's name for the block; undefined when it came over from an answer that was cut off. */
  block: string | undefined
  text: string
  saved: number
}

/** A piece of the answer as the history keeps it: what a part shows, and what no part does. */
type Piece =
  | { readonly _tag: "Part"; readonly part: GrowingPart; signature?: string }
  | { readonly _tag: "Hidden"; readonly content: Part }

const kindOf = (part: TurnPart): Kind | undefined =>
  part.type === "text" || part.type === "reasoning" || part.type === "refusal" ? part.type : undefined

/** What one step has said so far: told to the readers as it comes, kept in the database in pieces. */
export class Growing {
  private readonly parts: Array<GrowingPart> = []
  private readonly pieces: Array<Piece> = []
  private wasCut = false
  private readonly hub: typeof Hub.Service
  private readonly turn: TurnRow
  private readonly step: number

  /** `held`: parts of this step that an earlier try left behind. */
  constructor(hub: typeof Hub.Service, turn: TurnRow, step: number, held: ReadonlyArray<PartRow>) {
    this.hub = hub
    this.turn = turn
    this.step = step
    for (const { n, part } of held) {
      const kind = kindOf(part)
      if (kind === undefined || !("text" in part)) continue
      this.add({ kind, n, block: undefined, text: part.text, saved: part.text.length })
      this.wasCut = true
    }
  }

  private add(part: GrowingPart): GrowingPart {
    this.parts.push(part)
    this.pieces.push({ _tag: "Part", part })
    return part
  }

  /** True once anything was said: from here on a cut answer is gone on with, not asked for again. */
  get begun(): boolean {
    return this.parts.length > 0
  }

  /** The answer was cut off: what the model says next goes on in the same text. */
  cut(): void {
    this.wasCut = true
    for (const part of this.parts) part.block = undefined
  }

  /** Code units that no checkpoint holds yet. */
  get unsaved(): number {
    return this.parts.reduce((sum, part) => sum + part.text.length - part.saved, 0)
  }

  /** The answer so far, without reasoning. */
  get text(): string {
    return this.parts.reduce((text, part) => (part.kind === "reasoning" ? text : text + part.text), "")
  }

  /** The answer's plain text, refusals only when there is nothing else. */
  get finalText(): string {
    const of = (kind: Kind) => this.parts.reduce((text, part) => (part.kind === kind ? text + part.text : text), "")
    return of("text") || of("refusal")
  }

  take(
    event: Extract<ModelEvent, { _tag: "Text" | "Reasoning" | "Refusal" | "ReasoningEnd" | "RedactedReasoning" }>
  ): void {
    switch (event._tag) {
      case "Text":
        this.grow("text", event.block, event.delta)
        break
      case "Reasoning":
        this.grow("reasoning", event.block, event.delta)
        break
      case "Refusal":
        this.grow("refusal", event.block, event.delta)
        break
      case "ReasoningEnd": {
        const { block, signature } = event
        if (signature === undefined) break
        const held = this.pieces.findLast(
          (piece) => piece._tag === "Part" && piece.part.kind === "reasoning" && piece.part.block === block
        )
        if (held?._tag === "Part") held.signature = signature
        else this.pieces.push({ _tag: "Hidden", content: { type: "reasoning", text: "", signature } })
        break
      }
      case "RedactedReasoning":
        this.pieces.push({ _tag: "Hidden", content: { type: "redacted_reasoning", data: event.data } })
    }
  }

  private grow(kind: Kind, block: string, text: string): void {
    for (let rest = text; rest !== ""; ) {
      const last = this.parts.at(-1)
      const goesOn =
        last !== undefined && last.kind === kind && last.text.length < PART_MAX && (last.block ?? block) === block
      const part = goesOn ? last : this.begin(kind, block)
      const delta = headOf(rest, PART_MAX - part.text.length)
      this.tell(part, delta)
      rest = rest.slice(delta.length)
    }
  }

  private tell(part: GrowingPart, delta: string): void {
    const { kind } = part
    const offset = part.text.length
    part.text += delta
    const { sessionId, turnId, attempt } = this.turn
    this.hub.delta({ kind, sessionId, turnId, attempt, partId: `p${part.n}`, offset, delta })
  }

  private begin(kind: Kind, block: string): GrowingPart {
    const n = this.hub.live.takePart(this.turn.sessionId, this.turn.turnId) ?? 1
    return this.add({ kind, n, block, text: "", saved: 0 })
  }

  private row(part: GrowingPart, text: string, done: boolean): PartRow {
    return { n: part.n, step: this.step, open: !done, part: { type: part.kind, partId: `p${part.n}`, text, done } }
  }

  /** What a checkpoint has to add; `saved` is then to be called when it stands. */
  tails(): { readonly tails: ReadonlyArray<Tail>; readonly saved: () => void } {
    const found = this.parts
      .filter((part) => part.text.length > part.saved)
      .map((part) => ({ part, length: part.text.length }))
    return {
      tails: found.map(({ part }) => ({
        row: this.row(part, "", false),
        at: part.saved,
        text: part.text.slice(part.saved)
      })),
      saved: () => {
        for (const { part, length } of found) part.saved = length
      }
    }
  }

  /** Every part as it is. */
  rows(done: boolean): ReadonlyArray<PartRow> {
    return this.parts.map((part) => this.row(part, part.text, done))
  }

  /** The answer as the history keeps it: pieces of one block are one again, a signature covers them all. */
  content(): ReadonlyArray<Part> {
    const said: Array<Part> = []
    let before: GrowingPart | undefined
    for (const piece of this.pieces) {
      const part = piece._tag === "Part" ? piece.part : undefined
      // Reasoning around a cut stands where no provider takes it back.
      const dropped = this.wasCut && part?.kind !== "text" && part?.kind !== "refusal"
      if (dropped || part?.text === "") continue
      const content = piece._tag === "Hidden" ? piece.content : contentOf(piece.part, piece.signature)
      const last = said.at(-1)
      if (last !== undefined && part !== undefined && before !== undefined && sameBlock(before, part)) {
        said[said.length - 1] = joined(last, content)
      } else said.push(content)
      before = part
    }
    return said
  }
}

const sameBlock = (a: GrowingPart, b: GrowingPart): boolean => a.kind === b.kind && a.block === b.block

const contentOf = (part: GrowingPart, signature: string | undefined): Part =>
  part.kind === "reasoning"
    ? { type: "reasoning", text: part.text, ...(signature === undefined ? {} : { signature }) }
    : { type: "text", text: part.text }

const joined = (before: Part, after: Part): Part =>
  "text" in before && "text" in after ? { ...after, text: before.text + after.text } : after

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

/** As much of a text as there is room for, whole characters only; at least one. */
const headOf = (text: string, room: number): string => {
  if (text.length <= room) return text
  const end = isHighSurrogate(text.charCodeAt(room - 1)) ? room - 1 : room
  return text.slice(0, Math.max(end, 2))
}
