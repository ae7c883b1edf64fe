import type { FileHandle } from "node:fs/promises"
import type { CallResult } from "@harness/protocol"
import { Effect } from "effect"
import { type PathError, pathError } from "../../workspace/paths.ts"
import { errorResult, textResult } from "../results.ts"
import { decode, headBytes } from "../text.ts"

const CHUNK_BYTES = 65_536
const LINE_FEED = 0x0a

interface Wanted {
  /** First line, from 1. */
  readonly offset: number
  readonly limit: number
  readonly maxBytes: number
}

const note = (text: string): string => `\n[… ${text} …]`

/** The lines wanted, in memory bounded by `maxBytes` however long the file or a line is. */
export const readLines = (handle: FileHandle, wanted: Wanted): Effect.Effect<CallResult, PathError> =>
  Effect.gen(function* () {
    const chunk = Buffer.alloc(CHUNK_BYTES)
    const taken: Array<Buffer> = []
    let takenBytes = 0
    /** The line the next byte belongs to, and where the last whole line taken ends. */
    let line = 1
    let wholeBytes = 0
    let position = 0
    let atLineStart = true
    const end = wanted.offset + wanted.limit
    while (line < end && takenBytes <= wanted.maxBytes) {
      const { bytesRead } = yield* Effect.tryPromise({
        try: () => handle.read(chunk, 0, CHUNK_BYTES, position),
        catch: pathError
      })
      if (bytesRead === 0) break
      position += bytesRead
      let at = 0
      while (at < bytesRead && line < end && takenBytes <= wanted.maxBytes) {
        const feed = chunk.subarray(0, bytesRead).indexOf(LINE_FEED, at)
        const next = feed === -1 ? bytesRead : feed + 1
        if (line >= wanted.offset) {
          taken.push(Buffer.from(chunk.subarray(at, next)))
          takenBytes += next - at
          if (feed !== -1 && takenBytes <= wanted.maxBytes) wholeBytes = takenBytes
        }
        atLineStart = feed !== -1
        if (feed !== -1) line += 1
        at = next
      }
      if (at < bytesRead) position -= bytesRead - at
    }
    const lines = atLineStart ? line - 1 : line
    if (takenBytes === 0) return errorResult("read.past_end", `The file has only ${lines} lines.`, { lines })
    const bytes = Buffer.concat(taken)
    if (takenBytes > wanted.maxBytes) {
      if (wholeBytes === 0) {
        const rest = `the rest of line ${wanted.offset} is left out; go on with offset ${wanted.offset + 1}`
        return textResult(decode(headBytes(bytes, wanted.maxBytes)) + note(rest))
      }
      const whole = bytes.subarray(0, wholeBytes)
      const count = whole.filter((byte) => byte === LINE_FEED).length
      return textResult(decode(whole) + note(`more follows; go on with offset ${wanted.offset + count}`))
    }
    const { bytesRead: more } = yield* Effect.tryPromise({
      try: () => handle.read(chunk, 0, 1, position),
      catch: pathError
    })
    return textResult(decode(bytes) + (more === 0 ? "" : note(`more follows; go on with offset ${line}`)))
  })
