import type { LogRow } from "./fact.ts"

/** What a channel keeps for readers that are behind, in UTF-16 code units. */
const RING_MAX = 262_144
/** The longest slice one write takes. */
const SLICE_MAX = 65_536
/** Slices that are kept for readers at different places. */
const SLICES_MAX = 8

/** One encoded frame. `position` is the durable position it names or, on a preview, 0. */
export interface Frame {
  readonly text: string
  readonly position: number
  /** Where the log stood when a preview was made. */
  readonly stands?: number
  /** Whose event it is; the server stream announces each session once per reader. */
  readonly sessionId?: string
  /** A turn's terminal row or a session's deletion: the stream ends after it. */
  readonly last?: LogRow | undefined
}

interface Slice {
  readonly frames: ReadonlyArray<Frame>
  /** The newest durable position among them, 0 without one. */
  readonly position: number
  readonly bytes: Uint8Array
}

/**
 * The recent frames of one stream, encoded once for all its readers. A reader holds a number, its sequence; behind the
 * ring stands the log, by cursor.
 */
export class Channel {
  private frames: Array<Frame> = []
  private size = 0
  private first = 0
  private readonly slices = new Map<number, Slice>()
  private readonly waiting = new Set<() => void>()
  readers = 0
  /** When it last said where it stands, in milliseconds. */
  beatAt = 0

  /** Durable position of the newest frame: everything up to it is in the log. */
  position = 0

  /** Sequence of the next frame. */
  get head(): number {
    return this.first + this.frames.length
  }

  /** Readers see frames before this one. It moves with the bell alone, so that they move together and share their slices. */
  shown = 0

  /** Sequence of the oldest frame still here. */
  get tail(): number {
    return this.first
  }

  push(frame: Frame): void {
    this.frames.push(frame)
    this.size += frame.text.length
    if (frame.position > this.position) this.position = frame.position
    if (this.size > RING_MAX * 1.25) this.shrink()
  }

  private shrink(): void {
    let drop = 0
    while (this.size > RING_MAX && drop < this.frames.length - 1) {
      this.size -= this.frames[drop]?.text.length ?? 0
      drop++
    }
    this.frames.splice(0, drop)
    this.first += drop
  }

  /** Frames from a sequence on, up to one slice. A last frame comes alone. */
  private from(sequence: number): ReadonlyArray<Frame> {
    const start = sequence - this.first
    const limit = this.shown - this.first
    let length = 0
    let end = start
    for (; end < limit; end++) {
      const frame = this.frames[end]
      length += frame?.text.length ?? 0
      if (end > start && (length > SLICE_MAX || frame?.last !== undefined)) break
      if (frame?.last !== undefined) return this.frames.slice(start, end + 1)
    }
    return this.frames.slice(start, end)
  }

  /** The same frames with their bytes, made once for all readers that stand at the same place. */
  slice(sequence: number): Slice {
    const known = this.slices.get(sequence)
    if (known !== undefined) return known
    const frames = this.from(sequence)
    const position = frames.reduce((at, frame) => Math.max(at, frame.position), 0)
    const slice = { frames, position, bytes: Buffer.from(frames.map((frame) => frame.text).join("")) }
    if (this.slices.size >= SLICES_MAX) this.slices.clear()
    this.slices.set(sequence, slice)
    return slice
  }

  /** Calls back at the next ring of the bell; the answer takes the wish back. */
  wait(wake: () => void): () => void {
    this.waiting.add(wake)
    return () => this.waiting.delete(wake)
  }

  /** The doorbell: everybody who waits looks again. */
  ring(): void {
    const wakes = [...this.waiting]
    this.waiting.clear()
    this.slices.clear()
    this.shown = this.head
    for (const wake of wakes) wake()
  }
}
