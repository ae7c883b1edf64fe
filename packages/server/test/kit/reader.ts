import { once } from "node:events"
import { type IncomingMessage, request } from "node:http"
import { setTimeout as delay } from "node:timers/promises"
import { createParser } from "eventsource-parser"
import type { Harness } from "./harness.ts"
import type { Chance } from "./random.ts"
import type { WireEvent } from "./wire.ts"

/** One open stream, read from the socket by hand. */
export interface Reading {
  readonly response: IncomingMessage
  /** Settles when the stream has ended: `whole` when the server ended it. */
  readonly closed: Promise<{ readonly whole: boolean }>
}

/** Opens a stream; `take` gets every frame as it comes. `pause` and `resume` on the response slow the socket. */
export const openStream = async (
  server: Pick<Harness, "url" | "token">,
  path: string,
  take: (event: WireEvent) => void,
  headers: Readonly<Record<string, string>> = {}
): Promise<Reading> => {
  const asked = request(`${server.url}/v1/servers/default${path}`, {
    agent: false,
    headers: { authorization: `Bearer ${server.token}`, ...headers }
  })
  asked.end()
  const [response]: Array<IncomingMessage> = await once(asked, "response")
  if (response === undefined || response.statusCode !== 200) throw new Error(`status ${response?.statusCode}: ${path}`)
  const parser = createParser({
    onEvent: ({ data, event, id }) =>
      take({ id: id === undefined ? undefined : Number(id), type: event ?? "", data: JSON.parse(data) })
  })
  response.setEncoding("utf8").on("data", (text: string) => parser.feed(text))
  response.on("error", () => {})
  const closed = new Promise<{ whole: boolean }>((resolve) => {
    response.once("close", () => resolve({ whole: response.complete }))
  })
  return { response, closed }
}

/** Which stream, and what its positions are called. */
export interface Kind {
  readonly path: string
  readonly query: "afterCursor" | "afterRevision" | "afterServerCursor"
  /** The field of a caught-up frame that names the position. */
  readonly position: "cursor" | "revision" | "serverCursor"
}

export const sessionStream = (id: string): Kind => ({
  path: `/sessions/${id}/events`,
  query: "afterCursor",
  position: "cursor"
})
export const turnStream = (id: string, turnId: string): Kind => ({
  path: `/sessions/${id}/turns/${turnId}/events`,
  query: "afterRevision",
  position: "revision"
})
export const serverStream: Kind = { path: "/events", query: "afterServerCursor", position: "serverCursor" }

/**
 * Somebody on a bad line: cut, slowed and back again at random, by query or by header, until `enough` says so or the stream
 * ends by itself. `from`: the position to begin after; left out, wherever the stream stands.
 */
export const badLine = (options: {
  readonly server: Pick<Harness, "url" | "token">
  readonly kind: Kind
  readonly chance: Chance
  readonly take: (event: WireEvent, connection: number) => void
  readonly from?: number
  readonly enough: (position: number) => boolean
}) => {
  const { chance, kind, server } = options
  let position = options.from
  let connections = 0
  let over = false

  const once = async () => {
    const connection = connections++
    let frames = 0
    const patience = chance.whole(1, 120)
    const known = position === undefined ? "" : `?${kind.query}=${position}`
    const byHeader = position !== undefined && chance.next() < 0.3
    const take = (event: WireEvent) => {
      if (over || frames > patience) return
      frames++
      options.take(event, connection)
      const named = event.id ?? event.data[kind.position]
      // Previews on the server's stream name where it stands, and are no place to come back to.
      if (event.id !== undefined || /\.(cursor|heartbeat|snapshot)$/.test(event.type)) {
        position = Math.max(position ?? 0, named)
      }
      if (event.type.endsWith("terminal") || options.enough(position ?? 0)) over = true
      if (over || frames > patience) reading?.response.destroy()
    }
    let reading: Reading | undefined
    reading = await openStream(server, `${kind.path}${byHeader ? "" : known}`, take, {
      ...(byHeader ? { "last-event-id": String(position) } : {})
    })
    if (over || frames > patience) reading.response.destroy()
    let here = true
    const gone = reading.closed.then(() => {
      here = false
    })
    while (here) {
      await Promise.race([gone, delay(chance.whole(5, 80))])
      reading.response.pause()
      await Promise.race([gone, delay(chance.whole(1, 120))])
      reading.response.resume()
    }
  }
  const done = (async () => {
    while (!over) await once()
    return connections
  })()
  return { done }
}
