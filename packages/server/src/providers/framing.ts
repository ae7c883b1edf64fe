const LF = 10
const CR = 13
const ERROR_BODY_MAX = 65_536
const DONE = ["data: [DONE]", "data:[DONE]"]

/** Told of what the wire brings. */
export interface Listener {
  readonly onBytes: () => void
  /** The provider said `[DONE]`. */
  readonly onDone: () => void
}

/**
 * Server-sent events as any parser takes them: every line ends in LF whatever it ended in, the last event has its
 * blank line, and `[DONE]` is the end even where the provider keeps the connection open. Works on bytes, so that a
 * character cut by a chunk border stays whole.
 */
export const normaliseEvents = ({ onBytes, onDone }: Listener): TransformStream<Uint8Array, Uint8Array> => {
  let afterCr = false
  let line = ""
  return new TransformStream({
    transform(chunk, controller) {
      onBytes()
      const out = new Uint8Array(chunk.length)
      let length = 0
      for (const byte of chunk) {
        if (byte === LF && afterCr) {
          afterCr = false
          continue
        }
        afterCr = byte === CR
        const isEnd = byte === LF || byte === CR
        out[length++] = isEnd ? LF : byte
        if (!isEnd) {
          if (line.length < 16) line += String.fromCharCode(byte)
          continue
        }
        const done = DONE.includes(line)
        line = ""
        if (!done) continue
        onDone()
        controller.enqueue(out.subarray(0, length))
        controller.enqueue(new Uint8Array([LF]))
        controller.terminate()
        return
      }
      if (length > 0) controller.enqueue(out.subarray(0, length))
    },
    flush(controller) {
      controller.enqueue(new Uint8Array([LF, LF]))
    }
  })
}

const atMost = (max: number, onBytes: () => void): TransformStream<Uint8Array, Uint8Array> => {
  let left = max
  return new TransformStream({
    transform(chunk, controller) {
      onBytes()
      controller.enqueue(chunk.subarray(0, left))
      left -= Math.min(left, chunk.length)
      if (left === 0) controller.terminate()
    }
  })
}

/**
 * The `fetch` that provider packages get: answers are normalised, error bodies bounded, each piece that arrives is
 * told to the listener, and no redirect is followed, since it would take the key along.
 */
export const providerFetch =
  (listener: Listener): typeof globalThis.fetch =>
  (input, init) =>
    globalThis.fetch(input, { ...init, redirect: "manual" }).then((response) => {
      listener.onBytes()
      if (response.body === null) return response
      const body = response.body.pipeThrough(
        response.ok ? normaliseEvents(listener) : atMost(ERROR_BODY_MAX, listener.onBytes)
      )
      return new Response(body, {
        status: response.status,
        statusText: response.statusText,
        headers: response.headers
      })
    })
