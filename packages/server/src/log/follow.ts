import { Effect } from "effect"
import type { Channel, Frame } from "./Channel.ts"

/** Where a reader's bytes go. `write` waits for room, and fails when nobody takes them. */
export interface Sink {
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, SinkClosed>
}
export class SinkClosed {
  readonly _tag = "SinkClosed"
}

/** What one kind of stream is made of. */
export interface Source {
  readonly subscribe: () => { readonly channel: Channel; readonly leave: () => void }
  /** Durable position of what is published now. */
  readonly head: Effect.Effect<number>
  /** Rows of the log after one position up to another, as frames; never empty while there are any. */
  readonly page: (after: number, upTo: number) => Effect.Effect<ReadonlyArray<Frame>>
  /** A frame that says where the stream stands. */
  readonly cursor: (position: number) => string
  /** What a reader without a position gets first. */
  readonly opening: (position: number) => Effect.Effect<ReadonlyArray<string>>
  /** Whole snapshots of what grows just now, taken at once: the next preview goes on from them. */
  readonly growing: (position: number) => ReadonlyArray<string>
  /** Whether a reader without a position is told first where it starts. */
  readonly opensWithCursor: boolean
  /** Adds what this reader must hear before these frames. Nothing to add: the shared bytes are sent. */
  readonly prepare: (frames: ReadonlyArray<Frame>) => Effect.Effect<ReadonlyArray<string> | undefined>
  /** The last frame as this reader gets it. */
  readonly finish: (frame: Frame) => Effect.Effect<string>
  /** The frame that ends a stream whose end lies at or before a position; `after` is where its reader began. */
  readonly ended: (position: number, after: number | undefined) => Effect.Effect<string | undefined>
}

/** What is written at once of a page: a row may be long, and what waits in a socket is kept beside it. */
const WRITE_BYTES = 65_536

const writePage = (sink: Sink, bytes: Uint8Array): Effect.Effect<void, SinkClosed> =>
  Effect.gen(function* () {
    for (let at = 0; at < bytes.length; at += WRITE_BYTES) yield* sink.write(bytes.subarray(at, at + WRITE_BYTES))
  })

const encode = (texts: ReadonlyArray<string>): Uint8Array => Buffer.from(texts.join(""))

/** Waits until the channel shows the frame of this sequence. */
const news = (channel: Channel, sequence: number) =>
  Effect.async<void>((resume) => {
    if (channel.shown > sequence) return resume(Effect.void)
    const wake = channel.wait(() => resume(Effect.void))
    return Effect.sync(wake)
  })

/** Rows up to `position` are in the log, frames from `sequence` on are on the ring: taken in one breath. */
interface Join {
  readonly sequence: number
  readonly position: number
}

const ENDED = "ended"

/**
 * Everything after a position, once and in order, then everything as it comes:
 *
 *   log, by cursor → (caught up: snapshot of what grows, cursor) → ring, by sequence → (overtaken) → log …
 */
export const follow = (source: Source, after: number | undefined, sink: Sink): Effect.Effect<void, SinkClosed> =>
  Effect.acquireUseRelease(
    Effect.sync(source.subscribe),
    ({ channel }) =>
      Effect.gen(function* () {
        const head = yield* source.head
        if (head > channel.position) channel.position = head
        let at = after ?? 0
        let join = after === undefined ? yield* open(source, channel, sink) : undefined
        for (;;) {
          const joined: Join | typeof ENDED | undefined = join ?? (yield* catchUp(source, channel, sink, at))
          if (joined === ENDED) return
          at = joined.position
          join = undefined
          const ended = yield* source.ended(joined.position, after)
          if (ended !== undefined) return yield* sink.write(encode([ended]))
          const left = yield* live(source, channel, sink, joined)
          if (left === ENDED) return
          at = left
        }
      }),
    ({ leave }) => Effect.sync(leave)
  )

/** The first frames of a reader that starts now. */
const open = (source: Source, channel: Channel, sink: Sink): Effect.Effect<Join, SinkClosed> =>
  Effect.gen(function* () {
    for (;;) {
      const join = { sequence: channel.head, position: channel.position }
      const opening = yield* source.opening(join.position)
      // Something was published meanwhile: these snapshots may already hold it.
      if (channel.head !== join.sequence) continue
      yield* sink.write(encode(source.opensWithCursor ? [source.cursor(join.position), ...opening] : opening))
      return join
    }
  })

/** A page of the log as bytes for one reader. Nothing else of it is kept while they wait for room. */
const pageOf = (source: Source, at: number, upTo: number) =>
  Effect.gen(function* () {
    const frames = yield* source.page(at, upTo)
    const last = frames.find((frame) => frame.last !== undefined)
    const before = last === undefined ? frames : frames.slice(0, frames.indexOf(last))
    const texts = (yield* source.prepare(before)) ?? before.map((frame) => frame.text)
    return { bytes: encode(texts), at: frames.at(-1)?.position ?? upTo, last }
  })

/** Reads the log up to where the ring takes over. */
const catchUp = (source: Source, channel: Channel, sink: Sink, from: number) =>
  Effect.gen(function* () {
    let at = from
    for (;;) {
      const join = { sequence: channel.head, position: channel.position }
      if (at >= join.position) {
        yield* sink.write(encode([...source.growing(join.position), source.cursor(join.position)]))
        return join
      }
      const page = yield* pageOf(source, at, join.position)
      yield* writePage(sink, page.bytes)
      if (page.last !== undefined) {
        yield* sink.write(encode([yield* source.finish(page.last)]))
        return ENDED
      }
      at = page.at
    }
  })

/** Reads the ring until the stream ends, or until the ring has run away; then answers from where the log must be read. */
const live = (source: Source, channel: Channel, sink: Sink, join: Join) =>
  Effect.gen(function* () {
    let { sequence, position } = join
    for (;;) {
      yield* news(channel, sequence)
      if (sequence < channel.tail) return position
      const slice = channel.slice(sequence)
      const [first] = slice.frames
      if (first?.last !== undefined) {
        yield* sink.write(encode([yield* source.finish(first)]))
        return ENDED
      }
      const prepared = yield* source.prepare(slice.frames)
      yield* sink.write(prepared === undefined ? slice.bytes : encode(prepared))
      sequence += slice.frames.length
      position = Math.max(position, slice.position)
    }
  })
