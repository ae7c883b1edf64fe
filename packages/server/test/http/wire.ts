import { connect, type Socket } from "node:net"
import { Effect } from "effect"
import { ADMIN, port } from "./app.ts"

/** One answer, as it came over the wire. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
}

const object = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {}

/** A connection that is written byte by byte; answers are read off it in order. */
export class Wire {
  private held: Buffer = Buffer.alloc(0)
  private closed = false
  private wake: () => void = () => {}
  readonly socket: Socket
  constructor(socket: Socket) {
    this.socket = socket
    socket.on("data", (chunk: Buffer) => {
      this.held = Buffer.concat([this.held, chunk])
      this.wake()
    })
    socket.on("error", () => {})
    socket.on("close", () => {
      this.closed = true
      this.wake()
    })
  }

  write(data: string | Buffer): void {
    this.socket.write(data)
  }

  /** Bytes until `enough` says how many make what is wanted. */
  private async take(enough: (held: Buffer) => number | undefined): Promise<Buffer> {
    for (;;) {
      const length = enough(this.held)
      if (length !== undefined) {
        const taken = this.held.subarray(0, length)
        this.held = this.held.subarray(length)
        return taken
      }
      if (this.closed) throw new Error(`closed after ${this.held.length} bytes`)
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }

  private async head() {
    const raw = await this.take((held) => {
      const end = held.indexOf("\r\n\r\n")
      return end === -1 ? undefined : end + 4
    })
    const [first = "", ...lines] = raw.toString("latin1").trimEnd().split("\r\n")
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()])
    )
    return { status: Number(first.split(" ")[1]), headers }
  }

  /** The next whole answer. `bodiless`: to a HEAD. */
  async answer(bodiless = false): Promise<Answer> {
    const { status, headers } = await this.head()
    const length = bodiless || status === 204 || status < 200 ? 0 : Number(headers["content-length"] ?? 0)
    const text = (await this.take((held) => (held.length >= length ? length : undefined))).toString("utf8")
    const isJson = headers["content-type"]?.startsWith("application/json") === true && text !== ""
    return { status, headers, text, json: isJson ? object(JSON.parse(text)) : {} }
  }

  /** The head of a streamed answer, and the text it begins with. */
  async stream(until: string): Promise<Pick<Answer, "status" | "headers" | "text">> {
    const { status, headers } = await this.head()
    const text = await this.take((held) => {
      const end = held.indexOf(until)
      return end === -1 ? undefined : end + until.length
    })
    return { status, headers, text: text.toString("utf8") }
  }

  /** Everything that still comes, up to the end. */
  async rest(): Promise<string> {
    await this.end()
    return this.held.toString("latin1")
  }

  /** Resolves when the other side is gone. */
  async end(): Promise<void> {
    while (!this.closed) {
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }
}

/** A connection to the app, closed with the test. */
export const wire = Effect.flatMap(port, (port) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<Wire>((resolve) => {
          const socket = connect(port, "127.0.0.1", () => resolve(new Wire(socket)))
        })
    ),
    (wire) => Effect.sync(() => wire.socket.destroy())
  )
)

export { port } from "./app.ts"

/** What a test sends; the rest is as a good client does it. */
export interface Request {
  readonly method?: string
  /** `null` leaves a header out that would be sent otherwise. */
  readonly headers?: Readonly<Record<string, string | null>>
  readonly body?: string | Buffer
}

/** The text of a request; an admin's, with JSON, unless its headers say otherwise. */
export const requestText = (path: string, request: Request = {}): Buffer => {
  const body = Buffer.from(request.body ?? "")
  const headers: Record<string, string | null> = {
    host: "localhost",
    authorization: `Bearer ${ADMIN}`,
    ...(body.length > 0 && { "content-type": "application/json", "content-length": String(body.length) }),
    ...request.headers
  }
  const lines = Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}\r\n`]))
  return Buffer.concat([Buffer.from(`${request.method ?? "GET"} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`), body])
}

/** Sends one request on a connection and reads its answer. */
export const send = (wire: Wire, path: string, request: Request = {}) =>
  Effect.promise(() => {
    wire.write(requestText(path, request))
    return wire.answer(request.method === "HEAD")
  })

/** One request on a connection of its own. */
export const call = (path: string, request: Request = {}) =>
  Effect.scoped(Effect.flatMap(wire, (wire) => send(wire, path, request)))
