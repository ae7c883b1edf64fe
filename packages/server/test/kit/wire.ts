import { createParser } from "eventsource-parser"
import type { Harness } from "./harness.ts"

/** An answer as it came. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies the way an outsider does, without our types
  readonly body: any
}

/** One frame of a stream. */
export interface WireEvent {
  readonly id: number | undefined
  readonly type: string
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly data: any
}

/** Plain HTTP against a server: no client of ours in between. */
export const wire = (server: Pick<Harness, "url" | "token">, name = "default") => {
  const headers = { authorization: `Bearer ${server.token}` }
  const send = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(`${server.url}/v1${path}`, {
      method,
      headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) }
  }
  const home = `/servers/${name}`
  return {
    send,
    home,
    get: (path: string) => send("GET", `${home}${path}`),
    put: (path: string, body?: unknown) => send("PUT", `${home}${path}`, body),
    post: (path: string, body?: unknown) => send("POST", `${home}${path}`, body),
    /** Opens a stream; ends with the server's end, an abort, or a broken connection. */
    events: (path: string, signal?: AbortSignal) => events(`${server.url}/v1${home}${path}`, headers, signal)
  }
}

async function* events(
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal | undefined
): AsyncGenerator<WireEvent, void> {
  const response = await fetch(url, { headers, ...(signal === undefined ? {} : { signal }) })
  if (response.status !== 200 || response.body === null)
    throw new Error(`status ${response.status}: ${await response.text()}`)
  const ready: Array<WireEvent> = []
  const parser = createParser({
    onEvent: (event) => {
      const id = event.id === undefined ? undefined : Number(event.id)
      ready.push({ id, type: event.event ?? "", data: JSON.parse(event.data) })
    }
  })
  const decoder = new TextDecoder()
  for await (const chunk of response.body) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    yield* ready.splice(0)
  }
}

/** Reads a stream until a frame satisfies; answers all frames so far. */
export const readUntil = async (
  stream: AsyncGenerator<WireEvent, void>,
  enough: (event: WireEvent) => boolean
): Promise<ReadonlyArray<WireEvent>> => {
  const seen: Array<WireEvent> = []
  for await (const event of stream) {
    seen.push(event)
    if (enough(event)) break
  }
  return seen
}
