import type { TurnId } from "@harness/protocol"
import { type Outbound, type ReplyDone, spokenChunk } from "@harness/protocol/jambonz"
import type { SpokenLine } from "../voice/VoiceRepo.ts"

/** The socket of a call, as the speaker sees it. */
export interface Wire {
  /** False: it is closed, the frame was not sent. */
  readonly send: (frame: Outbound) => boolean
  /** Asks for a sign that everything sent so far has arrived; `arrived` is called once with it. */
  readonly ping: (arrived: () => void) => void
  /** What is sent meanwhile goes out in one piece. */
  readonly together: (run: () => void) => void
  readonly close: (code: number, reason: string) => void
}

/** Text after the first is held this long for more to come. */
export const JOIN_MILLIS = 20

/** Frames that wait for a call's next socket. */
const UNSENT_MAX = 256

/** Replies that are remembered until it is known what was heard of them. */
const REPLIES_MAX = 64

/** One reply of the call, from its first word to the last. */
export interface Reply {
  readonly replyId: string
  readonly turnId: TurnId
  /** The turn of the call it answers; without one nobody asked. */
  readonly turnNumber: number | undefined
  /** Cuts off whatever is playing. */
  interrupts: boolean
  /** Holds barge-in until it has played. */
  readonly uninterruptible: boolean
  readonly model: string
  readonly startedAt: number
  /** `held`: another has to be said first. `muted`: nobody wants the rest of it. */
  state: "held" | "open" | "done" | "muted"
  /** Its turn has ended: nothing more will come. */
  over: boolean
  /** Before that, a newer turn took its place or one of our own cut it off: of what comes after so much nobody tells. */
  cutAt: number | undefined
  text: string
  /** Code units that were said under another id, which the other side had forgotten. */
  readonly from: number
  sent: number
  /** Code units the other side surely has. */
  delivered: number
  /** What of that the database has. */
  kept: number
  /** The word that it has ended has arrived. */
  closed: boolean
  /** Where it went on on the newest socket, if it had begun on another. */
  resumedAt: number | undefined
  firstChunkAt: number | undefined
  /** When the first text of its turn's model came. */
  firstTokenAt: number | undefined
  /** Taken up after a restart: its times say nothing. */
  readonly restored: boolean
  /** The part of its turn that it was last given text of, and where in the text that part begins. */
  part: string | undefined
  partAt: number
  /** Texts of the turn's answers so far begun, for lines to be put between them. */
  answers: number
  readonly lines: Array<SpokenLine>
  record: ReplyDone["turn_record"]
}

/** What is said on a call: text in, chunks out, in order, on whatever socket the call has just now. */
export class Speaker {
  private wire: Wire | undefined
  private readonly replies = new Map<string, Reply>()
  private newest: Reply | undefined
  private readonly unsent: Array<Outbound> = []
  private flushedAt = 0
  private isLater = false
  private isProving = false
  /** How much of its replies the newest socket was given since it was last asked. */
  private unproven = new Map<Reply, number>()
  /** Called when more of a reply has arrived. */
  onArrival: () => void = () => {}
  /** Called when a reply begins that cuts off whatever is playing. */
  onInterrupt: (by: Reply) => void = () => {}

  private readonly now: () => number
  private readonly later: (millis: number, run: () => void) => void

  /** `later`: runs something quick, in so many milliseconds. */
  constructor(now: () => number, later: (millis: number, run: () => void) => void) {
    this.now = now
    this.later = later
  }

  /** The call has a new socket: what may not have arrived is said again on it. */
  attach(wire: Wire): void {
    this.wire = wire
    this.unproven = new Map()
    this.isProving = false
    for (const frame of this.unsent.splice(0)) this.send(frame)
    for (const reply of this.replies.values()) {
      if (reply.sent > reply.from || reply.restored) reply.resumedAt = reply.delivered
      this.sayAgain(reply)
    }
  }

  /** What of a reply may not have arrived. */
  sayAgain(reply: Reply): void {
    if (reply.state === "muted" || reply.state === "held") return
    reply.sent = reply.delivered
    if (reply.state === "done" && reply.delivered >= reply.text.length && reply.closed) return
    this.flushOne(reply)
    if (reply.state === "done") this.sendDone(reply)
  }

  /** Something beside replies. Without a socket it waits for the next one. */
  send(frame: Outbound): void {
    if (this.wire?.send(frame) !== true && this.unsent.length < UNSENT_MAX) this.unsent.push(frame)
  }

  /** The call is over. */
  leave(code: number, reason: string): void {
    this.wire?.close(code, reason)
    this.wire = undefined
  }

  detach(wire: Wire): void {
    if (this.wire === wire) this.wire = undefined
  }

  get attached(): boolean {
    return this.wire !== undefined
  }

  open(reply: Reply): void {
    this.replies.set(reply.replyId, reply)
    this.newest = reply
    if (this.replies.size <= REPLIES_MAX) return
    // The other side may never say what became of one.
    for (const old of this.replies.values()) {
      if (old.state === "done" || old.state === "muted") return void this.replies.delete(old.replyId)
    }
  }

  /** Replies are said in the order of their ids, however they were opened. */
  inOrder(): void {
    const sorted = [...this.replies].sort(([a], [b]) => (a < b ? -1 : 1))
    this.replies.clear()
    for (const [replyId, reply] of sorted) this.replies.set(replyId, reply)
  }

