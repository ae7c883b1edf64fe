import { foldTurn, textChanges } from "@harness/client"
import type { TurnPart, TurnSnapshot, TurnStreamEventValue } from "@harness/protocol"
import type { Writer } from "../Surroundings.ts"
import { harmless, oneLine } from "./text.ts"
import { callLine, settledLine } from "./tools.ts"

/** Text for one of the two streams. */
export interface Piece {
  readonly to: "out" | "err"
  readonly text: string
}

const settled = new Set(["completed", "failed", "rejected", "cancelled", "interrupted"])

const other = { out: "err", err: "out" } as const

/**
 * A turn as a person reads it: the answer on one stream, everything around it on the other. Both may be one screen, so it
 * remembers where a line is still open.
 */
export class Transcript {
  private turn: TurnSnapshot | undefined
  private readonly writers: { readonly out: Writer; readonly err: Writer }
  private readonly oneScreen: boolean
  private readonly open = { out: false, err: false }
  /** What the turn asks, and nobody has answered. */
  private readonly asks = new Set<string>()
  /** The part whose text is being shown. */
  private part: string | undefined

  constructor(out: Writer, err: Writer) {
    this.writers = { out, err }
    this.oneScreen = out === err || (out.isTerminal && err.isTerminal)
  }

  /** What has to be shown after one more event. */
  take(event: TurnStreamEventValue): ReadonlyArray<Piece> {
    const before = this.turn
    const after = foldTurn(before, event)
    this.hear(event)
    if (after === undefined || after === before) return []
    this.turn = after
    return [
      ...this.states(before, after),
      ...this.texts(before, after),
      ...this.others(before, after),
      ...this.waits(before, after)
    ]
  }

  /** Somebody else is to write: no line stays open, and what comes later starts on one of its own. */
  aside(): ReadonlyArray<Piece> {
    this.part = undefined
    return this.end()
  }

  /** The end: no line stays open. */
  end(): ReadonlyArray<Piece> {
    return [...this.close("out"), ...this.close("err")]
  }

  /** What is asked is put to the person, or rejected: that is not for us to show. */
  private hear(event: TurnStreamEventValue) {
    if (event.type === "turn.approval.requested") this.asks.add(event.request.requestId)
    if (event.type === "turn.question.asked") this.asks.add(event.question.questionId)
    if (event.type === "turn.approval.resolved") this.asks.delete(event.requestId)
    if (event.type === "turn.question.replied" || event.type === "turn.question.rejected") {
      this.asks.delete(event.questionId)
    }
  }

  private states(before: TurnSnapshot | undefined, after: TurnSnapshot): ReadonlyArray<Piece> {
    const pieces: Array<Piece> = []
    if (before !== undefined && after.attempt > before.attempt) {
      pieces.push(...this.line(`! the server was restarted; this is attempt ${after.attempt}`))
    }
    if (before?.state === after.state) return pieces
    if (after.state === "queued") pieces.push(...this.line("… queued behind the session's other turns"))
    return pieces
  }

  /** What it waits for, unless that is something it asks. Of a turn that is first seen waiting, asks are not known yet. */
  private waits(before: TurnSnapshot | undefined, after: TurnSnapshot): ReadonlyArray<Piece> {
    if (after.state !== "waiting" || before?.state === "waiting" || this.asks.size > 0) return []
    const calls = after.parts.filter((part) => part.type === "tool" && part.state === "waiting")
    const children = calls.filter((part) => part.type === "tool" && part.name === "task").length
    if (children > 0 && children === calls.length) {
      return this.line(`… waiting for ${children === 1 ? "a sub-agent" : `${children} sub-agents`}`)
    }
    return before === undefined ? [] : this.line("… waiting for something from outside")
  }

  private texts(before: TurnSnapshot | undefined, after: TurnSnapshot): ReadonlyArray<Piece> {
    return textChanges(before, after).flatMap(({ kind, offset, partId, text }) => {
      const to = kind === "reasoning" ? "err" : "out"
      const shown = before?.parts.find((part) => part.partId === partId)
      const held = shown !== undefined && "text" in shown ? shown.text.length : 0
      const taken = offset < held ? this.line("! part of the answer was lost; it goes on from before that") : []
      const fresh = taken.length === 0 && this.goesOn(after, partId) ? [] : this.close(to)
      this.part = partId
      return [...taken, ...fresh, ...this.write(to, text, kind === "reasoning")]
    })
  }

  /** Long text is cut into parts that follow each other: between them there is no end of a line. */
  private goesOn(turn: TurnSnapshot, partId: string): boolean {
    if (partId === this.part) return true
    const at = turn.parts.findIndex((part) => part.partId === partId)
    const [last, next] = [turn.parts[at - 1], turn.parts[at]]
    return last !== undefined && last.partId === this.part && last.type === next?.type
  }

  private others(before: TurnSnapshot | undefined, after: TurnSnapshot): ReadonlyArray<Piece> {
    return after.parts.flatMap((part) => {
      const old = before?.parts.find(({ partId }) => partId === part.partId)
      return old === part ? [] : this.other(old, part)
    })
  }

  private other(old: TurnPart | undefined, part: TurnPart): ReadonlyArray<Piece> {
    const { style } = this.writers.err
    switch (part.type) {
      case "tool": {
        const asked = old === undefined ? this.line(callLine(part.name, part.arguments, style), false) : []
        const was = old?.type === "tool" ? old.state : undefined
        if (!settled.has(part.state) || (was !== undefined && settled.has(was))) return asked
        return [...asked, ...this.line(settledLine(part.name, part.state, part.result?.content ?? [], style), false)]
      }
      case "notice":
        return old === undefined ? this.line(`! ${oneLine(part.message, 400)}`) : []
      case "steer":
        return part.applied && !(old?.type === "steer" && old.applied) ? this.line("+ said meanwhile, and heard") : []
      default:
        return []
    }
  }

  /** A line beside the answer. */
  private line(text: string, dim = true): ReadonlyArray<Piece> {
    this.part = undefined
    const { style } = this.writers.err
    return [...this.close("err"), ...this.write("err", `${dim ? style.dim(text) : text}\n`, false, true)]
  }

  private write(to: "out" | "err", text: string, dim: boolean, own = false): ReadonlyArray<Piece> {
    if (text === "") return []
    const { isTerminal, style } = this.writers[to]
    const before = this.oneScreen ? this.close(other[to]) : []
    const safe = isTerminal && !own ? harmless(text) : text
    this.open[to] = !text.endsWith("\n")
    return [...before, { to, text: dim ? style.dim(safe) : safe }]
  }

  private close(to: "out" | "err"): ReadonlyArray<Piece> {
    if (!this.open[to]) return []
    this.open[to] = false
    return [{ to, text: "\n" }]
  }
}
