import { createParser } from "eventsource-parser"

const ERROR_BODY_MAX = 65_536
const DONE = "[DONE]"

/** Told of what the wire brings. */
export interface Listener {
  readonly onBytes: () => void
  /** The provider said `[DONE]`. */
  readonly onDone: () => void
  /** Takes an event's data, or leaves it to the package. */
  readonly take: (data: string) => boolean
  /** Done when more may be read. */
  readonly room: () => Promise<void> | undefined
}

const written = (data: string): string => `data: ${data.replaceAll("\n", "\ndata: ")}\n\n`

/**
 * What is read of a provider's server-sent events is the same however they were framed: one event is one piece, the last
 * has its blank line, and `[DONE]` is the end even where the provider keeps the connection open.
 */
const framed = (body: ReadableStream<Uint8Array>, listener: Listener): ReadableStream<Uint8Array> => {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let left = ""
  let isDone = false
  const parser = createParser({
    onEvent: ({ data }) => {
      if (isDone) return
      isDone = data === DONE
      if (isDone) listener.onDone()
      if (isDone || !listener.take(data)) left += written(data)
    }
  })
  const next = async (): Promise<void> => {
    await listener.room()
    const { done, value } = await reader.read()
    if (done) {
      parser.feed(`${decoder.decode()}\n\n`)
      isDone = true
      return
    }
    listener.onBytes()
    parser.feed(decoder.decode(value, { stream: true }))
  }
  return new ReadableStream({
    pull: async (controller) => {
      while (left === "" && !isDone) await next()
      if (left !== "") controller.enqueue(encoder.encode(left))
      left = ""
      if (!isDone) return
      controller.close()
      await reader.cancel()
    },
    cancel: (reason) => reader.cancel(reason)
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

/** Who listens to a request is known by its signal: packages hand that on as it is. */
const listeners = new WeakMap<AbortSignal, Listener>()

/** What a request with this signal brings is told to the listener. */
export const listenTo = (signal: AbortSignal, listener: Listener): void => void listeners.set(signal, listener)

/**
 * The `fetch` that provider packages get: answers are framed in one way, error bodies bounded, each piece that arrives is
 * told to the request's listener, and no redirect is followed, since it would take the key along.
 */
export const providerFetch: typeof globalThis.fetch = (input, init) => {
  const { signal } = init ?? {}
  const listener = signal === null || signal === undefined ? undefined : listeners.get(signal)
  if (listener === undefined) return Promise.reject(new TypeError("nobody listens to this request"))
  return globalThis.fetch(input, { ...init, redirect: "manual" }).then((response) => {
    listener.onBytes()
    if (response.body === null) return response
    const body = response.ok
      ? framed(response.body, listener)
      : response.body.pipeThrough(atMost(ERROR_BODY_MAX, listener.onBytes))
    return new Response(body, {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers
    })
  })
}
