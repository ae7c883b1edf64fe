import { connect, type Socket } from "node:net"
import { now } from "../measure.ts"
import { TOKEN } from "../processes.ts"
import { answer, say } from "./child.ts"

/**
 * `connect`: opens readers of a stream. `expect`: a text that `collect` waits for on every one. `replay`: opens one and
 * collects. `leave`: closes them.
 */
export type ReadersAsk =
  | { readonly type: "connect"; readonly url: string; readonly path: string; readonly count: number }
  | { readonly type: "replay"; readonly url: string; readonly path: string }
  | { readonly type: "expect"; readonly mark: string }
  | { readonly type: "collect" }
  | { readonly type: "leave" }

export interface ReadersAnswer {
  /** When the last reader had everything. */
  readonly at: number
  /** What the reader that got the least got since `expect`. */
  readonly least: number
}

interface Reader {
  readonly socket: Socket
  waits: boolean
  bytes: number
  tail: string
}

let readers: Array<Reader> = []
let mark = ""
let left = 0
let done = () => {}
let all = Promise.resolve()

const take = (reader: Reader, chunk: Buffer) => {
  reader.bytes += chunk.length
  if (!reader.waits) return
  // The mark may be cut by a chunk's border.
  const border = reader.tail + chunk.toString("latin1", 0, mark.length)
  reader.tail = chunk.toString("latin1", Math.max(0, chunk.length - mark.length))
  if (!border.includes(mark) && !chunk.includes(mark)) return
  reader.waits = false
  left--
  if (left === 0) done()
}

const open = (url: string, path: string, waits = false): Promise<Reader> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    const reader: Reader = { socket, waits, bytes: 0, tail: "" }
    socket.once("error", reject)
    socket.once("data", () => resolve(reader))
    socket.on("data", (chunk) => take(reader, chunk))
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`)
  })

const obey = async (ask: ReadersAsk): Promise<void> => {
  switch (ask.type) {
    case "connect":
      // In groups: all at once would only measure the kernel's queue.
      for (let at = 0; at < ask.count; at += 50) {
        const group = Math.min(50, ask.count - at)
        readers.push(...(await Promise.all(Array.from({ length: group }, () => open(ask.url, ask.path)))))
      }
      return
    case "replay":
      left = 1
      readers.push(await open(ask.url, ask.path, true))
      return all
    case "expect":
      mark = ask.mark
      left = readers.length
      all = new Promise((resolve) => {
        done = resolve
      })
      for (const reader of readers) Object.assign(reader, { waits: true, bytes: 0, tail: "" })
      return
    case "collect":
      return all
    case "leave":
      for (const { socket } of readers) socket.destroy()
      readers = []
  }
}

answer<ReadersAsk, ReadersAnswer>(async (ask) => {
  await obey(ask)
  return { at: now(), least: readers.reduce((least, { bytes }) => Math.min(least, bytes), Number.MAX_SAFE_INTEGER) }
})
say("")
