import { createWriteStream, mkdirSync, type WriteStream } from "node:fs"
import { dirname } from "node:path"
import type { Readable } from "node:stream"
import { Effect, Either } from "effect"

/** What came out of a command: its front, its end, its length, and whether a file holds all of it. */
export interface Collected {
  readonly head: Uint8Array
  readonly tail: Uint8Array
  readonly total: number
  readonly kept: boolean
}

/** The output of a running command. */
export interface Collector {
  /** Opens whenever there is something for `takeLive`. */
  readonly bell: Effect.Latch
  /** What came since it was last taken, at most its last 8 KiB; empty from the first NUL on. */
  readonly takeLive: () => string
  readonly total: () => number
  /** What came so far. */
  readonly seen: () => Collected
  /** Opens when more than `most` came. */
  readonly tooMuch: Effect.Latch
  /** The disk is behind: the pipe may hold more than was taken. */
  readonly waiting: () => boolean
  /** Lets go of the pipe and the file. May be called again. */
  readonly finish: Effect.Effect<Collected>
}

const LIVE_MAX_LENGTH = 8_192

const openFile = (path: string): WriteStream | undefined =>
  Either.try(() => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    return createWriteStream(path, { mode: 0o600 })
  }).pipe(Either.getOrElse(() => undefined))

/**
 * Reads a command's output in bounded memory: `shown` bytes of its front and of its end. What is longer goes whole to
 * `file`; a slow disk slows the command, a broken one loses the middle.
 */
export const collect = (
  output: Readable,
  options: { readonly shown: number; readonly most: number; readonly file: string }
): Collector => {
  const bell = Effect.unsafeMakeLatch(false)
  const tooMuch = Effect.unsafeMakeLatch(false)
  const decoder = new TextDecoder()
  const front: Array<Uint8Array> = []
  const ends: Array<Uint8Array> = []
  let endsLength = 0
  let total = 0
  let live = ""
  let binary = false
  let file: WriteStream | undefined
  let broken = false

  const spill = (chunk: Uint8Array) => {
    if (file === undefined && !broken) {
      file = openFile(options.file)
      broken = file === undefined
      file?.on("error", () => {
        broken = true
        output.resume()
      })
      for (const earlier of front) file?.write(earlier)
    }
    if (file === undefined || broken) return
    if (file.write(chunk)) return
    output.pause()
    file.once("drain", () => output.resume())
  }

  const onData = (chunk: Uint8Array) => {
    const before = total
    total += chunk.length
    if (total > options.most) {
      output.pause()
      tooMuch.unsafeOpen()
      return
    }
    if (total > options.shown) spill(chunk)
    if (before < options.shown) front.push(chunk)
    ends.push(chunk)
    endsLength += chunk.length
    let first = ends[0]
    while (first !== undefined && endsLength - first.length >= options.shown) {
      ends.shift()
      endsLength -= first.length
      first = ends[0]
    }
    binary ||= chunk.includes(0)
    if (binary) return
    live = (live + decoder.decode(chunk, { stream: true })).slice(-LIVE_MAX_LENGTH)
    bell.unsafeOpen()
  }

  const seen = (): Collected => ({
    head: Buffer.concat(front),
    tail: Buffer.concat(ends),
    total,
    kept: file !== undefined && !broken && total <= options.most
  })

  let finished = false
  const finish = Effect.async<void>((resume) => {
    output.off("data", onData)
    output.destroy()
    if (file === undefined || broken || finished) return resume(Effect.void)
    finished = true
    file.once("close", () => resume(Effect.void))
    file.end()
  }).pipe(Effect.map(seen))

  output.on("data", onData)
  // A pipe that breaks is the command's end, which is told apart.
  output.on("error", () => undefined)
  return {
    bell,
    takeLive: () => {
      const taken = live
      live = ""
      return taken
    },
    total: () => total,
    seen,
    waiting: () => output.isPaused(),
    tooMuch,
    finish
  }
}
