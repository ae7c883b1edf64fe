import { createParser } from "eventsource-parser"

/** One server-sent event. `id` is there only if this frame carried one. */
export interface Frame {
  readonly id: string | undefined
  readonly data: string
}

// Far above any turn; below it a line without an end could take all memory there is.
const LONGEST = 67_108_864

/** Bytes went on for too long without making an event. */
export class EndlessFrame {
  readonly _tag = "EndlessFrame"
}

/**
 * Cuts bytes, however they arrive, into frames. A frame counts once its blank line is there: what a cut connection left
 * unfinished is dropped, as the standard says, and comes again after reconnecting.
 */
export const frameReader = (): ((bytes: Uint8Array) => ReadonlyArray<Frame | EndlessFrame>) => {
  const text = new TextDecoder()
  let endless = false
  let found: Array<Frame | EndlessFrame> = []
  const parser = createParser({
    maxBufferSize: LONGEST,
    onEvent: ({ id, data }) => found.push({ id, data }),
    onError: (error) => {
      if (error.type !== "max-buffer-size-exceeded") return
      endless = true
      found.push(new EndlessFrame())
    }
  })
  let afterReturn = false
  return (bytes) => {
    const chunk = text.decode(bytes, { stream: true })
    if (chunk === "" || endless) return []
    // All three line ends become one here: the parser holds a lone CR back until more comes.
    const lines = (afterReturn && chunk.startsWith("\n") ? chunk.slice(1) : chunk).replace(/\r\n?/g, "\n")
    afterReturn = chunk.endsWith("\r")
    parser.feed(lines)
    const frames = found
    found = []
    return frames
  }
}