  forget(reply: Reply): void {
    this.replies.delete(reply.replyId)
  }

  byId(replyId: string): Reply | undefined {
    return this.replies.get(replyId)
  }

  byTurn(turnId: string): Reply | undefined {
    // Mostly it is the newest that is asked for.
    if (this.newest?.turnId === turnId && this.replies.has(this.newest.replyId)) return this.newest
    for (const reply of this.replies.values()) if (reply.turnId === turnId) return reply
    return undefined
  }

  /** Those whose text may still grow or play. */
  get all(): ReadonlyArray<Reply> {
    return [...this.replies.values()]
  }

  /** Some more text of a part of the reply's turn. Parts are parted by a space. */
  grow(reply: Reply, part: string, offset: number, delta: string): void {
    if (delta !== "") reply.firstTokenAt ??= this.now()
    if (reply.state === "muted" || reply.state === "done") return
    if (reply.part !== part) {
      reply.part = part
      reply.answers++
      this.space(reply)
      reply.partAt = reply.text.length
    }
    // A part that is told again after a crash tells what is here already.
    const known = reply.text.length - reply.partAt - offset
    reply.text += known > 0 ? delta.slice(known) : delta
    this.flush(reply)
  }

  /** Words of ours in the reply, beside what its turn says. */
  line(reply: Reply, text: string): void {
    if (reply.state === "muted" || reply.state === "done") return
    this.space(reply)
    reply.part = undefined
    reply.lines.push({ text, before: reply.answers })
    reply.text += `${text} `
    this.flush(reply)
  }

  /** A reply that was held is said now. */
  release(reply: Reply): void {
    if (reply.state !== "held") return
    reply.state = "open"
    if (reply.over) this.end(reply, reply.record)
    else this.flush(reply)
  }

  private space(reply: Reply): void {
    if (reply.text !== "" && !/\s$/.test(reply.text)) reply.text += " "
  }

  /** The first text goes out at once, later text with what comes within a moment. */
  private flush(reply: Reply): void {
    const wait = reply.sent === 0 ? 0 : this.flushedAt + JOIN_MILLIS - this.now()
    if (wait <= 0) this.flushOne(reply)
    else if (!this.isLater) {
      this.isLater = true
      this.later(wait, () => this.flushAll())
    }
  }

  private flushAll(): void {
    this.isLater = false
    for (const reply of this.replies.values()) this.flushOne(reply)
  }

  private flushOne(reply: Reply): void {
    const { wire } = this
    if (wire === undefined || reply.state === "held" || reply.state === "muted") return
    const content = reply.text.slice(reply.sent)
    if (content === "" || (reply.sent === 0 && content.trim() === "")) return
    const first = reply.sent === reply.from
    const at = this.now()
    reply.firstChunkAt ??= at
    reply.sent = reply.text.length
    this.flushedAt = at
    if (first && reply.interrupts) this.onInterrupt(reply)
    wire.together(() => {
      this.sendChunk(wire, reply, content, first, at)
      this.unproven.set(reply, reply.sent)
      this.prove()
    })
  }

  private sendChunk(wire: Wire, reply: Reply, content: string, first: boolean, at: number): void {
    wire.send({
      type: "reply:chunk",
      reply_id: reply.replyId,
      ...(reply.turnNumber === undefined ? {} : { turn_id: reply.turnNumber }),
      ...(first && reply.uninterruptible ? { interruptible: false } : {}),
      ...(first && reply.interrupts ? { interrupt: true } : {}),
      chunk: spokenChunk({
        id: reply.replyId,
        created: Math.floor(at / 1000),
        model: reply.model,
        content
      })
    })
  }

  /** Asks for the sign that what was sent has arrived: one at a time, and the next for all that was sent meanwhile. */
  private prove(): void {
    const { unproven, wire } = this
    if (wire === undefined || this.isProving || unproven.size === 0) return
    this.isProving = true
    this.unproven = new Map()
    wire.ping(() => {
      for (const [reply, upTo] of unproven) reply.delivered = Math.max(reply.delivered, upTo)
      if (this.wire === wire) {
        this.isProving = false
        this.prove()
      }
      this.onArrival()
    })
  }

  /** The reply has ended: its last words, then the word that says so. */
  end(reply: Reply, record: ReplyDone["turn_record"]): void {
    if (reply.state === "muted" || reply.state === "done") return
    reply.record = record
    reply.over = true
    if (reply.state === "held") return
    this.flushOne(reply)
    reply.state = "done"
    this.sendDone(reply)
  }

  /** The end of a reply is said again, for its record was not taken. */
  endWithoutRecord(reply: Reply): void {
    reply.record = undefined
    if (reply.state === "done") this.sendDone(reply)
  }

  private sendDone(reply: Reply): void {
    // Of one that nobody asked for and that says nothing, nobody is told.
    if (reply.turnNumber === undefined && reply.sent === 0) return
    this.wire?.send({
      type: "reply:done",
      reply_id: reply.replyId,
      ...(reply.turnNumber === undefined ? {} : { turn_id: reply.turnNumber }),
      ...(reply.turnNumber === undefined || reply.record === undefined ? {} : { turn_record: reply.record })
    })
    const { sent } = reply
    this.wire?.ping(() => {
      reply.delivered = Math.max(reply.delivered, sent)
      reply.closed = true
      this.onArrival()
    })
  }
}
